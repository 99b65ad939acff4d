// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ranges>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/header/self_test_parts.h"
#include "codegen/header/user_matrix.h"
#include "spec/graph/epilogue_program.h"
#include "spec/graph/row_passes.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Functions are not the math library's, so that no program has to be linked with it. exp halves its argument
// until a short series does, then squares the sum as often.
constexpr char kExp[] = R"(
static double $FILE_exp(double x) {
  double sum = 1, term = 1;
  int halved = 0, i;
  if (x < 0) return 1 / $FILE_exp(-x);
  if (x > 1000) x = 1000;
  for (; x > 0.5; x /= 2) ++halved;
  for (i = 1; i < 16; ++i) sum += term *= x / i;
  for (; halved > 0; --halved) sum *= sum;
  return sum;
}
)";
constexpr char kTanh[] = R"(
static double $FILE_tanh(double x) { return 1 - 2 / ($FILE_exp(2 * x) + 1); }
)";
constexpr char kErf[] = R"(
static double $FILE_erf(double x) {
  double sum = x, term = x;
  int i;
  if (x > 6 || x < -6) return x < 0 ? -1 : 1;
  for (i = 1; i < 200; ++i) sum += term *= 2 * x * x / (2 * i + 1);
  return 1.1283791670955126 * $FILE_exp(-x * x) * sum;
}
)";
constexpr char kLog1p[] = R"(
static double $FILE_log1p(double x) {
  double log = 0, power, step;
  do {
    power = $FILE_exp(log);
    step = 2 * (1 + x - power) / (1 + x + power);
    log += step;
  } while (step > 1e-9 || step < -1e-9);
  return log;
}
)";
constexpr char kNear[] = R"(
static double $FILE_most(double most, double x) {
  x = x < 0 ? -x : x;
  return x > most ? x : most;
}
// After functions: anything may come of what is no number.
static int $FILE_differs(double got, double expected, double tolerance) {
  const double off = got < expected ? expected - got : got - expected;
  return got != expected && expected == expected && !(off <= tolerance);
}
)";

// The functions of math.h that C texts may use. Each uses none but those before it.
struct MathFunction {
  const char *name, *text;
};
constexpr MathFunction kMathFunctions[] = {{"exp", kExp}, {"tanh", kTanh}, {"erf", kErf}, {"log1p", kLog1p}};

// True if a number of the type is an integer of its bits to C.
bool IsKeptAsBits(Dtype type) { return IsFloating(type) && type != Dtype::kF32 && type != Dtype::kF64; }

// Which of four texts suits what an operand has an element for: all, a row, a column, or each element.
const char* ForElements(const RowInput& operand, const std::array<const char*, 4>& texts) {
  return texts[(operand.along_rows ? 1 : 0) + (operand.along_columns ? 2 : 0)];
}

// Returns a value of an epilogue as a C expression, a double. `sum` has all that was computed so far.
std::string ValueText(const RowProgram& program, int value) {
  if (value < 0) return "";
  const RowValue& v = program.values[static_cast<size_t>(value)];
  if (v.op == Operation::kNumber) return absl::StrFormat("%a", v.number);
  if (v.op != Operation::kLoad || v.input == 0) return "sum";
  const char* const place =
      ForElements(program.inputs[static_cast<size_t>(v.input)], {"0", "row", "column", "place"});
  const std::string element = Cat("arg", v.input, "[", place, "]");
  return IsKeptAsBits(v.type) ? Cat("$FILE_get_", Info(v.type).name, "(", element, ")")
                              : "(double)" + element;
}

// Returns the statement that does one operation on `sum`. It rounds where the kernel does: not if the value
// is part of an FMA. Integers wrap around, which C leaves to unsigned numbers.
std::string StatementText(const RowProgram& program, int value, bool rounds) {
  const RowValue& v = program.values[static_cast<size_t>(value)];
  const std::string cast = v.type == Dtype::kS32 ? "(int64_t)" : "";
  const std::string text = absl::StrReplaceAll(v.op == Operation::kF32 ? "$x" : Info(v.op).c,
                                               {{"$x", cast + ValueText(program, v.a)},
                                                {"$y", cast + ValueText(program, v.b)},
                                                {"(real)", "(double)"}});
  const std::string_view name = Info(v.type).name;
  return Cat("    sum = ",
             !rounds                ? ""
             : IsKeptAsBits(v.type) ? Cat("$FILE_get_", name, "($FILE_put_", name)
             : cast.empty()         ? (v.type == Dtype::kF32 ? "(float)" : "")
                                    : "(int32_t)(uint32_t)",
             "(", text, rounds && IsKeptAsBits(v.type) ? "))" : ")", ";\n");
}

RowProgram ProgramOf(const HeaderMember& member) {
  return RowProgramOf(EpilogueOfUser(member), AccumulatorOf(member.spec), member.spec.out().dtype);
}

std::string FunctionCall(const MathFunction& function) { return Cat("M(", function.name, ")"); }

}  // namespace

ArgumentsText MakeArgumentsText(const HeaderMember& member) {
  ArgumentsText text;
  int number = 0;
  const RowProgram program = ProgramOf(member);
  for (const RowInput& operand : std::views::drop(program.inputs, 1)) {
    const std::string name = Cat("arg", ++number), type = CType(operand.dtype);
    // Elements: one, one for each row or column, or as many as out has.
    const char* const count = ForElements(operand, {"1", "m", "n", "on"});
    Append(&text.alloc, "  ", type, "* ", name, " = (", type, "*)malloc(", count, " * sizeof(", type,
           "));\n");
    Append(&text.check, " || !", name);
    const bool all = operand.along_rows && operand.along_columns;
    Append(&text.fill, "  $FILE_fill_", std::string(Info(operand.dtype).name), "(", name, ", ",
           all ? "os, batch, m, n" : Cat("vector, 1, 1, ", count), ", ", 3 + number, ");\n");
    Append(&text.free, "  free(", name, ");\n");
  }
  return text;
}

std::string EpilogueText(const HeaderMember& member) {
  const RowProgram program = ProgramOf(member);
  const bool near = EpilogueOfUser(member).HasFunctions();
  std::string text = near ? "    double most = 1;\n" : "";
  const std::vector<int> computed = ComputedValues(program);
  for (int value = 0; value < std::ssize(program.values); ++value)
    if (program.values[static_cast<size_t>(value)].a >= 0)
      Append(&text, StatementText(program, value, std::ranges::count(computed, value) > 0),
             near ? "    most = $FILE_most(most, sum);\n" : "");
  // Texts of operations name a function of math.h as M(exp).
  for (const MathFunction& function : kMathFunctions)
    text = absl::StrReplaceAll(text, {{FunctionCall(function), Cat("$FILE_", function.name)}});
  return text;
}

std::string DiffersText(const HeaderMember& member) {
  // Zeros of either sign are the same, so numbers are compared, not bits.
  if (member.spec.out().dtype == Dtype::kF16Sums)
    return "$FILE_get_$TYPEOUT(out[place]) != $FILE_get_$TYPEOUT($FILE_put_$TYPEOUT(sum))";
  if (!member.spec.op_info().epilogue.HasFunctions()) return "out[place] != $FILE_put_$TYPEOUT(sum)";
  // After functions there is a tolerance. Integers may be rounded up or down in the end, and bf16 has eight
  // bits.
  const Dtype out = member.spec.out().dtype;
  const char* const rounding = !IsFloating(out) ? "1 + " : out == Dtype::kBf16 ? "1e-2 * most + " : "";
  return Cat(
      "$FILE_differs($FILE_get_$TYPEOUT(out[place]), "
      "$FILE_get_$TYPEOUT($FILE_put_$TYPEOUT(sum)), ",
      rounding, "1e-4 * most)");
}

std::string FunctionsText(const HeaderFile& file) {
  std::string steps;
  bool near = false;
  for (const HeaderFunction& function : file.functions) {
    if (function.members.empty()) continue;
    const Epilogue& epilogue = function.members.front().spec.op_info().epilogue;
    near |= epilogue.HasFunctions();
    for (const EpilogueStep& step : epilogue) Append(&steps, Info(step.op).c);
  }
  // Functions are printed if a step uses them, or a function that is printed. From the last to the first,
  // each comes before all that use it.
  std::string text = near ? kNear : "";
  for (const MathFunction& function : std::views::reverse(kMathFunctions))
    if (absl::StrContains(steps, FunctionCall(function)) ||
        absl::StrContains(text, Cat("$FILE_", function.name, "(")))
      text = Cat(function.text, text);
  return absl::StrReplaceAll(text, {{"$FILE", file.name}});
}

}  // namespace kirsch
