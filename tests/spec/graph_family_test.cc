// SPDX-License-Identifier: Apache-2.0
// Families of graphs: their text, their members, and what is said of those that are none.
#include "spec/language/graph_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "spec/language/graph_parser.h"
#include "spec/language/graph_shorthand.h"
#include "spec/language/kernel_file.h"
#include "spec/text/cat.h"
#include "tests/testing/mutated_text.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<GraphFamily> Read(const std::string& text) {
  if (IsGraphShorthand(text)) return ParseShorthandFamily({text, {}}, "f");
  return ParseGraphFamily(Split({text, {}}, '\n'), "f");
}

GraphFamily MakeFamily(const std::string& text) {
  const absl::StatusOr<GraphFamily> family = Read(text);
  EXPECT_TRUE(family.ok()) << family.status() << "\n" << text;
  return family.value_or(GraphFamily());
}

// A kernel's text, whatever its name is.
std::string Nameless(Graph graph) {
  graph.name = Cat("f");
  return PrintGraph(graph);
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseKernelFile(text, "f").status().message());
}

TEST(VaryingSizeTest, EverySetOfSmallSizesIsReadAsItIsPrinted) {
  for (uint32_t set = 1; set < 1u << 9; ++set) {
    std::vector<uint32_t> values;
    for (uint32_t bit = 0; bit < 9; ++bit)
      if ((set >> bit & 1) != 0) values.push_back(bit + 1);
    const std::string text = PrintValues(values);
    const auto read = ParseValues("f", {text, {}});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, values) << text;
  }
  EXPECT_EQ(PrintValues({1, 2, 3, 5, 7, 8}), "1..3|5|7..8");
  EXPECT_EQ(ParseValues("f", {"1|2|4..4|9..10", {}}).value(), (std::vector<uint32_t>{1, 2, 4, 9, 10}));
}

TEST(VaryingSizeTest, MembersVaryTheLastSizeFastest) {
  const std::vector<VaryingSize> sizes = {{"m", {1, 5}}, {"n1", {2, 3, 7}}};
  ASSERT_EQ(CountMembers(sizes), 6);
  EXPECT_THAT(ValuesOf(sizes, 0), ElementsAre(1, 2));
  EXPECT_THAT(ValuesOf(sizes, 2), ElementsAre(1, 7));
  EXPECT_THAT(ValuesOf(sizes, 3), ElementsAre(5, 2));
  EXPECT_EQ(MemberName("f", sizes, 5), "f_m5_n1_7");
  EXPECT_EQ(MemberText(sizes, 5), "m = 5, n1 = 7");
  EXPECT_EQ(CountMembers({}), 1);
  EXPECT_EQ(MemberName("f", {}, 0), "f");
}

// Whatever the place of a name, a member is the kernel with the number there.
TEST(VaryingSizeTest, BoxesHaveEachMemberOnceAndDifferInOneSize) {
  const std::vector<VaryingSize> sizes = {{"m", {1, 5}}, {"n", {2, 3, 9}}, {"k", {4, 6, 7, 8}}};
  for (size_t along = 0; along < sizes.size(); ++along) {
    std::vector<int> seen(24);
    for (const std::vector<int64_t>& line : BoxesAlong(sizes, {along})) {
      ASSERT_EQ(line.size(), sizes[along].values.size());
      for (size_t i = 0; i < line.size(); ++i) {
        ++seen[static_cast<size_t>(line[i])];
        std::vector<uint32_t> expected = ValuesOf(sizes, line[0]);
        expected[along] = sizes[along].values[i];
        EXPECT_EQ(ValuesOf(sizes, line[i]), expected);
      }
    }
    EXPECT_EQ(seen, std::vector<int>(24, 1));
  }
}

TEST(GraphFamilyTest, AMemberIsTheLiteralText) {
  const std::string texts[] = {
      "kernel f$(x: f32[M,N], w: f32[N,5]) -> f32[M,5]:\n return relu(matmul(x, w))",
      "kernel f$(x: f32[N,M,3], s: f32[3]):\n  y = mul(x, s)\n  return softmax(y)",
      "kernel f$(x: u8[N,7], w: s8[7,M], b: s32[M]) -> s32[N,M]:\n return add(matmul(x, w), b)",
      "kernel f$(x: bf16[2,M,N,N], s: bf16[N,N], t: bf16[M]):\n return reduce_sum(x, axis=1)",
  };
  for (const std::string& text : texts) {
    const auto with = [&](const std::string& sizes, const std::string& m, const std::string& n) {
      return absl::StrReplaceAll(text, {{"$", sizes}, {"M", m}, {"N", n}});
    };
    const GraphFamily family = MakeFamily(with("[rows = 1..3|8, n=2..5]", "rows", "n"));
    ASSERT_EQ(family.count(), 16);
    EXPECT_EQ(family.name(), "f");
    for (int64_t i = 0; i < family.count(); ++i) {
      const std::vector<uint32_t> values = ValuesOf(family.sizes(), i);
      const auto literal = Read(with("", Cat(values[0]), Cat(values[1])));
      ASSERT_TRUE(literal.ok()) << literal.status();
      EXPECT_EQ(Nameless(family.member(i)), PrintGraph(literal->member(0)));
      EXPECT_EQ(family.member(i).name, Cat("f_rows", values[0], "_n", values[1]));
    }
  }
}

TEST(GraphFamilyTest, ARangeMayHaveAStep) {
  const auto values = [](const std::string& text) {
    const auto family =
        ParseGraphFamily(Split({"kernel f[m = " + text + "](x: f32[m,4]):\n return relu(x)", {}}, '\n'), "f");
    EXPECT_TRUE(family.ok()) << family.status();
    return family->sizes()[0].values;
  };
  EXPECT_EQ(values("32..128 step 32"), (std::vector<uint32_t>{32, 64, 96, 128}));
  EXPECT_EQ(values("3..10 step 4"), (std::vector<uint32_t>{3, 7}));
  EXPECT_EQ(values("5..7 step 1"), (std::vector<uint32_t>{5, 6, 7}));
}

TEST(GraphFamilyTest, AShorthandMayHaveRanges) {
  const std::pair<const char*, const char*> cases[] = {
      {"softmax bf16 $", "1..3x17"},
      {"softmax f32 $", "2x1..3x4..5x6"},
      {"layernorm f32 $ eps=1e-3", "9..11x1|4"},
      {"reduce max f32 $ axis=0", "1|2|16..17x7"},
      {"transpose f16 $", "8..12x5"},
      {"conv2d f32 $ filters=8 kernel=3x3 pad=1 layout=nhwc", "1..2x4x5..7x7"},
      {"conv2d f32 $ filters=8 kernel=1x1 layout=nhwc", "1..2x4x5x7"},  // a spec, if nothing varied
  };
  for (const auto& [around, sizes] : cases) {
    const std::string text = absl::StrReplaceAll(around, {{"$", sizes}});
    const GraphFamily family = MakeFamily(text);
    EXPECT_GT(family.count(), 1);
    EXPECT_FALSE(RangesOf({text, {}}).empty());
    EXPECT_EQ(family.text(), Cat(text, "\n"));
    for (int64_t i = 0; i < family.count(); ++i) {
      const std::vector<uint32_t> values = ValuesOf(family.sizes(), i);
      std::string member;
      size_t varying = 0;
      for (const Word& size : Split({sizes, {}}, 'x')) {
        const bool varies = size.text.find_first_of(".|") != std::string_view::npos;
        Append(&member, member.empty() ? "" : "x", varies ? Cat(values[varying]) : std::string(size.text));
        varying += varies ? 1 : 0;
      }
      const std::string literal = absl::StrReplaceAll(around, {{"$", member}});
      const auto graph = ParseGraphShorthand({literal, {}}, "f");
      ASSERT_TRUE(graph.ok()) << graph.status();
      EXPECT_EQ(Nameless(family.member(i)), Nameless(*graph)) << literal;
      EXPECT_TRUE(RangesOf({literal, {}}).empty());
    }
    const auto request = ParseKernelLine(text, "f");
    ASSERT_TRUE(request.ok() && request->family.graphs() != nullptr) << request.status();
    EXPECT_EQ(request->count(), family.count());
  }
  const GraphFamily attention = MakeFamily("attention f32 heads=2..3 tokens=7|70 dim=4..4");
  EXPECT_EQ(attention.sizes(), (std::vector<VaryingSize>{{"heads", {2, 3}}, {"tokens", {7, 70}}}));
  EXPECT_EQ(Nameless(attention.member(1)),
            Nameless(*ParseGraphShorthand({"attention f32 heads=2 tokens=70 dim=4", {}}, "f")));
  EXPECT_EQ(attention.member(1).name, "attention_f32_heads_2to3_tokens_7_70_dim_4to4_heads2_tokens70");
  EXPECT_EQ(MakeFamily("conv2d f32 1..2x4x5x7 filters=8|9 kernel=3x3").sizes(),
            (std::vector<VaryingSize>{{"n", {1, 2}}, {"f", {8, 9}}}));
  EXPECT_EQ(MakeFamily("softmax f32 4x1..2").sizes(), (std::vector<VaryingSize>{{"size1", {1, 2}}}));
}

TEST(GraphFamilyTest, ASingleKernelIsAFamilyOfOne) {
  for (const char* text :
       {"kernel f(x: f32[3,4]):\n return relu(x)", "kernel f[m = 3](x: f32[m,4]):\n return relu(x)",
        "kernel f[m = 3..3,n=4](x: f32[m,n]) -> f32[3,n]:\n return relu(x)"}) {
    const GraphFamily family = MakeFamily(text);
    EXPECT_EQ(family.count(), 1);
    EXPECT_TRUE(family.sizes().empty());
    EXPECT_EQ(family.member(0).name, "f");
    EXPECT_EQ(family.text(), "kernel f(x: f32[3,4]) -> f32[3,4]:\n  v1 = relu(x)\n  return v1\n");
  }
  // One matmul is a spec then, and a family of matmuls one of specs.
  const auto requests = ParseKernelFile(
      "kernel f[m = 3](x: f32[m,4], w: f32[4,5]):\n return matmul(x, w)\n"
      "kernel g[m = 3..4](x: f32[m,4], w: f32[4,5]):\n return matmul(x, w)\n"
      "kernel h[m = 3..4](x: f32[m,4], w: f32[4,5]):  # both\n\n y = exp(x)\n return matmul(y, w)\n"
      "s = softmax f32 1..2x3\n",
      "f");
  ASSERT_TRUE(requests.ok()) << requests.status();
  EXPECT_EQ((*requests)[0].family.graphs(), nullptr);
  EXPECT_EQ((*requests)[0].family.text(), "matmul f32 3x4x5");
  EXPECT_EQ((*requests)[1].family.graphs(), nullptr);
  EXPECT_EQ((*requests)[1].family.text(), "matmul f32 3..4x4x5");
  ASSERT_NE((*requests)[2].family.graphs(), nullptr);
  EXPECT_EQ((*requests)[2].text(),
            "kernel h[m = 3..4](x: f32[m,4], w: f32[4,5]):\n  y = exp(x)\n  return matmul(y, w)\n");
  EXPECT_EQ((*requests)[3].name, "s");
  EXPECT_EQ((*requests)[3].count(), 2);
}

TEST(GraphFamilyTest, ErrorsSayWhere) {
  const std::string body = "\n return relu(x)";
  const std::pair<std::string, const char*> cases[] = {
      {"kernel f[m = 1..3](x: f32[n,4]):" + body, "f:1:27: expected m, or a size from 1 to 1048576, got 'n'"},
      {"kernel f[m=1..3,k=2](x: f32[m,k,0]):" + body,
       "f:1:33: expected m, k, or a size from 1 to 1048576, got '0'"},
      {"kernel f[m = 1..3](m: f32[m,4]):" + body, "f:1:20: expected a name that is not taken, got 'm'"},
      {"kernel f[m = 1..3, m = 2](x: f32[m,4]):" + body,
       "f:1:20: expected a name that is not taken, got 'm'"},
      {"kernel f[y = 1..3](x: f32[y,4]):\n y = relu(x)\n return y",
       "f:2:2: expected a name that is not taken, got 'y'"},
      {"kernel f[m = 3..1](x: f32[m,4]):" + body,
       "f:1:17: expected the last size of a range from 3 to 1048576, got '1'"},
      {"kernel f[m = 1..x](x: f32[m,4]):" + body,
       "f:1:17: expected the last size of a range from 1 to 1048576, got 'x'"},
      {"kernel f[m = 3|2](x: f32[m,4]):" + body, "f:1:16: expected a size from 4 to 1048576, got '2'"},
      {"kernel f[m = 1..9 step 0](x: f32[m,4]):" + body,
       "f:1:24: expected a step from 1 to 1048576, got '0'"},
      {"kernel f[m = 1|3 step 2](x: f32[m,4]):" + body,
       "f:1:23: expected a step of a single range, as in 32..1024 step 32, got '2'"},
      {"kernel f[m = 1..1048576 step 2](x: f32[m,4]):" + body,
       "f:1:30: expected a step that leaves at most 4096 sizes, got '2'"},
      {"kernel f[m = 1..3, k = 2](x: f32[m,4]):" + body,
       "f:1:20: expected the size of some parameter, got 'k'"},
      {"kernel f[m = 1..3](x: f32[4]) -> f32[m]:" + body,
       "f:1:10: expected the size of some parameter, got 'm'"},
      {"kernel f[](x: f32[4]):" + body,
       "f:1:10: expected a name (letters, digits, underscores; a letter first, no keyword or macro of C or "
       "C++, no "
       "operation, not inf), got ']'"},
      {"kernel f[add=1..2](x: f32[add]):" + body,
       "f:1:10: expected a name (letters, digits, underscores; a letter first, no keyword or macro of C or "
       "C++, no "
       "operation, not inf), got 'add'"},
      {"kernel f[m](x: f32[4]):" + body, "f:1:11: expected '=', got ']'"},
      {"kernel f[m = 1..4(x: f32[4]):" + body, "f:1:18: expected ']', got '('"},
      {"kernel f[a=1,b=1,c=1,d=1,e=1](x: f32[a,b,c,d]):" + body, "f:1:26: expected at most 4 sizes, got 'e'"},
      {"kernel f[a=1|2..20000](x: f32[a]):" + body, "f:1:12: expected at most 4096 sizes, got '1|2..20000'"},
      {"\nkernel f[a=1..64|66,b=1..64|66](x: f32[a,b]):" + body,
       "f:2:1: expected at most 4096 sizes where each has a program of its own, got 4225"},
      {"kernel f[m = 1..3](x: f32[m,4], y: f32[2,4]):\n return add(x, y)",
       "f:2:9: expected tensors of one type whose shapes go together, got f32[3,4] and f32[2,4] (for m = 3)"},
      {"kernel f[k = 5, m = 1..3](x: f32[m,k]) -> f32[3,5]:" + body,
       "f:2:9: expected f32[3,5], as f returns, got f32[1,5] (for m = 1)"},
      {"kernel f[m = 1..3](x: f32[m,4]):\n return softmax(x, m)",
       "f:2:20: expected no more arguments, got 'm'"},
      {"kernel f[m = 1..3](x: f32[m,4]):\n y = relu(x)", "f:2:2: expected a line 'return ...' in f"},
      {"kernel f[m = 65536..65537](x: f32[m,65536]):" + body,
       "f:1:37: expected at most 4294967296 elements, got '65536' (for m = 65537)"},
      {"kernel f[m = 1..3](x: f32[m,4], w: const f32[m,4]):\n return mul(x, w)",
       "f:1:33: expected a constant parameter's sizes not to vary, as it is packed once for all (f32[1,4] "
       "for "
       "m = 1, f32[2,4] for m = 2)"},
      {"kernel f[m = 3, n = 4|8](x: f32[m,4], w: const f32[m,4] strides=[n,1]):\n return mul(x, w)",
       "f:1:39: expected a constant parameter's sizes not to vary, as it is packed once for all (f32[3,4] "
       "for "
       "n = 4, f32[3,4] strides=[8,1] for n = 8)"},
      {"conv2d f32 1..2x4x9x7 filters=8|9 kernel=3x3 const-filters",
       "f:1:1: expected a constant parameter's sizes not to vary, as it is packed once for all (f32[8,4,3,3] "
       "for n = 1, f = 8, f32[9,4,3,3] for n = 1, f = 9)"},
      {"softmax f32 3..1x4", "f:1:16: expected the last size of a range from 3 to 1048576, got '1'"},
      {" s = softmax f32 1..3x4x", "f:1:25: expected a size from 1 to 1048576, got nothing"},
      {"softmax f32 1..3x4 tokens=3..4", "f:1:20: expected the end, got 'tokens=3..4'"},
      {"softmax f32 1..10x2x2x2x2x2x2x2x2",
       "f:1:13: expected 1 to 8 sizes with x between them, got '1..10x2x2x2x2x2x2x2x2'"},
      {"conv2d f32 1x4x1..9x7 filters=8 kernel=3x3",
       "f:1:40: expected a kernel that fits the padded image, got '3x3' (for h = 1)"},
      {"conv2d f32 1x4x9x7 filters=8 kernel=3x3 pad=1..2", "f:1:45: expected pad from 0 to 4096, got '1..2'"},
      {"\n# x\n  a = conv2d f32 1..2x4x9x7 filters=8 kernel=3x3 layout=nhwx",
       "f:3:57: expected a layout (nchw|nhwc|nchw8c|nchw16c), got 'nhwx'; did you mean 'nhwc'?"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
  // Where a single kernel is wanted.
  const std::string family = "kernel f[m = 1..3](x: f32[m,4]):\n return relu(x)";
  EXPECT_EQ(ParseGraph(Split({family, {}}, '\n'), "f").status().message(),
            "f:1:9: expected '(' (a single kernel, not a family of sizes), got '['");
}

TEST(GraphFamilyTest, SizesMayFollowFromOthers) {
  const GraphFamily family = MakeFamily(
      "kernel f[n = 5, p = 0|2..4, t = 3 + p + n, s = n + t + p](x: f32[n,s], y: f32[t]):\n"
      " r = exp(x)\n w = exp(y)\n return r, w");
  ASSERT_EQ(family.count(), 4);
  ASSERT_EQ(family.sizes().size(), 1u);  // p alone varies
  for (int64_t i = 0; i < family.count(); ++i) {
    const std::vector<uint32_t> values = ValuesOf(family.sizes(), i);
    const uint32_t t = 3 + values[0] + 5, s = 5 + t + values[0];
    EXPECT_THAT(family.TiedValues(values), ElementsAre(t, s));
    EXPECT_THAT(family.member(i).at(0).type.dims, ElementsAre(5, s));
    EXPECT_THAT(family.member(i).at(1).type.dims, ElementsAre(t));
    const auto other = family.MemberOf(values, std::vector<uint32_t>{9, 11});
    ASSERT_TRUE(other.ok());
    EXPECT_THAT(other->at(0).type.dims, ElementsAre(5, 11));
    EXPECT_THAT(other->at(1).type.dims, ElementsAre(9));
  }
}

TEST(GraphFamilyTest, WrongSumsOfSizesAreRefused) {
  const std::string rest = "](x: f32[q,8], y: f32[t,8]):\n return matmul(x, transpose(y))";
  const std::pair<const char*, const char*> wrong[] = {
      {"q = 1..4, t = q + ",
       "f:1:28: expected the name of a size before, or a number from 1 to 1048576, got ']'"},
      {"q = 1..4, t = q + z",
       "f:1:28: expected the name of a size before, or a number from 1 to 1048576, got 'z'"},
      {"q = 1..4, t = q + 0",
       "f:1:28: expected the name of a size before, or a number from 1 to 1048576, got '0'"},
      {"q = 1..4, t = t + 1",
       "f:1:24: expected the name of a size before, or a number from 1 to 1048576, got 't'"},
      {"t = q, q = 1..3", "f:1:14: expected a size from 1 to 1048576, got 'q'"},
      {"q = 1..4, t = 3 + 4", "f:1:24: expected a sum that has some size, as in t = q + 128, got '3'"},
      {"q = 1..4, t = q q", "f:1:26: expected ']', got 'q'"},
      {"q = 1..4, t = q mixture=1:2", "f:1:26: expected ']', got 'mixture'"},
      {"q = 1..4, t = q+q+q+q+q+q+q+q+q",
       "f:1:40: expected a sum of at most 8 sizes, and of numbers up to 1048576, got 'q'"},
      {"q = 1..4, t = q + 1048576", "f:1:57: expected a size from 1 to 1048576, got t = 1048577 (for q = 1)"},
      {"q = 0..4, t = q + 1", "f:1:38: expected a size from 1 to 1048576, got q = 0 (for q = 0)"},
      {"q = 0..4, t = 1..3", "f:1:14: expected a size from 1 to 1048576, got '0'"},
      {"q = 1..4, p = 1..2, t = q", "f:1:20: expected the size of some parameter, got 'p'"},
  };
  for (const auto& [sizes, error] : wrong) EXPECT_EQ(ErrorOf(Cat("kernel f[", sizes, rest)), error) << sizes;
}

TEST(GraphFamilyTest, AMixtureIsOfEachSize) {
  const std::string rest = "](x: f32[m,4], y: f32[n,1], w: const f32[4]):\n return mul(x, w)";
  const auto mixtures = [&](const std::string& sizes) {
    return MakeFamily("kernel f[" + sizes + rest).mixtures();
  };
  using Shares = std::vector<SizeShare>;
  EXPECT_THAT(mixtures("m = 1..64, n = 2|3"), ElementsAre(Shares(), Shares()));
  EXPECT_THAT(mixtures("m = 1..64 mixture=1:0.7,64:0.3, n = 2|3"),
              ElementsAre(Shares{{1, 0.7}, {64, 0.3}}, Shares()));
  EXPECT_THAT(mixtures("m=1..64, n = 2|3 mixture = 3:1e-3"), ElementsAre(Shares(), Shares{{3, 1e-3}}));
  EXPECT_THAT(mixtures("m = 1|7 mixture=7:2, n = 2|3 mixture=2:1,3:4"),
              ElementsAre(Shares{{7, 2}}, Shares{{2, 1}, {3, 4}}));
  EXPECT_THAT(mixtures("n = 5 mixture=5:1, m = 1..2"), ElementsAre(Shares()));
  const GraphFamily convolution =
      MakeFamily("conv2d f32 1|8x4x9x7 filters=8 mixture=1:3,8:1 kernel=3x3 const-filters");
  EXPECT_THAT(convolution.mixtures(), ElementsAre(Shares{{1, 3}, {8, 1}}));
  EXPECT_EQ(convolution.count(), 2);
  EXPECT_EQ(
      Nameless(convolution.member(1)),
      Nameless(*ParseGraphShorthand({"conv2d f32 8x4x9x7 filters=8 kernel=3x3 const-filters", {}}, "f")));

  const std::string constant = "](x: f32[m,4], w: const f32[4]):\n return mul(x, w)",
                    none = "](x: f32[m,4], w: f32[4]):\n return mul(x, w)";
  const std::pair<std::string, const char*> wrong[] = {
      {"kernel f[m = 1..3 mixture=4:1" + constant,
       "f:1:27: expected one of the sizes that m may be, got '4'"},
      {"kernel f[m = 1..3 mixture=1:1,1:2" + constant, "f:1:31: expected each size once, got '1'"},
      {"kernel f[m = 1..3 mixture=1:0" + constant,
       "f:1:29: expected a share of the calls from 1e-9 to 1e9, got '0'"},
      {"kernel f[m = 1..3 mixture=1" + constant, "f:1:27: expected SIZE:SHARE, got '1'"},
      {"kernel f[m = 1..3 mixture=" + constant, "f:1:27: expected SIZE:SHARE, got nothing"},
      {"kernel f[m = 1..3 mixture" + constant, "f:1:26: expected '=', got ']'"},
      {"kernel f[m = 1..3 mixtures=1:1" + constant, "f:1:19: expected ']', got 'mixtures'"},
      {"kernel f[m = 1..3 mixture=1:1" + none,
       "f:1:27: expected a mixture only where sizes vary and a parameter is constant, which it is packed "
       "for"},
      {"kernel f[m = 3 mixture=3:1" + constant,
       "f:1:24: expected a mixture only where sizes vary and a parameter is constant, which it is packed "
       "for"},
      {"softmax f32 1..3x4 mixture=1:1",
       "f:1:20: expected a mixture only where sizes vary and a parameter is constant, which it is packed "
       "for"},
      {"conv2d f32 1..2x4x9x7|8 filters=8 kernel=3x3 const-filters mixture=1:1",
       "f:1:60: expected a mixture only where a single size varies, got 'mixture=1:1'"},
      {"conv2d f32 1..2x4x9x7 mixture=1:1 filters=8 kernel=3x3 const-filters mixture=1:1",
       "f:1:70: expected each option once, got 'mixture=1:1'"},
      {"conv2d f32 1..2x4x9x7 filters=8 kernel=3x3 mixture=3:1 const-filters",
       "f:1:52: expected one of the sizes that n may be, got '3'"},
  };
  for (const auto& [text, error] : wrong) EXPECT_EQ(ErrorOf(text), error) << text;
}

// A name that ends in e is no number with an exponent.
TEST(GraphFamilyTest, SumsNeedNoBlanks) {
  EXPECT_EQ(ErrorOf("kernel f[size = 1..3, p = 0..2, t = size+p+1](x: f32[size,4], y: f32[t,4]):\n return "
                    "matmul(x, transpose(y))"),
            "");
}

// Any text is an error of one line, or is read.
TEST(GraphFamilyTest, MutatedFamiliesAreReadOrRefused) {
  const std::vector<std::string> seeds = {
      "kernel f[q = 1..3, p = 0..2, t = q + p + 1](x: f32[q,4], y: f32[t,4]):\n return matmul(x, "
      "transpose(y))",
      "kernel q[m = 1..4, n = 2|7](x: f32[m,7], w: f32[7,n]) -> f32[m,n]:\n return relu(matmul(x, w))\n",
      "kernel q[m = 1..4 mixture=1:0.5,4:2, n = 2](x: f32[m,n], w: const f32[n]):\n return mul(x, w)\n",
      "conv2d f32 1..2x4x9x7 filters=8 kernel=3x3 const-filters mixture=1:1,2:3\n",
      "a = softmax f32 1..3x4|7x16\n",
      "conv2d f32 1..2x4x9x7|8 filters=8|9 kernel=3x3 pad=1\n"};
  EXPECT_GT(testing::ReadMutated(seeds, 15'000), 200);
}

}  // namespace
}  // namespace kirsch
