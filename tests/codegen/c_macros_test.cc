// SPDX-License-Identifier: Apache-2.0
// Macros in headers: what they are of, and that the code is the same as without them.
#include "codegen/c/c_macros.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "codegen/c/c_parameters.h"
#include "codegen/c/c_pattern.h"
#include "codegen/c/c_printer.h"
#include "codegen/header/header_function.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/language/family.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<int64_t> NumbersOf(const std::string& text) {
  std::vector<int64_t> numbers;
  for (const Hole& hole : PatternOf(text).holes) numbers.push_back(hole.value.constant);
  return numbers;
}

TEST(Pattern, NumbersAreLiteralsAndPartsOfNames) {
  EXPECT_THAT(NumbersOf("c0_3 = _mm512_add_ps(r1, (__m512)x) + 17;"), ElementsAre(0, 3, 1, 17));
  EXPECT_THAT(NumbersOf("k_fma_3x16_v8_r64_mul3e000000(b0, KIRSCH_TILE3);"), ElementsAre(3, 16, 8, 64, 3, 0));
  EXPECT_THAT(NumbersOf("f8_007f = 010;"), ElementsAre(8));  // 0 before other digits would get lost
  EXPECT_THAT(NumbersOf("uint16_t v; f = 0x1p-3f + 1.5f + 1e-7 + 0x10;"), ElementsAre());
  EXPECT_THAT(NumbersOf("p + 268435456 - q + 268435457 + 99999999999999999999"), ElementsAre(268435456));
}

TEST(Pattern, HolesTakeWhatMacrosMakeOfTheirParameters) {
  Pattern pattern = PatternOf("c0_3 = a[4] + b5;");
  EXPECT_EQ(pattern.Text(), "c0_3 = a[4] + b5;");
  const Number first{0, {{0, 1}}}, second{0, {{1, 1}}};
  pattern.holes[1].value = first;
  pattern.holes[2].value = Sum(3, second, Sum(1, first, Number{7}));
  pattern.holes[3].value = second;
  EXPECT_EQ(pattern.Text(), "c0_##_z1 = a[(_z1+3*_z2+7)] + b##_z2;");
  pattern.holes[0].value = second;
  pattern.holes[2].value = Sum(-1, first, Sum(1, first, Number{7}));
  EXPECT_EQ(pattern.Text(), "c##_z2##_##_z1 = a[7] + b##_z2;");
}

// What the number is where the parameters are these.
int64_t Evaluated(const Number& number, const std::vector<int64_t>& parameters) {
  int64_t value = number.constant;
  for (const auto& [parameter, times] : number.terms) value += times * parameters[parameter];
  return value;
}

std::vector<std::vector<Hole>> HolesOfTexts(const std::vector<std::vector<int64_t>>& numbers) {
  std::vector<std::vector<Hole>> texts;
  for (const std::vector<int64_t>& text : numbers) {
    texts.emplace_back();
    for (int64_t number : text) texts.back().push_back({{number}});
  }
  return texts;
}

// The parameters give back what they were made from.
void ExpectGiveBack(const Parameters& parameters, const std::vector<std::vector<Hole>>& texts) {
  for (const std::vector<Hole>& text : texts) {
    EXPECT_TRUE(parameters.Hold(text));
    std::vector<int64_t> arguments;
    for (size_t i = 0; i < parameters.size(); ++i)
      arguments.push_back(Evaluated(parameters.Argument(i, text), {}));
    for (size_t hole = 0; hole < text.size(); ++hole)
      EXPECT_EQ(Evaluated(parameters.Value(hole), arguments), text[hole].value.constant);
  }
}

TEST(Parameters, ANumberFollowsFromOneOrTwoOthers) {
  // Steps of three rows: stride 100, 3000 and 700, from 0, 16 and 64 on; what a row is called.
  const auto texts = HolesOfTexts({{0, 100, 200, 5}, {16, 3016, 6016, 5}, {64, 764, 1464, 5}});
  const Parameters parameters(texts);
  EXPECT_EQ(parameters.size(), 2u);
  ExpectGiveBack(parameters, texts);
  EXPECT_TRUE(parameters.Hold(HolesOfTexts({{1, 8, 15, 5}})[0]));
  EXPECT_FALSE(parameters.Hold(HolesOfTexts({{1, 8, 16, 5}})[0]));
  EXPECT_FALSE(parameters.Hold(HolesOfTexts({{1, 8, 15, 6}})[0]));
  EXPECT_FALSE(parameters.Hold(HolesOfTexts({{9, 8, 7, 5}})[0]));  // a stride is natural
}

TEST(Parameters, OnlyWhatIsEqualIsPasted) {
  auto texts = HolesOfTexts({{1, 2, 1}, {2, 4, 2}});
  EXPECT_EQ(Parameters(texts).size(), 1u);
  for (std::vector<Hole>& text : texts) text[0].pasted = text[1].pasted = true;
  const Parameters parameters(texts);
  EXPECT_EQ(parameters.size(), 2u);
  EXPECT_TRUE(parameters.IsPasted(0) && parameters.IsPasted(1));
  ExpectGiveBack(parameters, texts);
}

TEST(Parameters, RandomOnesGiveBackWhatTheyWereMadeFrom) {
  std::mt19937 random(1);
  const auto draw = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint32_t>(end)); };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::vector<int64_t>> factors(static_cast<size_t>(1 + draw(9)));
    for (std::vector<int64_t>& factor : factors) factor = {draw(3), draw(3), draw(4) * draw(3), draw(50)};
    std::vector<std::vector<int64_t>> numbers(static_cast<size_t>(2 + draw(5)));
    for (std::vector<int64_t>& text : numbers) {
      const std::vector<int64_t> hidden = {draw(4), draw(2000), 16 * draw(3), 1};
      for (const std::vector<int64_t>& factor : factors)
        text.push_back(std::inner_product(factor.begin(), factor.end(), hidden.begin(), draw(20) == 0));
    }
    const auto texts = HolesOfTexts(numbers);
    const Parameters parameters(texts);
    EXPECT_LE(parameters.size(), factors.size());
    ExpectGiveBack(parameters, texts);
  }
}

class MacrosTest : public HeaderTest {
 protected:
  // Without the lines of the source that inline assembly is from.
  std::string Assembly(const std::string& text, const std::string& flags) const {
    return Output(
        Cat("gcc -std=c99 -x c -O1 -S ", flags, " ", Write("text.c", text), " -o - | grep -v '^# '"));
  }
};

// Rows of several tiles: `height` of them, `stride` apart.
CFunction Rows(const std::string& name, int height, int stride, int constant) {
  std::string after = "(int* to, const int* from) {\n  int a;\n";
  for (int i = 0; i < height; ++i)
    Append(&after, "  a = from[", i * stride, "];\n  to[", i, "] = a * ", constant, ";\n");
  return {"void ", name, after + "}\n"};
}

TEST_P(MacrosTest, FunctionsThatDifferInAStrideAreInstances) {
  const std::vector<CFunction> functions = {Rows("rows_r100", 4, 100, 5), Rows("rows_r3000", 4, 3000, 5)};
  const std::string text = PrintFunctions(functions, "M");
  EXPECT_THAT(text, HasSubstr("M2(100) M2(3000)\n"));
  EXPECT_EQ(Assembly(text, ""), Assembly(PrintFunctions(functions, ""), ""));
}

// Users' parameters are in instances, so none may be called as a macro's are.
TEST_P(MacrosTest, ParametersOfMacrosAreNoNamesOfUsers) {
  std::vector<CFunction> functions;
  for (const int stride : {100, 3000}) {
    functions.push_back(Rows(Cat("rows_r", stride), 4, stride, 5));
    functions.back().after = absl::StrReplaceAll(functions.back().after, {{"from", "N1"}, {"to", "NAME"}});
  }
  const std::string text = PrintFunctions(functions, "M");
  EXPECT_THAT(text, HasSubstr("M2(100) M2(3000)\n"));
  EXPECT_EQ(Assembly(text, ""), Assembly(PrintFunctions(functions, ""), ""));
}

// Statements at random, each several times with other numbers.
class RandomCode {
 public:
  explicit RandomCode(uint32_t seed) : random_(seed) {}

  CFunction Function(const std::string& name) {
    return {"void ", name, Cat("(int* to, const int* from) {\n  int a0, a1;\n", Statements("  ", 2), "}\n")};
  }
  int Number(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }

 private:
  std::string Statements(const std::string& indent, int depth) {
    std::string text;
    for (int i = 1 + Number(3); i > 0; --i) {
      const int kind = Number(depth > 0 ? 4 : 2), stride = Number(3000);
      for (int row = 0, rows = 1 + Number(6); row < rows; ++row)
        Append(&text, Statement(indent, depth, kind, row, stride));
    }
    return text;
  }
  std::string Statement(const std::string& indent, int depth, int kind, int row, int stride) {
    const std::string inner = indent + "  ";
    if (kind == 0) return Cat(indent, "a", row % 2, " = from[", row * stride + 1, "];\n");
    if (kind == 1) return Cat(indent, "to[", row, "] += a", Number(2), " * ", Number(3), ";\n");
    if (kind == 2)
      return Cat(indent, "{\n", inner, "const int q", row, " = from[", row * stride, "];\n", inner, "to[",
                 row, "] = q", row, ";\n", indent, "}\n");
    return Cat(indent, "for (int i", depth, " = 0; i", depth, " < ", 1 + Number(9), "; ++i", depth, ") {\n",
               Statements(inner, depth - 1), indent, "}\n");
  }

  std::mt19937 random_;
};

TEST_P(MacrosTest, RandomCodeIsTheSame) {
  RandomCode code(GetParam() ? 7 : 8);
  int calls = 0;
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<CFunction> functions;
    for (int i = code.Number(4); i >= 0; --i) {
      functions.push_back(code.Function(Cat("f", i, "_x")));
      functions.back().by_macro = code.Number(2) == 0;
    }
    const std::string text = PrintFunctions(functions, "M");
    EXPECT_EQ(Assembly(text, ""), Assembly(PrintFunctions(functions, ""), "")) << text;
    EXPECT_EQ(PrintFunctions(functions, "M"), text);  // deterministic
    calls += text.find("M1(") != std::string::npos;
  }
  EXPECT_GT(calls, 20);
}

TEST_P(MacrosTest, BlocksAreGroupedAsOneStatement) {
  std::string after = "(int* to, const int* from) {\n";
  for (int i = 0; i < 6; ++i)
    Append(&after, "  {\n    const int sum = from[", 8 * i, "] + from[", 8 * i + 1, "];\n    to[", i,
           "] = sum * sum;\n  }\n");
  EXPECT_EQ(PrintFunctions({{"void ", "sums", after + "}\n"}}, "M"),
            "#define M1(_z1) { const int sum = from[(8*_z1)] + from[(8*_z1+1)]; to[_z1] = sum * sum; }\n"
            "void sums(int* to, const int* from) { M1(0) M1(1) M1(2) M1(3) M1(4) M1(5) }\n"
            "\n"
            "#undef M1\n");
}

// In other functions, and not side by side; inside of macros of functions, too.
TEST_P(MacrosTest, GroupsAreFoundWhereverTheyAre) {
  const auto step = [](int from, int stride) {
    std::string text;
    for (int row = 0; row < 3; ++row)
      Append(&text, "  sum", row, " += from[", from + row * stride, "] * to[", row, "];\n");
    return text;
  };
  std::vector<CFunction> functions;
  for (const auto& [name, stride] : {std::pair("a", 100), {"b", 700}, {"c", 9}})
    functions.push_back({"void ", name,
                         Cat("(int* to, const int* from, int sum0, int sum1, int sum2) {\n", step(0, stride),
                             "  to[5] = sum1;\n", step(16, stride), "  from += 4;\n", step(32, stride),
                             "  to[6] = sum0 + sum1 + sum2;\n}\n")});
  functions.push_back({"void ", "other",
                       Cat("(int* to, const int* from, int sum0, int sum1, int sum2) {\n  to[1] = 2;\n",
                           step(7, 12), "  to[0] = sum0 - sum1 - sum2;\n}\n")});
  const std::string text = PrintFunctions(functions, "M");
  EXPECT_THAT(text, HasSubstr("(0,_z1)"));
  EXPECT_THAT(text, HasSubstr("(16,_z1)"));
  EXPECT_THAT(text, HasSubstr("(7,12)"));
  EXPECT_EQ(Assembly(text, ""), Assembly(PrintFunctions(functions, ""), ""));
}

// What headers define for GCC.
constexpr char kDefinitions[] = R"(#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#define M_AS(type, value) ((type)(value))
#define M_S32X4 __v4si
#define M_S32X8 __v8si
#define M_S32X16 __v16si
#define M_KEPT(vector) __asm__ volatile("" : : "v"(vector))
#define M_LOADED(vector) __asm__("" : "+v"(vector))
#define M_ADD128(sum, product) __asm__("vpaddd {%1, %0, %0|%0, %0, %1}" : "+v"(sum) : "v"(product))
#define M_ADD256 M_ADD128
#define M_ADD512 M_ADD128
)";

// Kernels as C, with macros of that prefix.
std::string PrintedC(const std::vector<LoopProgram>& programs, const std::string& macros) {
  CStyle style;
  style.private_prefix = "__attribute__((noinline)) ";
  style.helper_name = "k";
  style.fence = "__asm__ volatile(\"\" ::: \"memory\");";
  style.attributes = false;
  style.macros = "M_";
  style.code_macros = macros;
  std::vector<CKernel> kernels;
  for (const LoopProgram& program : programs) kernels.push_back({&program, false, true});
  return Cat(kDefinitions, PrintC(kernels, style));
}

// Those of every member of the families.
std::vector<LoopProgram> KernelsOf(const std::vector<std::string>& families, const Target& target) {
  const CostModel model(target);
  HashMemo memo;
  std::vector<LoopProgram> kernels;
  for (size_t i = 0; i < families.size(); ++i) {
    const SpecFamily family = *ParseFamily(families[i]);
    std::vector<ProgramTree> impls;
    for (const HeaderMember& member : FunctionOf("k", family).members)
      impls.push_back(Search(PlaceOperands(member.spec, Residency::kWarm, target), model, memo, {}).impl);
    MemberPrograms pointers;
    for (const ProgramTree& impl : impls) pointers.push_back(&impl);
    for (LoopProgram& program : LowerMembers(Cat("k", i), family, pointers, target))
      kernels.push_back(std::move(program));
  }
  return kernels;
}

TEST_P(MacrosTest, MuchCodeIsTheSameAsWithoutMacros) {
  const std::vector<LoopProgram> programs =
      KernelsOf({"matmul f32 1..9x40x70", "matmul f32 6x40x33..37 rhs=col", "matmul u8*s8->s32 13..14x40x70",
                 "matmul bf16*bf16->f32 1..20x64x48", "matmul f32*q4_0->f32 3..5x64x48 rhs=col"},
                target_);
  std::string flags;
  for (const LoopProgram& program : programs)
    for (const std::string& feature : program.features) Append(&flags, " -m", feature);
  const std::string with = PrintedC(programs, "M_"), without = PrintedC(programs, "");
  EXPECT_THAT(with, HasSubstr("#define M_1("));
  EXPECT_LT(with.size(), without.size() / 2);
  const std::string assembly = Assembly(without, flags);
  EXPECT_THAT(assembly, HasSubstr("mm0"));
  EXPECT_EQ(Assembly(with, flags), assembly);
}

TEST_P(MacrosTest, LittleCodeIsAsItIs) {
  const std::vector<LoopProgram> programs = KernelsOf({"matmul f32 6x40x33"}, target_);
  EXPECT_THAT(PrintedC(programs, "M_"), Not(HasSubstr("#define M_1")));
}

INSTANTIATE_TEST_SUITE_P(Isas, MacrosTest, ::testing::Bool());

}  // namespace
}  // namespace kirsch::testing
