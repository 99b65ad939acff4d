// SPDX-License-Identifier: Apache-2.0
// The kernel language: what it means, and what it says of what it doesn't take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "spec/graph/builder.h"
#include "spec/language/graph_parser.h"
#include "spec/language/graph_shorthand.h"
#include "spec/language/kernel_file.h"
#include "spec/meaning/graph_reference.h"
#include "spec/text/cat.h"
#include "spec/uncertain.h"
#include "tests/testing/mutated_text.h"
#include "tests/testing/table_words.h"

namespace kirsch {
namespace {

struct Read {
  std::string spec, operands;
  friend bool operator==(const Read&, const Read&) = default;
};

Read ReadOne(const std::string& text) {
  const auto requests = ParseKernelFile(text, "f");
  EXPECT_TRUE(requests.ok()) << requests.status() << "\n" << text;
  if (!requests.ok()) return {};
  EXPECT_EQ(requests->size(), 1u);
  std::string operands;
  for (const Parameter& parameter : requests->front().family.specs()->member(0).parameters)
    Append(&operands, operands.empty() ? "" : ", ", parameter.name, " = ", parameter.operand);
  return {requests->front().family.text(), operands};
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseKernelFile(text, "f").status().message());
}

TEST(GraphTest, BecomesASpec) {
  EXPECT_EQ(ReadOne("kernel mlp(x: f32[32,512], w: f32[512,2048], b: f32[2048]) -> f32[32,2048]:\n"
                    "  y = matmul(x, w)\n"
                    "  return relu(add(y, b))  # bias\n"),
            (Read{"matmul f32 32x512x2048 epilogue=add:n,relu", "x = 0, w = 1, b = 3, out = 2"}));
  EXPECT_EQ(ReadOne("kernel plain(x: f32[3,4], w: f32[4,5]) -> f32[3,5]:\n return matmul(x, w)"),
            (Read{"matmul f32 3x4x5", "x = 0, w = 1, out = 2"}));
  EXPECT_EQ(ReadOne("kernel q(x: u8[6,7], w: s8[8,7], bias: s32[8], scale: f32[6,1]) -> u8[6,8]:\n"
                    "  sums = add(bias, matmul(x, transpose(w)))\n"
                    "  return cast(add(mul(cast(sums, f32), scale), -3.5), u8)\n"),
            (Read{"matmul u8*s8->u8 6x7x8 rhs=col epilogue=add:n,f32,mul:m,add:-3.5",
                  "x = 0, w = 1, bias = 3, scale = 4, out = 2"}));
  EXPECT_EQ(
      ReadOne(
          "kernel t(x: bf16[7,6], w: bf16[7,8]) -> bf16[6,8]:\n return cast(matmul(transpose(x), w), bf16)"),
      (Read{"matmul bf16 6x7x8 lhs=col", "x = 0, w = 1, out = 2"}));
  EXPECT_EQ(
      ReadOne("kernel r(r: f32[2,3,5], s: f32[], x: f32[2,3,4], w: f32[2,4,5]) -> f32[2,3,5]:\n"
              " return sub(r, mul(matmul(x, w), s))"),
      (Read{"matmul f32 2:3x4x5 epilogue=mul:scalar,mul:-1,add:mn", "r = 4, s = 3, x = 0, w = 1, out = 2"}));
  EXPECT_EQ(ReadOne("kernel narrow(x: u8[3,4], w: s8[4,5]) -> u8[3,5]:\n return cast(matmul(x, w), u8)").spec,
            "matmul u8*s8->u8 3x4x5 epilogue=add:0");
  EXPECT_EQ(
      ReadOne("kernel narrow(x: u8[3,4], w: s8[4,5]) -> f32[3,5]:\n return cast(matmul(x, w), f32)").spec,
      "matmul u8*s8->f32 3x4x5 epilogue=f32");
}

// Leading axes are a batch, however many.
TEST(GraphTest, BatchesAreOfAllLeadingAxes) {
  const auto spec_of = [](const std::string& parameters, const std::string& body) {
    return ReadOne("kernel f(" + parameters + "):\n return " + body).spec;
  };
  const std::string matrices = "x: f32[2,3,4,5], w: f32[2,3,5,7]";
  EXPECT_EQ(spec_of(matrices, "matmul(x, w)"), "matmul f32 6:4x5x7");
  EXPECT_EQ(spec_of("x: f32[2,1,4,5], w: f32[2,1,7,5]", "matmul(x, transpose(w))"),
            "matmul f32 2:4x5x7 rhs=col");
  EXPECT_EQ(spec_of("x: f32[1,1,4,5], w: const f32[1,1,5,7]", "matmul(x, w)"), "matmul f32 4x5x7 const-rhs");
  EXPECT_EQ(spec_of(matrices + ", b: f32[7]", "add(matmul(x, w), b)"), "matmul f32 6:4x5x7 epilogue=add:n");
  EXPECT_EQ(spec_of(matrices + ", b: f32[2,3,4,7]", "add(matmul(x, w), b)"),
            "matmul f32 6:4x5x7 epilogue=add:mn");
  EXPECT_EQ(spec_of("x: f32[2,3,4,5], w: const f32[2,3,5,7]", "matmul(x, w)"),
            "matmul f32 6:4x5x7 const-rhs");
  // What specs don't have.
  for (const char* more : {", b: f32[3,1,7]", ", b: f32[2,1,4,7]", ", b: f32[2,3,1,1]"}) {
    const auto requests =
        ParseKernelFile("kernel f(" + matrices + more + "):\n return add(matmul(x, w), b)", "f");
    ASSERT_TRUE(requests.ok()) << requests.status();
    EXPECT_NE(requests->front().family.graphs(), nullptr) << more;
  }
}

// The last axis before the matrices may be shorter on one side: its size divides the other's.
TEST(GraphTest, MatricesOfABatchMayBeShared) {
  const auto result_of = [](const std::string& x, const std::string& y) {
    const auto requests =
        ParseKernelFile("kernel f(x: " + x + ", y: " + y + "):\n return relu(neg(matmul(x, y)))", "f");
    if (!requests.ok()) return std::string(requests.status().message());
    if (!requests->front().family.graphs()) return requests->front().family.text();
    const Graph& graph = requests->front().family.graphs()->member(0);
    return PrintTensorType(graph.TypeOf(graph.results.front()));
  };
  EXPECT_EQ(result_of("f32[32,5,4]", "f32[8,4,7]"), "f32[32,5,7]");
  EXPECT_EQ(result_of("f32[2,5,4]", "f32[6,4,7]"), "f32[6,5,7]");
  EXPECT_EQ(result_of("f32[3,6,5,4]", "f32[3,2,4,7]"), "f32[3,6,5,7]");
  EXPECT_EQ(result_of("f32[3,5,4]", "f32[1,4,7]"), "f32[3,5,7]");
  const std::string expected =
      "f:2:18: expected matrices [..,M,K] and [..,K,N] of types that go together, got ";
  EXPECT_EQ(result_of("f32[6,5,4]", "f32[4,4,7]"), expected + "f32[6,5,4] and f32[4,4,7]");
  EXPECT_EQ(result_of("f32[3,6,5,4]", "f32[9,6,4,7]"), expected + "f32[3,6,5,4] and f32[9,6,4,7]");
  // Axes of size 1 are repeated, also those of both sides.
  EXPECT_EQ(result_of("f32[3,6,5,4]", "f32[1,6,4,7]"), "f32[3,6,5,7]");
  EXPECT_EQ(result_of("f32[3,1,5,4]", "f32[1,6,4,7]"), "f32[3,6,5,7]");
  EXPECT_EQ(result_of("f32[1,1,5,4]", "f32[3,6,4,7]"), "f32[3,6,5,7]");
  EXPECT_EQ(result_of("f32[2,1,3,5,4]", "f32[1,6,1,4,7]"),
            "f:2:18: expected batches of at most two runs of axes, each of both sides or of one alone, got "
            "f32[2,1,3,5,4] and f32[1,6,1,4,7]");
}

// What no single spec can do stays a graph.
TEST(GraphTest, FunctionsAreAnEpilogueToo) {
  const auto spec_of = [](const std::string& body) {
    const auto requests =
        ParseKernelFile("kernel f(x: f32[3,4], w: f32[4,5], b: f32[5]) -> f32[3,5]:\n return " + body, "f");
    return !requests.ok()                      ? std::string(requests.status().message())
           : requests->front().family.graphs() ? "a graph"
                                               : requests->front().family.text();
  };
  EXPECT_EQ(spec_of("gelu(add(matmul(x, w), b))"), "matmul f32 3x4x5 epilogue=add:n,gelu");
  EXPECT_EQ(spec_of("add(leaky_relu(neg(gelu_tanh(matmul(x, w))), slope=0.5), b)"),
            "matmul f32 3x4x5 epilogue=gelu_tanh,mul:-1,leaky_relu:0.5,add:n");
  EXPECT_EQ(spec_of("sigmoid(exp(tanh(erf(add(silu(matmul(x, w)), b)))))"),
            "matmul f32 3x4x5 epilogue=silu,add:n,erf,tanh,exp,sigmoid");
  // What no epilogue has room for.
  EXPECT_EQ(spec_of("exp(exp(exp(exp(exp(exp(exp(exp(add(matmul(x, w), b)))))))))"), "a graph");
}

TEST(GraphTest, StaysAGraph) {
  const std::string head = "kernel f(x: f32[3,4], w: f32[4,5], b: f32[5]) -> f32[3,5]:\n";
  for (const char* body : {" return matmul(x, w)", " return add(add(matmul(x, w), b), b)",
                           " y = matmul(x, w)\n return add(y, y)", " return add(matmul(x, w), relu(b))",
                           " return add(matmul(relu(x), w), b)"}) {
    const auto requests = ParseKernelFile(head + body, "f");
    ASSERT_TRUE(requests.ok()) << requests.status();
    ASSERT_NE(requests->front().family.graphs(), nullptr) << body;
    EXPECT_EQ(requests->front().name, "f");
    EXPECT_EQ(requests->front().source, "f");
  }
  const auto line = ParseKernelFile("s = softmax f32 3x4", "f");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->front().name, "s");
  EXPECT_EQ(line->front().family.graphs()->name(), "softmax_f32_3x4");
}

TEST(GraphTest, StandsBesideSpecs) {
  const auto requests = ParseKernelFile(
      "kernel = matmul f32 1x2x3\n"
      "kernel f(x: f32[3,4], w: f32[4,5]) -> f32[3,5]:\n"
      "\n"
      "  return matmul(x, w)\n"
      "g = matmul f32 1..4x2x3\n",
      "f");
  ASSERT_TRUE(requests.ok()) << requests.status();
  ASSERT_EQ(requests->size(), 3u);
  EXPECT_EQ((*requests)[0].name, "kernel");
  EXPECT_EQ((*requests)[1].name, "f");
  EXPECT_EQ((*requests)[2].family.count(), 4);
}

TEST(GraphTest, ErrorsSayWhere) {
  const std::string head = "kernel f(x: f32[3,4], w: f32[4,5], b: f32[5]) -> f32[3,5]:\n";
  const std::string types = testing::TypeWords(" ");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kernel f(x: f32[3,4]) -> f32[3]", "f:1:32: expected ':', got nothing"},
      {"kernel f(x: f33[3,4]) -> f32[3]:",
       Cat("f:1:13: expected an element type (", types, "), got 'f33'; did you mean 'f32'?")},
      {"kernel f(x: f32[3,0]) -> f32[3]:", "f:1:19: expected a size from 1 to 1048576, got '0'"},
      {"kernel f(x: const) -> f32[3]:", Cat("f:1:18: expected an element type (", types, "), got ')'")},
      {"kernel f(x: f32[3,4], x: f32[3]) -> f32[3]:", "f:1:23: expected a name that is not taken, got 'x'"},
      {"kernel f(add: f32[3]) -> f32[3]:",
       "f:1:10: expected a name (letters, digits, underscores; a letter first, no keyword or macro of C or "
       "C++, no "
       "operation, not inf), got 'add'"},
      {"kernel f(x: f32[3], new: f32[3]):",
       "f:1:21: expected a name (letters, digits, underscores; a letter first, no keyword or macro of C or "
       "C++, no "
       "operation, not inf), got 'new'"},
      {"kernel float(x: f32[3]):",
       "f:1:8: expected the kernel's name (no keyword, none that C's library or the header's code has), got "
       "'float'"},
      {"kernel lhs(x: f32[3]):",
       "f:1:8: expected the kernel's name (no keyword, none that C's library or the header's code has), got "
       "'lhs'"},
      {head, "f:1:1: expected a line 'return ...' in f"},
      {head + " y = softmx(x)",
       "f:2:6: expected a value that is known, a number, or an operation (see 'kirsch help'), got 'softmx'; "
       "did you mean 'softmax'?"},
      {head + " y = softmax(x, axis=1)", "f:2:17: expected no more arguments, got 'axis'"},
      {head + " y = reduce_sum(x, axes=1)",
       "f:2:20: expected an option (axis), got 'axes'; did you mean 'axis'?"},
      {head + " y = reduce_sum(x, axis=1, axis=1)", "f:2:33: expected each axis once, got '1'"},
      {head + " y = reduce_sum(x)", "f:2:6: expected an axis to reduce (axis=0), got f32[3,4]"},
      {head + " y = layernorm(x, b, b)",
       "f:2:6: expected a tensor, and vectors of floats as long as its last axis, got f32[3,4] and f32[5] "
       "and f32[5]"},
      {head + " y = leaky_relu(x, slope=1e99)", "f:2:26: expected a number, got '1e99'"},
      {head + " y = conv2d(x, w)",
       "f:2:6: expected an f32 image [N,C,H,W] and f32 filters [F,C/groups,KH,KW], got f32[3,4] and "
       "f32[4,5]"},
      {"kernel f(x: f32[1,2,3,4,5], w: f32[1,1,1,3,5]):\n y = conv3d(x, w, layout=ndhwc)",
       "f:2:6: expected an f32 image [N,D,H,W,C] and f32 filters [KD,KH,KW,C/groups,F], got f32[1,2,3,4,5] "
       "and f32[1,1,1,3,5]"},
      {head + " return matmul(x, b)",
       "f:2:9: expected matrices [..,M,K] and [..,K,N] of types that go together, got f32[3,4] and f32[5]"},
      {head + " return add(x, b)",
       "f:2:9: expected tensors of one type whose shapes go together, got f32[3,4] and f32[5]"},
      {head + " return x", "f:2:9: expected f32[3,5], as f returns, got f32[3,4]"},
      {head + " return matmul(x, w) 3", "f:2:22: expected the end of the line, got '3'"},
      {head + " return 3", "f:2:9: expected a tensor, got '3'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

TEST(GraphTest, ErrorsOfStridesSayWhere) {
  const auto with = [](const std::string& strides) {
    return ErrorOf("kernel f(x: f32[2,3,4] strides=" + strides + "):\n return relu(x)");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"12,4,1]", "f:1:32: expected '[', got '12'"},
      {"[]", "f:1:33: expected a stride for each of 3 axes, got ']'"},
      {"[12,4]", "f:1:37: expected a stride for each of 3 axes, got ']'"},
      {"[12,4,1,1]", "f:1:39: expected ']' (a stride for each of 3 axes), got ','"},
      {"[12,-4,1]", "f:1:36: expected a stride from 1 to 4294967295, got '-4'"},
      {"[12,0,1]", "f:1:36: expected a stride from 1 to 4294967295, got '0'"},
      {"[12,4294967296,1]", "f:1:36: expected a stride from 1 to 4294967295, got '4294967296'"},
      {"[12,x,1]", "f:1:36: expected a stride from 1 to 4294967295, got 'x'"},
      {"[24,8,2]", "f:1:38: expected 1, as the elements of a row follow each other, got '2'"},
      {"[12,3,1]", "f:1:36: expected 4 or more, so that no two elements are in the same place, got '3'"},
      {"[11,4,1]", "f:1:33: expected 12 or more, so that no two elements are in the same place, got '11'"},
      {"[4,4,1]", "f:1:33: expected 12 or more, so that no two elements are in the same place, got '4'"},
      {"[4,7,1]", "f:1:35: expected 8 or more, so that no two elements are in the same place, got '7'"},
      {"[12,4000000000,1]",
       "f:1:36: expected at most 4294967296 elements from the first to the last, got '4000000000'"},
  };
  for (const auto& [strides, error] : cases) EXPECT_EQ(with(strides), error) << strides;
  EXPECT_EQ(ErrorOf("kernel f(x: f32[3,4]) -> f32[3,4] strides=[3,1]:\n return relu(x)"),
            "f:1:44: expected 4 or more, so that no two elements are in the same place, got '3'");
  EXPECT_EQ(
      ErrorOf("kernel f[n = 1..5](x: f32[2,n,4] strides=[16,4,1]):\n return relu(x)"),
      "f:1:43: expected 20 or more, so that no two elements are in the same place, got '16' (for n = 5)");
}

// Each has a name, which the function's parameter is called by, and a type that may be declared.
TEST(GraphTest, SeveralResultsHaveNames) {
  const std::string head = "kernel f(x: f32[3,4], w: q8_0[5,32])";
  const std::string values = ":\n y = relu(x)\n z = transpose(y)\n a = y\n return ";
  const auto read = [](const std::string& text) {
    const auto requests = ParseKernelFile(text, "f");
    return requests.ok() ? PrintGraph(requests->front().family.graphs()->member(0))
                         : std::string(requests.status().message());
  };
  EXPECT_EQ(read(head + values + "z, y"),
            head + " -> (f32[4,3], f32[3,4]):\n  y = relu(x)\n  z = transpose(y)\n  return z, y\n");
  EXPECT_EQ(
      read(head + " -> (f32[3,4], f32[4,3] strides=[9,1])" + values + "y, z"),
      head + " -> (f32[3,4], f32[4,3] strides=[9,1]):\n  y = relu(x)\n  z = transpose(y)\n  return y, z\n");
  EXPECT_THAT(read(head + ":\n out = neg(x)\n y = exp(out)\n return y, out"),
              ::testing::EndsWith("return y, out\n"));
  // Two names of one value.
  EXPECT_EQ(read(head + values + "y, a"), head +
                                              " -> (f32[3,4], f32[3,4]):\n  y = relu(x)\n  v3 = "
                                              "transpose(y)\n  a = cast(y, f32)\n  return y, a\n");
  const std::string named =
      "expected the name of a value that the kernel computes, as it returns several, got ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {values + "y, relu(y)", "f:5:12: " + named + "'relu'"},
      {values + "y, x", "f:5:12: " + named + "'x'"},
      {values + "y, w",
       "f:5:12: expected a result that is not of blocks (those are for matmul(x, transpose(w)) alone), got "
       "'w'"},
      {values + "y, 1", "f:5:12: expected a tensor, got '1'"},
      {values + "y, z, y", "f:5:15: expected each result once, got 'y'"},
      {values + "y,", "f:5:11: expected a value that is known"},
      {values + "y z", "f:5:11: expected the end of the line, got 'z'"},
      {" -> (f32[3,4], f32[3,4])" + values + "y, z", "f:5:12: expected f32[3,4], as f returns, got f32[4,3]"},
      {" -> f32[3,4]" + values + "y, z",
       "f:1:41: expected the types of 2 results, in parentheses, got 'f32'"},
      {" -> (f32[3,4], f32[4,3])" + values + "y", "f:1:41: expected the types of 1 results"},
      {" -> (f32[3,4]" + values + "y", "f:1:50: expected ')', got ':'"},
      {" -> ()" + values + "y", "f:1:42: expected an element type"},
      {":\n a = neg(x)\n b = neg(a)\n c = neg(b)\n d = neg(c)\n e = neg(d)\n g = neg(e)\n h = neg(g)\n i = "
       "neg(h)\n"
       " j = neg(i)\n return a, b, c, d, e, g, h, i, j",
       "f:11:33: expected at most 8 results, got 'j'"},
  };
  for (const auto& [rest, error] : cases) EXPECT_THAT(read(head + rest), ::testing::HasSubstr(error));
}

// All small shapes and strides: what is accepted has no two elements in one place, and prints as what reads
// the same; of what is refused some two are, or a row is not together.
TEST(GraphTest, StridesKeepElementsApart) {
  int accepted = 0, refused = 0;
  for (uint32_t code = 0; code < 3 * 3 * 3 * 8 * 8 * 3; ++code) {
    uint32_t rest = code;
    const auto take = [&](uint32_t most) { return 1 + std::exchange(rest, rest / most) % most; };
    const std::vector<uint32_t> dims = {take(3), take(3), take(3)}, strides = {take(8), take(8), take(3)};
    std::set<uint32_t> places;
    for (uint32_t i = 0; i < dims[0]; ++i)
      for (uint32_t j = 0; j < dims[1]; ++j)
        for (uint32_t k = 0; k < dims[2]; ++k)
          places.insert(i * strides[0] + j * strides[1] + k * strides[2]);
    const bool row = dims[2] == 1 || strides[2] == 1, apart = places.size() == dims[0] * dims[1] * dims[2];
    const std::string text = Cat("kernel f(x: f32[", absl::StrJoin(dims, ","), "] strides=[",
                                 absl::StrJoin(strides, ","), "]):\n return relu(x)");
    const auto read = ParseKernelFile(text, "f");
    // Axes that interleave without touching are refused, too.
    if (!read.ok()) {
      ++refused;
      continue;
    }
    ++accepted;
    EXPECT_TRUE(row && apart) << text;
    const Graph graph = read->front().family.graphs()->member(0);
    EXPECT_EQ(graph.at(0).type.span(), *places.rbegin() + 1) << text;
    const auto again = ParseKernelFile(PrintGraph(graph), "again");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->front().family.graphs()->member(0).at(0).type, graph.at(0).type) << text;
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 500);
}

// One form of what lies alike.
TEST(GraphTest, StridesAreNormalised) {
  const auto type = [](const std::string& text) {
    const auto read = ParseKernelFile("kernel f(x: " + text + "):\n return relu(x)", "f");
    EXPECT_TRUE(read.ok()) << read.status();
    return read->front().family.graphs()->member(0).at(0).type;
  };
  EXPECT_TRUE(type("f32[2,3,4] strides=[12,4,1]").dense());
  EXPECT_TRUE(type("f32[1,3,4] strides=[77,4,1]").dense());
  EXPECT_TRUE(type("f32[7] strides=[1]").dense());
  EXPECT_EQ(type("f32[2,1,4] strides=[8,5,1]"), type("f32[2,1,4] strides=[8,4,1]"));
  EXPECT_EQ(PrintTensorType(type("f32[12,1024,64] strides=[64,768,1]")),
            "f32[12,1024,64] strides=[64,768,1]");
}

// Depth is bounded, and values that are shared are looked at once.
TEST(GraphTest, DeepAndSharedValuesAreRefusedAtOnce) {
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "relu(";
  EXPECT_EQ(ErrorOf("kernel f(x: f32[3,4]) -> f32[3,4]:\n return " + nested),
            "f:2:5129: expected at most 1024 calls within one another, got 'relu'");
  std::string shared = "kernel f(x: f32[4,4], y: f32[4,4], w: f32[4,4]) -> f32[4,4]:\n a0 = add(y, y)\n";
  for (int i = 1; i < 50; ++i) Append(&shared, " a", i, " = add(a", i - 1, ", a", i - 1, ")\n");
  const auto requests = ParseKernelFile(shared + " return add(matmul(x, w), a49)", "f");
  ASSERT_TRUE(requests.ok()) << requests.status();
  EXPECT_NE(requests->front().family.graphs(), nullptr);
}

Graph GraphOf(const std::string& text) {
  const auto graph = ParseGraph(Split({text, {}}, '\n'), "f");
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *graph : Graph{};
}

TEST(GraphTest, PrintsWhatItReads) {
  const std::string text =
      "kernel all(x: f32[2,8,8,4], w: f32[3,3,2,6], v1: f32[6], m: f32[6,5]) -> bf16[2,4,4,1]:\n"
      "  v4 = conv2d(x, w, stride=2, pad=1, dilation=1, groups=2, layout=nhwc)\n"
      "  v5 = layernorm(v4, v1, v1, eps=0.001)\n"
      "  v6 = leaky_relu(v5, slope=0.2)\n"
      "  v8 = add(v6, -0.5)\n"
      "  v9 = reduce_max(v8, axis=3)\n"
      "  v10 = cast(v9, bf16)\n"
      "  return v10\n";
  const Graph graph = GraphOf(text.substr(0, text.size() - 1));
  EXPECT_EQ(PrintGraph(graph), text);
  EXPECT_EQ(PrintTensorType(graph.at(4).type), "f32[2,4,4,6]");
  // 3 x 3 taps of 2 channels, then 5 operations on each element.
  EXPECT_EQ(Flops(graph), 2 * 192 * 18 + 4 * 192);
}

TEST(GraphTest, StridesHaveFourAxes) {
  EXPECT_EQ(ErrorOf("kernel f(x: f32[2,3,4,5,6] strides=[999,120,30,6,1]):\n return relu(x)"),
            "f:1:28: expected at most 4 axes where there are strides, got 'strides'");
}

TEST(GraphTest, ShorthandsAreKernels) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"softmax bf16 32x1024",
       "kernel softmax_bf16_32x1024(x: bf16[32,1024]) -> bf16[32,1024]:\n"
       "  v1 = softmax(x)\n  v2 = cast(v1, bf16)\n  return v2\n"},
      {"layernorm f32 8x16 eps=1e-3",
       "kernel layernorm_f32_8x16_eps_1e_3(x: f32[8,16], scale: f32[16], shift: f32[16]) -> f32[8,16]:\n"
       "  v3 = layernorm(x, scale, shift, eps=0.001)\n  return v3\n"},
      {"reduce max f32 4x5x6 axis=0,2",
       "kernel reduce_max_f32_4x5x6_axis_0_2(x: f32[4,5,6]) -> f32[1,5,1]:\n"
       "  v1 = reduce_max(x, axis=0, axis=2)\n  return v1\n"},
      {"reduce mean f32 3x5",
       "kernel reduce_mean_f32_3x5(x: f32[3,5]) -> f32[3,1]:\n  v1 = reduce_mean(x, axis=1)\n  return v1\n"},
      {"transpose f16 4x5",
       "kernel transpose_f16_4x5(x: f16[4,5]) -> f16[5,4]:\n  v1 = transpose(x)\n  return v1\n"},
      {"attention f32 heads=2 tokens=16 dim=64",
       "kernel attention_f32_heads_2_tokens_16_dim_64(q: f32[2,16,64], k: f32[2,16,64], v: f32[2,16,64]) -> "
       "f32[2,16,64]:\n"
       "  v3 = transpose(k)\n  v4 = matmul(q, v3)\n  v6 = mul(v4, 0.125)\n  v7 = softmax(v6)\n"
       "  v8 = matmul(v7, v)\n  return v8\n"},
      {"conv1d f32 2x4x7 filters=8 kernel=3 stride=2 pad=1,0",
       "kernel conv1d_f32_2x4x7_filters_8_kernel_3_stride_2_pad_1_0_layout_ncw(image: f32[2,4,7], filters: "
       "f32[8,4,3]) -> f32[2,8,3]:\n"
       "  v2 = conv1d(image, filters, stride=2, pad=1,0, dilation=1, groups=1, layout=ncw)\n  return v2\n"},
      {"conv3d f32 1x4x5x6x7 filters=8 kernel=3x1x2 stride=1x2x1 pad=1,0,0,1,0,1 layout=ndhwc",
       "kernel conv3d_f32_1x4x5x6x7_filters_8_kernel_3x1x2_stride_1x2x1_pad_1_0_0_1_0_1_layout_ndhwc(image: "
       "f32[1,5,6,7,4], filters: f32[3,1,2,4,8]) -> f32[1,5,3,7,8]:\n"
       "  v2 = conv3d(image, filters, stride=1x2x1, pad=1,0,0,1,0,1, dilation=1, groups=1, layout=ndhwc)\n"
       "  return v2\n"},
      {"conv2d f32 1x4x6x7 filters=8 kernel=3x2 pad=1 groups=2 layout=nhwc",
       "kernel conv2d_f32_1x4x6x7_filters_8_kernel_3x2_pad_1_groups_2_layout_nhwc(image: f32[1,6,7,4], "
       "filters: "
       "f32[3,2,2,8]) -> f32[1,6,8,8]:\n"
       "  v2 = conv2d(image, filters, stride=1, pad=1, dilation=1, groups=2, layout=nhwc)\n  return v2\n"},
  };
  for (const auto& [text, kernel] : cases) {
    EXPECT_TRUE(IsGraphShorthand(text));
    const auto graph = ParseGraphShorthand({text, {}}, "spec");
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(PrintGraph(*graph), kernel);
  }
  EXPECT_FALSE(IsGraphShorthand("matmul f32 1x1x1"));
  const std::vector<std::pair<std::string, std::string>> errors = {
      {"softmax f32", "spec:1:12: expected a size from 1 to 1048576, got nothing"},
      {"softmax s8 3", "spec:1:9: expected an element type (f32|bf16|f16), got 's8'"},
      {"softmax f32 3x0", "spec:1:15: expected a size from 1 to 1048576, got '0'"},
      {"softmax f32 3 x", "spec:1:15: expected the end, got 'x'"},
      {"attention f32 heads=2 tokens=3", "spec:1:31: expected dim=NUMBER, got nothing"},
      {"conv2d f32 1x4x6x7 filters=8 kernel=9x2",
       "spec:1:37: expected a kernel that fits the padded image, got '9x2'"},
      {"conv2d f32 1x4x6x7 filters=8 kernel=3x3 layout=nhwx",
       "spec:1:48: expected a layout (nchw|nhwc|nchw8c|nchw16c), got 'nhwx'; did you mean 'nhwc'?"},
      {"conv2d f32 1x4x6x7 filters=8 kernel=3x3 pad=-1", "spec:1:45: expected pad from 0 to 4096, got '-1'"},
      {"softmax f32 1048576x1048576",
       "spec:1:13: expected at most 4294967296 elements, got '1048576x1048576'"},
      {"reduce sum bf16 1048576x1048576x1048576x1048576 axis=0",
       "spec:1:17: expected at most 4294967296 elements, got '1048576x1048576x1048576x1048576'"},
      {"attention f32 heads=12 tokens=1048576 dim=64",
       "spec:1:31: expected a result of at most 4294967296 elements, got f32[12,1048576,64] and "
       "f32[12,64,1048576]"},
      {"layernorm f32 4x4 eps=x", "spec:1:23: expected a number, got 'x'"},
      {"layernorm f32 4x4 eps=", "spec:1:23: expected a number, got nothing"},
      {"reduce sum f32 4x4 axis=2", "spec:1:25: expected an axis from 0 to 1, got '2'"},
      {"reduce sum f32 4x4 axis=", "spec:1:25: expected an axis from 0 to 1, got nothing"},
      {"reduce sum f32 4x4 axis=0,1,0", "spec:1:29: expected each axis once, got '0'"},
  };
  for (const auto& [text, error] : errors)
    EXPECT_EQ(std::string(ParseGraphShorthand({text, {}}, "spec").status().message()), error);
}

// Each of the parameters is small enough; 2^64 elements are none.
TEST(GraphTest, WhatIsBroadcastMayBeTooLarge) {
  const std::string kernel = "kernel f(x: f32[65536,65536,1,1], y: f32[1,1,65536,65536]):\n return add(x, y)";
  EXPECT_EQ(ParseGraph(Split({kernel, {}}, '\n'), "f").status().message(),
            "f:1:69: expected a result of at most 4294967296 elements, got f32[65536,65536,1,1] and "
            "f32[1,1,65536,65536]");
}

// What f32 can't hold may have become an infinity, and that may meet another.
TEST(GraphTest, TheReferenceLeavesOpenWhatInfinitiesCancelTo) {
  const Uncertain overflown = FunctionOf(Operation::kExp, {200, 0}),
                  infinite = FunctionOf(Operation::kExp, {1000, 0});
  EXPECT_TRUE(std::isinf(overflown.error));
  EXPECT_TRUE(std::isinf(infinite.value));
  EXPECT_TRUE(std::isinf(Sub(overflown, infinite).error));
  EXPECT_EQ(Sub({3, 0}, {HUGE_VAL, 0}).error, 0);
  // 0 times what may be infinite is no number, and so is what its error is worked out to be.
  for (const double zero : {0.0, -0.0})
    for (const Uncertain& product :
         {Mul({zero, 0}, overflown), Mul(overflown, {2, 0}), Mul({3, 0}, overflown)}) {
      EXPECT_TRUE(std::isinf(product.error));
      EXPECT_TRUE(std::isinf(Max({5, 0}, product).error));
      EXPECT_TRUE(std::isinf(SumOf(1, 1, product.error, 2).error));
    }
}

// What underflows in f32 need not in double; by a zero it may be an infinity or no number.
TEST(GraphTest, WhatMayBeZeroByZeroIsAnything) {
  EXPECT_TRUE(std::isinf(Div({1e-174, 1e-45}, {0, 0}).error));
  EXPECT_EQ(Div({1, 1e-3}, {0, 0}).error, 0);  // an infinity
  EXPECT_EQ(Div({0, 0}, {0, 0}).error, 0);     // no number
}

// The largest of a row is no number where one of them is none, wherever that stands.
TEST(GraphTest, TheReferenceKeepsWhatIsNoNumber) {
  const std::string kernel = "kernel f(x: f32[2,3]):\n  return reduce_max(sqrt(x), axis=1)";
  const absl::StatusOr<Graph> graph = ParseGraph(Split({kernel, {}}, '\n'), "f");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<float> x = {-1, 16, 9, 25, 4, -1};
  GraphReference reference(*graph, {x.data()}, {});
  for (int64_t row : {0, 1})
    EXPECT_TRUE(std::isnan(reference.ResultRow(graph->results.front(), row).front().value));
}

// As Python prints floats, and as this prints what it has read.
TEST(GraphTest, NumbersAreReadAsTheyArePrinted) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string, double>> numbers = {
      {"1e+5", 1e5}, {"1e5", 1e5}, {"-1e-05", -1e-5f}, {"1.5e+30", 1.5e30f}, {"inf", kInf}, {"-inf", -kInf}};
  const auto read = [](const std::string& text) {
    return ParseGraph(Split({text.substr(0, text.find_last_not_of('\n') + 1), {}}, '\n'), "f");
  };
  for (const auto& [number, value] : numbers) {
    const absl::StatusOr<Graph> graph =
        read(Cat("kernel f(x: f32[3]) -> f32[3]:\n  return max(x, ", number, ")"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    const absl::StatusOr<Graph> again = read(PrintGraph(*graph));
    ASSERT_TRUE(again.ok()) << again.status();
    for (const Graph& one : {*graph, *again}) EXPECT_EQ(one.at(1).number, value) << number;
    EXPECT_EQ(PrintGraph(*again), PrintGraph(*graph));
  }
  // What is built is printed, too.
  GraphBuilder builder("f", "f", {});
  const int x = builder.Parameter("x", Dtype::kF32, {3});
  const int most = builder.Number(std::numeric_limits<float>::max());
  const absl::StatusOr<Graph> built = std::move(builder).Build(builder.Add(Operation::kMin, {x, most}));
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(read(PrintGraph(*built))->at(1).number, std::numeric_limits<float>::max());
  for (const char* wrong : {"1e+", "e+5", "+1", "+inf", "-nan", "nan", "infinity", "1e+99"})
    EXPECT_FALSE(read(Cat("kernel f(x: f32[3]):\n  return max(x, ", wrong, ")")).ok()) << wrong;
  EXPECT_FALSE(read("kernel f(inf: f32[3]):\n  return relu(inf)").ok());
  EXPECT_FALSE(read("kernel f(x: s32[3]):\n  return max(x, inf)").ok());
}

// Any text is an error of one line, or is read.
TEST(GraphTest, MutatedKernelsAreReadOrRefused) {
  const std::string seed =
      "kernel q(x: u8[6,7], w: s8[8,7], bias: s32[8]) -> u8[6,8]:\n"
      "  s = add(matmul(x, transpose(w)), bias)\n"
      "  return cast(mul(cast(s, f32), -0.5e-3), u8)\n";
  EXPECT_GT(testing::ReadMutated({seed}, 20'000), 100);
}

}  // namespace
}  // namespace kirsch
