// SPDX-License-Identifier: Apache-2.0
// Files of kernels: what they hold, and errors at their place in the file.
#include "spec/language/kernel_file.h"

#include <gtest/gtest.h>

#include <string>

#include "spec/language/parser.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"

namespace kirsch {
namespace {

std::string ErrorOf(const std::string& text) {
  return std::string(ParseKernelFile(text, "k.kirsch").status().message());
}

TEST(KernelFile, LinesWithAndWithoutNames) {
  const auto requests = ParseKernelFile(
      "# ours\n"
      "\n"
      "  small = matmul f32 4x5x6   # with a comment\n"
      "matmul f32 1..3x8x8 rhs=col\r\n"
      "tight=matmul f32 4x5x6 lhs=col\n"
      "\tmatmul  f32  7x8x9  accumulate",
      "k.kirsch");
  ASSERT_TRUE(requests.ok()) << requests.status();
  ASSERT_EQ(requests->size(), 4u);
  EXPECT_EQ((*requests)[0].name, "small");
  EXPECT_EQ((*requests)[0].family.text(), "matmul f32 4x5x6");
  EXPECT_EQ((*requests)[1].name, "matmul_f32_1to3x8x8_rhs_col");
  EXPECT_EQ((*requests)[1].family.count(), 3);
  EXPECT_EQ((*requests)[2].name, "tight");
  EXPECT_EQ((*requests)[2].family.text(), "matmul f32 4x5x6 lhs=col");
  EXPECT_EQ((*requests)[3].name, "matmul_f32_7x8x9_accumulate");
}

TEST(KernelFile, ErrorsAreAtTheirPlace) {
  EXPECT_EQ(ErrorOf(""), "k.kirsch:1:1: expected a kernel ([NAME =] SPEC), got nothing");
  EXPECT_EQ(ErrorOf("# nothing\n"), "k.kirsch:1:1: expected a kernel ([NAME =] SPEC), got nothing");
  EXPECT_EQ(ErrorOf("\n a = matmul f32 4x0x4"), "k.kirsch:2:19: expected a size from 1 to 1048576, got '0'");
  EXPECT_EQ(ErrorOf("matmul f32 1x1x1\n\n\tmatmul f32 3..2x4x4 # no"),
            "k.kirsch:3:16: expected the last size of a range from 3 to 1048576, got '2'");
  EXPECT_EQ(ErrorOf("matmul f32 1..2x1x2097152"),
            "k.kirsch:1:19: expected a size from 1 to 1048576, got '2097152'");
  EXPECT_EQ(ErrorOf("a ="),
            Cat("k.kirsch:1:4: expected an operation (", Join(ContractionsOfSizes(), "|"),
                "|conv1d|conv2d|conv3d|conv1d_transpose|conv2d_transpose|conv3d_transpose|softmax|layernorm|"
                "rmsnorm|reduce|transpose|attention), got nothing"));
  EXPECT_EQ(
      ErrorOf(" 3a = matmul f32 1x1x1"),
      "k.kirsch:1:2: expected a name (letters, digits, underscores; a letter first, no keyword or macro of "
      "C or C++), got '3a'");
  EXPECT_EQ(
      ErrorOf("= matmul f32 1x1x1"),
      "k.kirsch:1:1: expected a name (letters, digits, underscores; a letter first, no keyword or macro of "
      "C or C++), got nothing");
  EXPECT_EQ(ErrorOf("a b = matmul f32 1x1x1"),
            Cat("k.kirsch:1:1: expected an operation (", Join(ContractionsOfSizes(), "|"),
                "|conv1d|conv2d|conv3d|conv1d_transpose|conv2d_transpose|conv3d_transpose|softmax|layernorm|"
                "rmsnorm|reduce|transpose|attention), got 'a'"));
  EXPECT_EQ(ErrorOf("a = matmul f32 1x1x1\n\n a = matmul f32 1x1x2"),
            "k.kirsch:3:2: expected another name, as line 1 has 'a'");
  EXPECT_EQ(ErrorOf("matmul f32 1x1x1\nmatmul f32 01x1x1"),
            "k.kirsch:2:1: expected another name, as line 1 has 'matmul_f32_1x1x1'");
  EXPECT_EQ(ErrorOf("a = matmul f32 1x1x1\na_pack = matmul f32 1x1x2"),
            "k.kirsch:2:1: expected another name, as line 1 has 'a', whose code has 'a_pack'");
  EXPECT_EQ(ErrorOf("a_supported = matmul f32 1x1x1\n a = matmul f32 1x1x2"),
            "k.kirsch:2:2: expected another name, as line 1 has 'a_supported', which its own code has");
}

std::string PlaceOf(const std::string& error) { return error.substr(0, error.find(": ")); }

// Behind a comma, with comments at the ends of lines.
TEST(KernelFile, AHeadMayHaveSeveralLines) {
  const std::string text =
      "kernel f[m = 1..2,  # rows: any, but few\n"
      "  n = 3](x: f32[m,n],\n"
      "# the bias: of columns;\n"
      "\n"
      "         b: f32[n],\n"
      "         c: f32[n]): y = add(x, b)\n"
      "  return add(y, c)\n";
  const auto requests = ParseKernelFile(text + "softmax f32 2x3\n", "k.kirsch");
  ASSERT_TRUE(requests.ok()) << requests.status();
  ASSERT_EQ(requests->size(), 2u);
  EXPECT_EQ(requests->front().sizes().size(), 1u);
  EXPECT_EQ(requests->front().family.graphs()->member(1).num_inputs(), 3);
  EXPECT_EQ(requests->front().family.text(),
            "kernel f[m = 1..2,\n  n = 3](x: f32[m,n],\n  b: f32[n],\n  c: f32[n]):\n  y = add(x, b)\n"
            "  return add(y, c)\n");
  const auto place_with = [&](const std::string& right, const std::string& wrong) {
    std::string changed = text;
    return PlaceOf(ErrorOf(changed.replace(changed.find(right), right.size(), wrong)));
  };
  EXPECT_EQ(place_with("b: f32[n]", "b: f33[n]"), "k.kirsch:5:13");
  EXPECT_EQ(place_with("add(x, b)", "add(x, d)"), "k.kirsch:6:33");
  EXPECT_EQ(place_with("add(y, c)", "add(y, d)"), "k.kirsch:7:17");
  EXPECT_EQ(PlaceOf(ErrorOf("\nkernel f(x: f32[4],\n")), "k.kirsch:2:20");
  EXPECT_EQ(PlaceOf(ErrorOf("kernel f[m = 1..4 mixture=1:0.7,\n 4:0.3](x: f32[m,8], w: const f32[8,8]):\n"
                            " return matmul(x, w)\n")),
            "k.kirsch:2:2");
  EXPECT_EQ(PlaceOf(ErrorOf("kernel f(x: f32[4],\nreturn relu(x)\n")), "k.kirsch:2:1");
}

// A kernel of f64 is what the shorthand of its matmul is, if it is one; functions that f64 has not are
// refused.
TEST(KernelFile, OfF64) {
  const auto read = [](const std::string& text) {
    absl::StatusOr<KernelRequest> request = ParseKernelLine(text, "k");
    EXPECT_TRUE(request.ok()) << request.status();
    return *std::move(request);
  };
  const std::string head =
      "kernel layer(x: f64[3,4], w: f64[5,4], b: f64[5], y: f64[3,5]) -> f64[3,5]: return ";
  const KernelRequest kernel = read(head + "relu(add(add(mul(matmul(x, transpose(w)), 0.1), b), y))");
  const SpecFamily* const specs = kernel.family.specs();
  ASSERT_NE(specs, nullptr);
  const KernelRequest shorthand = read("matmul f64 3x4x5 rhs=col epilogue=mul:0.1,add:n,add:mn,relu");
  EXPECT_EQ(specs->member(0).spec, shorthand.family.specs()->member(0).spec);
  const KernelRequest family =
      read("kernel layer[m = 1..9](x: f64[m,4], w: f64[4,5]): return neg(matmul(x, w))");
  ASSERT_NE(family.family.specs(), nullptr);
  EXPECT_EQ(family.family.count(), 9);

  const auto error = [&](const std::string& value) {
    return std::string(ParseKernelLine(head + value, "k").status().message());
  };
  for (const char* functions : {"tanh(matmul(x, transpose(w)))", "add(y, log(y))", "pow(y, b)"})
    EXPECT_NE(error(functions).find("expected floats of 32 bits at most"), std::string::npos)
        << error(functions);
  for (const char* cast : {"cast(y, s32)", "cast(cast(y, s8), f64)", "cast(cast(cast(y, f32), s32), f64)"}) {
    EXPECT_NE(error(cast).find("expected no cast between f64 and integers"), std::string::npos)
        << error(cast);
    EXPECT_EQ(error(cast).find('\n'), std::string::npos);
  }
  for (const char* others : {"add(y, b)", "div(matmul(x, transpose(w)), y)", "softmax(y)",
                             "layernorm(y, b, b)", "cast(cast(matmul(x, transpose(w)), bf16), f64)"}) {
    const KernelRequest request = read(head + others);
    EXPECT_EQ(request.family.specs(), nullptr) << others;
    EXPECT_NE(request.family.graphs(), nullptr) << others;
  }
  EXPECT_NE(ParseKernelLine("kernel layer(x: f64[3,4], y: f32[3,4]): return add(x, y)", "k")
                .status()
                .message()
                .find("expected tensors of one type"),
            std::string::npos);
}

// However a convolution is written, it is one kernel, of one name.
TEST(KernelFile, AConvolutionHasOneForm) {
  const auto read = [](const std::string& text) {
    absl::StatusOr<KernelRequest> request = ParseKernelLine(text, "k");
    EXPECT_TRUE(request.ok()) << request.status();
    return *std::move(request);
  };
  const auto read_graph = [&](const std::string& text) {
    KernelRequest request = read(text);
    request.UseGraphOfConvolution();
    return request;
  };
  const std::string plain = "conv2d f32 1x4x9x9 filters=2 kernel=3x3";
  for (const char* same : {"", " pad=0", " groups=1 pad=0,0,0,0", " layout=nchw stride=1 dilation=1"}) {
    const KernelRequest spec = read(plain + same);
    EXPECT_EQ(spec.name, "conv2d_f32_1x4x9x9_filters_2_kernel_3x3_layout_nchw");
    ASSERT_NE(spec.family.specs(), nullptr);
    EXPECT_EQ(spec.family.specs()->member(0), *ParseSpec(plain));
    const KernelRequest graph = read_graph(plain + same);
    ASSERT_NE(graph.family.graphs(), nullptr);
    EXPECT_EQ(graph.name, spec.name);
    EXPECT_EQ(graph.text(), read_graph(plain).text());
  }
  EXPECT_EQ(read(plain + " pad=2,2,2,2 layout=nhwc").text(), read(plain + " layout=nhwc pad=2").text());
  EXPECT_EQ(
      read(plain + " layout=nhwc pad=1,0,2,3 epilogue=add:n,relu").text(),
      "kernel conv2d_f32_1x4x9x9_filters_2_kernel_3x3_pad_1_0_2_3_layout_nhwc_epilogue_add_n_relu(image: "
      "f32[1,9,9,4], filters: f32[3,3,4,2], bias: f32[2]) -> f32[1,10,10,2]:\n"
      "  v3 = conv2d(image, filters, stride=1, pad=1,0,2,3, dilation=1, groups=1, layout=nhwc)\n"
      "  v4 = add(v3, bias)\n  v6 = max(v4, 0)\n  return v6\n");
  EXPECT_FALSE(read_graph("conv2d bf16*bf16->f32 1x4x9x9 filters=2 kernel=3x3").family.graphs());
  EXPECT_EQ(ErrorOf("\n a = conv2d bf16*bf16->f32 1x4x9x9 filters=2 kernel=3x3 pad=1"),
            "k.kirsch:2:61: expected pad=0 (else it is of f32, without accumulate and fixed-order), got '1'");
  EXPECT_EQ(
      ErrorOf("a = " + plain + " groups=2 accumulate"),
      "k.kirsch:1:52: expected groups=1 (else it is of f32, without accumulate and fixed-order), got '2'");
}

TEST(Identifier, OfTexts) {
  EXPECT_TRUE(IsIdentifier("a_1"));
  EXPECT_TRUE(IsKernelName("kernel1"));
  for (const char* text : {"main", "wrong", "int", "NULL", "tanhf", "div"})
    EXPECT_FALSE(IsKernelName(text)) << text;
  for (const char* text : {"tanh", "KIR", "KIRA", "N1", "NAME"}) EXPECT_TRUE(IsIdentifier(text)) << text;
  for (const char* text : {"", "1a", "a-b", "a b", "\xc3\xa4", "int", "xor_eq", "alignas", "NULL", "_Bool",
                           "__x86_64__", "M_PI", "_mm_add_ps", "_a", "INT32_C", "linux", "concept", "KIR17"})
    EXPECT_FALSE(IsIdentifier(text)) << text;
  EXPECT_EQ(MakeIdentifier("matmul f32 1..2x3x4 rhs=col"), "matmul_f32_1to2x3x4_rhs_col");
}

}  // namespace
}  // namespace kirsch
