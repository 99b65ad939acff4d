// SPDX-License-Identifier: Apache-2.0
// What the kernels of grammar_test are drawn from and compared with: formats of elements against the
// compiler's own, meanings against values worked out by hand, bounds against kernels that compute something
// else, the generator against the table of operations.
#include "tests/testing/plain_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "spec/block.h"
#include "spec/language/graph_family.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"
#include "tests/testing/grammar_graph.h"
#include "tests/testing/isolated.h"
#include "tests/testing/plain_block.h"
#include "tests/testing/plain_function.h"

namespace kirsch::testing {
namespace {

TEST(PlainNumberTest, HalvesAreTheCompilers) {
  const PlainType &f16 = PlainTypeOf("f16"), &bf16 = PlainTypeOf("bf16");
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const auto number = static_cast<double>(std::bit_cast<_Float16>(half));
    const double wide = std::bit_cast<float>(bits << 16);
    for (const auto& [type, expected] : {std::pair(&f16, number), std::pair(&bf16, wide)}) {
      const double got = LoadPlain(*type, &half, 0);
      if (std::isnan(expected)) continue;
      EXPECT_EQ(got, expected) << bits;
      uint16_t stored = 0;
      StorePlain(*type, got, &stored, 0);
      EXPECT_EQ(stored, half);
    }
  }
}

TEST(PlainNumberTest, RoundsAsTheCompilerDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                                static_cast<int>(random() % 320) - 160);
    EXPECT_EQ(RoundTo(PlainTypeOf("f32"), x), static_cast<double>(static_cast<float>(x)));
    EXPECT_EQ(RoundTo(PlainTypeOf("f16"), x), static_cast<double>(static_cast<_Float16>(x)));
  }
  EXPECT_EQ(RoundTo(PlainTypeOf("bf16"), 1 + 0x1p-8), 1);  // ties to even
  EXPECT_EQ(RoundTo(PlainTypeOf("bf16"), 1 + 0x3p-8), 1 + 0x1p-6);
  EXPECT_EQ(RoundTo(PlainTypeOf("s8"), -200), -128);
  EXPECT_EQ(RoundTo(PlainTypeOf("u8"), 2.5), 2);
}

// Blocks that are made from the formats' definitions are read as what they were made of.
TEST(PlainBlockTest, ElementsAreThoseOfTheirBlocks) {
  std::mt19937 random(2);
  for (const PlainBlockType& type : PlainBlockTypes()) {
    const auto info = std::find_if(kDtypes.begin(), kDtypes.end(),
                                   [&](const DtypeInfo& row) { return row.name == type.name; });
    ASSERT_NE(info, kDtypes.end()) << type.name;
    constexpr int kBlocks = 100;
    const std::vector<double> elements = RandomBlocks(type, kBlocks * type.elements, random);
    std::vector<uint8_t> bytes(static_cast<size_t>(kBlocks) * static_cast<size_t>(type.bytes));
    StoreBlocks(type, elements, bytes.data());
    for (size_t i = 0; i < elements.size(); ++i) {
      const auto block = i / static_cast<size_t>(type.elements) * static_cast<size_t>(type.bytes);
      EXPECT_EQ(DecodeElement(info->dtype, bytes.data() + block, static_cast<int>(i) % type.elements),
                elements[i])
          << type.name << " " << i;
    }
  }
}

// A row beside blocks may be rounded, and so be off by as much as its largest element says; not by more.
TEST(PlainGraphTest, WhatMayBeRoundedIsWithinItsBounds) {
  for (const char* as : {"", "bf16", "q8_0"}) {
    GrammarGraph graph;
    graph.values.push_back({"x", "f32", {1, 32}, false, "", {}, {}});
    graph.values.push_back({"w", "q4_0", {32, 1}, false, "", {}, {}});
    graph.values.push_back({"v", "f32", {1, 1}, false, "matmul", {{0, ""}, {1, ""}}, {}});
    if (*as != 0) graph.values.back().options = {{"lhs_as", as}};
    graph.parameters = graph.result = 2;
    std::vector<double> x(32, 1), w(32, 0);
    x[5] = 127, w[6] = 2;
    const Bounds result = PlainResult(graph, {x, w}).front();
    const double off = *as == 0 ? 1e-5 : as[0] == 'b' ? 0x1p-6 : 1;
    EXPECT_NEAR(result.low, 2 - off, 1e-3 + off / 40) << as;
    EXPECT_NEAR(result.high, 2 + off, 1e-3 + off / 40) << as;
  }
}

TEST(PlainGraphTest, WhatMayBecomeF16MayBecomeInfinite) {
  GrammarGraph graph;
  graph.values.push_back({"x", "f32", {1, 1}, false, "", {}, {}});
  graph.values.push_back({"w", "f16", {1, 1}, false, "", {}, {}});
  graph.values.push_back({"v", "f32", {1, 1}, false, "matmul", {{0, ""}, {1, ""}}, {{"lhs_as", "f16"}}});
  graph.parameters = graph.result = 2;
  for (const auto& [x, off] :
       {std::pair{1.0, 0x1p-11}, {0x1p-20, 0x1p-25}, {65519.0, 32.0}, {65520.0, HUGE_VAL}}) {
    const Bounds result = PlainResult(graph, {{x}, {1}}).front();
    EXPECT_FALSE(result.low > x - off) << x;  // anything, if no number
    EXPECT_FALSE(result.high < x + off) << x;
    EXPECT_TRUE(off == HUGE_VAL || result.high < x + 1.01 * off) << x;
  }
}

TEST(PlainNumberTest, IntegersWrapAround) {
  EXPECT_EQ(IntegerArithmetic('+', Exactly(2147483647), Exactly(1)).low, -2147483648.0);
  EXPECT_EQ(IntegerArithmetic('*', Exactly(65536), Exactly(65537)).low, 65536);
  EXPECT_EQ(IntegerArithmetic('-', Exactly(3), {4, 5}).low, -2);
  EXPECT_EQ(IntegerArithmetic('+', Exactly(2147483647), {0, 1}).low, -2147483648.0);
  EXPECT_EQ(IntegerSumOf({Exactly(2147483647), Exactly(2147483647), Exactly(2)}).high, 0);
}

// The value that an operation makes of parameters with these shapes, 1, 2, 3, ... being the elements of each.
class OneOperation {
 public:
  OneOperation(std::string op, std::vector<std::vector<uint32_t>> shapes, std::vector<uint32_t> result,
               std::vector<std::pair<std::string, std::string>> options = {},
               const std::string& type = "f32") {
    GrammarValue made{"v", type, std::move(result), false, std::move(op), {}, std::move(options)};
    for (const std::vector<uint32_t>& dims : shapes) {
      made.arguments.push_back({graph_.parameters, ""});
      graph_.values.push_back({Cat("p", graph_.parameters++), type, dims, false, "", {}, {}});
      parameters_.emplace_back();
      for (int64_t i = 1; i <= graph_.values.back().elements(); ++i)
        parameters_.back().push_back(static_cast<double>(i));
    }
    graph_.result = graph_.parameters;
    graph_.values.push_back(made);
  }

  void Is(const std::vector<double>& expected) const {
    const std::vector<Bounds> bounds = PlainResult(graph_, parameters_);
    ASSERT_EQ(bounds.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(bounds[i].low, expected[i]) << graph_.at(graph_.result).op << " " << i;
      EXPECT_GE(bounds[i].high, expected[i]) << graph_.at(graph_.result).op << " " << i;
      EXPECT_LE(bounds[i].high - bounds[i].low, 1e-4 * (1 + std::abs(expected[i])));
    }
  }

 private:
  GrammarGraph graph_;
  std::vector<std::vector<double>> parameters_;
};

TEST(PlainGraphTest, OperationsAreWhatTheirDefinitionsSay) {
  OneOperation("add", {{2, 3}, {3}}, {2, 3}).Is({2, 4, 6, 5, 7, 9});
  OneOperation("sub", {{2, 1}, {3}}, {2, 3}).Is({0, -1, -2, 1, 0, -1});
  OneOperation("mul", {{}, {2, 2}}, {2, 2}).Is({1, 2, 3, 4});
  OneOperation("div", {{2}, {2, 1}}, {2, 2}).Is({1, 2, 0.5, 1});
  OneOperation("max", {{3, 1}, {2}}, {3, 2}).Is({1, 2, 2, 2, 3, 3});
  OneOperation("matmul", {{2, 2}, {2, 2}}, {2, 2}).Is({7, 10, 15, 22});
  OneOperation("matmul", {{2, 1, 1}, {2, 1, 2}}, {2, 1, 2}).Is({1, 2, 6, 8});
  OneOperation("matmul", {{4, 1, 1}, {2, 1, 2}}, {4, 1, 2}).Is({1, 2, 2, 4, 9, 12, 12, 16});
  OneOperation("matmul", {{1, 1, 1}, {3, 1, 1}}, {3, 1, 1}).Is({1, 2, 3});
  OneOperation("matmul", {{1, 2}, {2, 1}}, {1, 1}, {}, "s32").Is({5});
  OneOperation("transpose", {{2, 3}}, {3, 2}).Is({1, 4, 2, 5, 3, 6});
  OneOperation("reduce_sum", {{2, 3}}, {1, 3}, {{"axis", "0"}}).Is({5, 7, 9});
  OneOperation("reduce_max", {{2, 2, 2}}, {1, 2, 1}, {{"axis", "2"}, {"axis", "0"}}).Is({6, 8});
  OneOperation("reduce_mean", {{2, 3}}, {2, 1}, {{"axis", "1"}}).Is({2, 5});
  OneOperation("softmax", {{1, 2}}, {1, 2}).Is({0.2689414213699951, 0.7310585786300049});
  OneOperation("layernorm", {{2, 2}, {2}, {2}}, {2, 2}, {{"eps", "0"}}).Is({0, 4, 0, 4});
  OneOperation("rmsnorm", {{1, 2}, {2}}, {1, 2}, {{"eps", "0"}}).Is({0.6324555320336759, 2.5298221281347035});
  OneOperation("leaky_relu", {{2}}, {2}, {{"slope", "-3"}}).Is({1, 2});
  OneOperation("gelu", {{2}}, {2}).Is({0.8413447460685429, 1.9544997361036416});
  OneOperation("gelu_tanh", {{2}}, {2}).Is({0.8411919906082768, 1.9545976940877752});
  OneOperation("silu", {{1}}, {1}).Is({0.7310585786300049});
  OneOperation("hardswish", {{4}}, {4}).Is({0.6666666666666666, 1.6666666666666667, 3, 4});
  OneOperation("elu", {{2}}, {2}, {{"alpha", "-3"}}).Is({1, 2});
  OneOperation("softplus", {{2}}, {2}).Is({1.3132616875182228, 2.1269280110429727});
}

TEST(PlainGraphTest, ConvolutionsAreWhatTheirDefinitionSays) {
  OneOperation("conv2d", {{1, 1, 2, 2}, {1, 1, 2, 2}}, {1, 1, 1, 1}).Is({30});
  OneOperation("conv2d", {{1, 1, 2, 2}, {1, 1, 2, 2}}, {1, 1, 2, 2}, {{"pad", "1"}, {"stride", "2"}})
      .Is({4, 6, 6, 4});
  OneOperation("conv2d", {{1, 1, 3, 1}, {1, 1, 2, 1}}, {1, 1, 1, 1}, {{"dilation", "2"}}).Is({7});
  OneOperation("conv2d", {{1, 2, 1, 2}, {2, 1, 1, 1}}, {1, 2, 1, 2}, {{"groups", "2"}}).Is({1, 2, 6, 8});
  OneOperation("conv2d", {{1, 1, 2, 2}, {1, 1, 1, 2}}, {1, 1, 2, 2}, {{"groups", "2"}, {"layout", "nhwc"}})
      .Is({1, 4, 3, 8});
  OneOperation("conv2d", {{1, 1, 2, 2}, {1, 2, 2, 1}}, {1, 1, 1, 1}, {{"layout", "nhwc"}}).Is({30});
  OneOperation("conv1d", {{1, 1, 3}, {1, 1, 2}}, {1, 1, 2}, {{"pad", "0,1"}, {"stride", "2"}}).Is({5, 3});
  OneOperation("conv2d", {{1, 1, 2, 2}, {1, 1, 1, 1}}, {1, 1, 1, 2}, {{"stride", "2x1"}}).Is({1, 2});
  OneOperation("conv3d", {{1, 2, 1, 2, 1}, {2, 1, 2, 1, 1}}, {1, 1, 1, 1, 1}, {{"layout", "ndhwc"}}).Is({30});
  OneOperation("conv1d_transpose", {{1, 1, 2}, {1, 1, 2}}, {1, 1, 3}).Is({1, 4, 4});
  OneOperation("conv1d_transpose", {{1, 1, 2}, {1, 1, 2}}, {1, 1, 4}, {{"stride", "2"}}).Is({1, 2, 2, 4});
  OneOperation("conv1d_transpose", {{1, 1, 2}, {1, 1, 2}}, {1, 1, 4}, {{"dilation", "2"}}).Is({1, 2, 2, 4});
  OneOperation("conv1d_transpose", {{1, 1, 2}, {1, 1, 2}}, {1, 1, 2}, {{"pad", "1,0"}}).Is({4, 4});
  OneOperation("conv1d_transpose", {{1, 2, 1}, {2, 2, 1}}, {1, 2, 1}).Is({7, 10});
  OneOperation("conv1d_transpose", {{1, 1, 2}, {1, 2, 2}}, {1, 1, 2}, {{"layout", "nwc"}}).Is({7, 10});
}

TEST(PlainGraphTest, FunctionsThatTurnAreLeastBetweenTheEnds) {
  for (const char* op : {"gelu", "gelu_tanh", "silu", "hardswish"}) {
    const Bounds wide = PlainFunction(op, {-5, 5}, {}, 0);
    double least = 0;
    for (double x = -5; x < 5; x += 1e-3) least = std::min(least, PlainFunction(op, Exactly(x), {}, 0).low);
    EXPECT_NEAR(wide.low, least, 1e-4) << op;
    EXPECT_NEAR(wide.high, 5, 0.05) << op;
  }
}

TEST(PlainGraphTest, WhatIsNoNumberMayBeAnything) {
  EXPECT_TRUE(IsAnything(PlainFunction("sqrt", Exactly(-1), {}, 0)));
  EXPECT_TRUE(IsAnything(PlainFunction("div", Exactly(1), {-1, 1}, 0)));
  EXPECT_TRUE(IsAnything(PlainFunction("exp", Exactly(1000), {}, 0)));
  EXPECT_TRUE(IsAnything(SumOf({Exactly(3e38), Exactly(3e38), Exactly(-3e38)})));
  EXPECT_FALSE(IsAnything(CastTo(PlainTypeOf("s8"), Anything())));
}

// Another operation, or an argument that is not the right one: none of these may pass for the kernel.
GrammarGraph Spoiled(GrammarGraph graph, std::mt19937& random) {
  static const std::vector<std::vector<std::string>> kAlike = {{"add", "sub", "mul", "max", "min"},
                                                               {"relu", "neg", "sigmoid", "tanh"},
                                                               {"gelu", "silu", "exp", "erf"},
                                                               {"reduce_sum", "reduce_mean", "reduce_max"}};
  GrammarValue& value = graph.values[static_cast<size_t>(graph.result)];
  for (const std::vector<std::string>& alike : kAlike)
    for (size_t i = 0; i < alike.size(); ++i)
      if (alike[i] == value.op) {
        value.op = alike[(i + 1 + random() % (alike.size() - 1)) % alike.size()];
        return graph;
      }
  if (value.op == "matmul" || value.op.starts_with("conv")) value.op = "";
  return graph;
}

// Of kernels with another last operation, and of results with one element that is a thousandth off.
TEST(PlainGraphTest, OtherKernelsAreTold) {
  int others = 0, told = 0, off = 0, told_off = 0;
  for (uint32_t number = 1; number < 600; ++number) {
    std::mt19937 random(number);
    const GrammarGraph graph = RandomGrammarGraph(1 + static_cast<int>(number) % 5, random);
    std::vector<std::vector<double>> parameters;
    for (int i = 0; i < graph.parameters; ++i) parameters.push_back(RandomElements(graph.at(i), random));
    const std::vector<Bounds> expected = PlainResult(graph, parameters);
    if (TellingShare(expected) < 0.9 || !IsFloat(PlainTypeOf(graph.at(graph.result).type))) continue;
    const auto middle = [](const std::vector<Bounds>& bounds) {
      std::vector<double> values;
      for (const Bounds& x : bounds) values.push_back((x.low + x.high) / 2);
      return values;
    };
    std::vector<double> right = middle(expected);
    for (size_t i = 0; i < right.size(); ++i)
      if (IsExact(expected[i])) right[i] = expected[i].low;
    EXPECT_EQ(FirstOutside(expected, right), "");
    size_t largest = 0;
    for (size_t i = 0; i < right.size(); ++i)
      if (std::abs(right[i]) > std::abs(right[largest])) largest = i;
    if (right[largest] != 0 && graph.at(graph.result).type == "f32" && graph.others.empty()) {
      ++off;
      right[largest] *= 1.001;
      told_off += FirstOutside(expected, right).empty() ? 0 : 1;
    }
    const GrammarGraph other = Spoiled(graph, random);
    if (other.at(other.result).op == graph.at(graph.result).op || other.at(other.result).op.empty()) continue;
    ++others;
    told += FirstOutside(expected, middle(PlainResult(other, parameters))).empty() ? 0 : 1;
  }
  EXPECT_GE(others, 150);
  EXPECT_GE(told, others * 9 / 10) << others;  // the rest: max of what is equal, and such
  EXPECT_GE(off, 300);
  EXPECT_GE(told_off, off * 8 / 10) << off;
}

// What the parser infers is what was drawn, and nothing is refused.
TEST(GrammarGraphTest, DrawnKernelsAreRead) {
  for (uint32_t number = 1; number < 3000; ++number) {
    std::mt19937 random(number);
    const GrammarGraph graph = RandomGrammarGraph(1 + static_cast<int>(number) % 10, random);
    for (int order = 0; order < 2; ++order) {
      const std::string text = GrammarText(graph, random);
      std::vector<Word> lines = Split({text, {}}, '\n');
      lines.pop_back();
      const absl::StatusOr<GraphFamily> read = ParseGraphFamily(lines, "drawn");
      ASSERT_TRUE(read.ok()) << read.status() << "\n" << text;
      const Graph& first = read->member(0);
      ASSERT_EQ(first.results.size(), graph.results().size()) << text;
      for (size_t i = 0; i < first.results.size(); ++i) {
        const GrammarValue& result = graph.at(graph.results()[i]);
        EXPECT_EQ(first.TypeOf(first.results[i]).dims, result.dims) << text;
        EXPECT_EQ(Info(first.TypeOf(first.results[i]).dtype).name, result.type) << text;
        EXPECT_EQ(first.results[i].name, graph.others.empty() ? "out" : result.name);
      }
      EXPECT_EQ(first.num_inputs(), graph.parameters);
    }
  }
}

// Whoever adds an operation or a type to the language adds it to the generator.
TEST(GrammarGraphTest, EverythingIsDrawn) {
  std::set<std::string> drawn;
  for (uint32_t number = 1; number < 2000; ++number) {
    std::mt19937 random(number);
    const GrammarGraph graph = RandomGrammarGraph(8, random);
    std::set<std::pair<std::string, int>> uses;
    for (const GrammarValue& value : graph.values) {
      drawn.insert({value.op, value.type, Cat("rank ", value.dims.size()), value.constant ? "const" : ""});
      for (const auto& [name, text] : value.options) drawn.insert({name, Cat(name, "=", text)});
      for (const GrammarArgument& argument : value.arguments) {
        if (argument.value < 0)
          drawn.insert("number");
        else if (!uses.insert({value.op, argument.value}).second)
          drawn.insert("twice");
        else if (graph.at(argument.value).dims != value.dims && value.arguments.size() == 2)
          drawn.insert("repeated");
      }
    }
  }
  for (const OperationInfo& info : kOperations)
    EXPECT_TRUE(info.kind == OperationKind::kLeaf || drawn.contains(std::string(info.name))) << info.name;
  for (const DtypeInfo& type : kDtypes)
    EXPECT_TRUE(!IsOfGraphs(type.dtype) || drawn.contains(std::string(type.name))) << type.name;
  for (const char* other : {"rank 0",   "rank 1",      "rank 2",      "rank 3",      "rank 4", "const",
                            "number",   "twice",       "repeated",    "axis",        "stride", "pad",
                            "dilation", "groups",      "layout=nhwc", "layout=nchw", "slope",  "alpha",
                            "eps",      "lhs_as=bf16", "lhs_as=f16",  "lhs_as=q8_0", "from",   "to",
                            "step",     "before",      "after",       "value",       "size"})
    EXPECT_TRUE(drawn.contains(other)) << other;
}

TEST(IsolatedTest, CasesThatDieAreToldFromOthers) {
  const std::vector<IsolatedCase> cases = RunIsolated(4, 60, [](int number, const Note& note) {
    note(Cat("case ", number));
    if (number == 1) abort();
    if (number == 2) raise(SIGALRM);
    return Cat("result ", number);
  });
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].text, "result 0");
  EXPECT_TRUE(cases[1].died && absl::StrContains(cases[1].text, "Aborted") &&
              absl::StrContains(cases[1].text, "case 1"));
  EXPECT_TRUE(cases[2].died && absl::StrContains(cases[2].text, "case 2"));
  EXPECT_FALSE(cases[3].died);
  EXPECT_EQ(cases[3].text, "result 3");
}

}  // namespace
}  // namespace kirsch::testing
