// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/header_comment.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "codegen/header/dispatch.h"
#include "codegen/header/user_matrix.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Puts "// " before each line. A backslash at the end of a comment's line would swallow the next line, so it
// is left out.
std::string AsComment(const std::string& text) {
  std::string comment;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    while (!line.empty() && (line.back() == '\\' || line.back() == ' ' || line.back() == '\r'))
      line.remove_suffix(1);
    Append(&comment, line.empty() ? "//" : "// ", line, "\n");
  }
  return comment;
}

// How far apart more than two values are, if all are alike; else 0.
uint32_t StepOf(const std::vector<uint32_t>& values) {
  if (values.size() < 3) return 0;
  const uint32_t step = values[1] - values[0];
  for (size_t i = 2; i < values.size(); ++i)
    if (values[i] - values[i - 1] != step) return 0;
  return step;
}

// "1 <= m <= 512, 32 <= t <= 1024 in steps of 32, n is one of 256|512, s = m + t"
std::string SizesText(const HeaderFunction& function) {
  std::string text = Join(function.sizes, ", ", [](const VaryingSize& size) {
    const uint32_t low = size.values.front(), high = size.values.back(), step = StepOf(size.values);
    return size.is_range() ? Cat(low, " <= ", size.name, " <= ", high)
           : step > 1      ? Cat(low, " <= ", size.name, " <= ", high, " in steps of ", step)
                           : Cat(size.name, " is one of ", PrintValues(size.values));
  });
  for (const TiedSize& tied : function.ties)
    Append(&text, ", ", tied.name, " = ", SumText(function.sizes, tied.sum));
  return text;
}

// Said only of kernels with a fixed order of sums.
std::string OrderText(const HeaderFunction& function) {
  if (function.members.empty() || function.members.front().spec.fixed_order == 0) return "";
  return "Each sum is one chain of fused multiply-adds, k ascending: the same bits however the work is "
         "split.\n";
}

// Returns the types of the parameters that the text declares, a line each. Constants and other tensors are in
// two lists of the signature, each in the order of the text.
std::string ParametersText(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  auto tensor = signature.tensors.begin(), constant = signature.constants.begin();
  std::string text;
  for (const HeaderParameter& parameter : function.parameters) {
    if (!parameter.constant && tensor->name == kPacked) ++tensor;
    Append(&text, (parameter.constant ? constant++ : tensor++)->name, ": ", parameter.type,
           parameter.constant ? ", packed ahead" : "", "\n");
  }
  return text;
}

// `what`: what happened if the function returns 1.
std::string ReturnsText(const HeaderFunction& function, const char* what) {
  if (function.sizes.empty()) return "";
  return Cat("Returns 1 if ", SizesText(function), ": ", what, ". Else 0: nothing was touched.\n");
}

// Three cases: graphs, matmuls whose parameters the text declares, and the short form of matmuls, whose
// operands are lhs, rhs and out.
std::string OperandsText(const HeaderFunction& function) {
  constexpr char kDense[] =
      "Tensors are dense but for those with strides, the last axis contiguous. None overlaps another.\n";
  if (function.members.empty())
    return Cat(ReturnsText(function, "its kernel ran"), ParametersText(function), kDense);
  const HeaderMember& first = function.members.front();
  if (!function.parameters.empty())
    return Cat(ParametersText(function), kDense,
               first.spec.accumulate ? "What is computed is added to out.\n" : "");
  if (function.sizes.empty()) return Cat(MatricesText(first), "No operand overlaps another.\n");
  return Cat(ReturnsText(function, "the product is computed"),
             "Operands are as in the specification above (lhs m x k, rhs k x n, out m x n), their leading\n"
             "dimensions those of the sizes given unless it fixes them: by default the operands of every\n"
             "member are contiguous at its own sizes. No operand overlaps another.\n");
}

// Returns the name that the function gives an operand of the matmul.
std::string NameOf(const CSignature& signature, int operand) {
  return std::ranges::find(signature.tensors, operand, &EntryTensor::operand)->name;
}

// Says what the epilogue does, and how its operands lie.
std::string EpilogueText(const HeaderFunction& function) {
  constexpr const char* kElements[] = {"",
                                       "",
                                       "one element",
                                       "an element for each row of out",
                                       "an element for each column of out",
                                       "an element for each of out's, lying as they do"};
  if (function.members.empty()) return "";
  const HeaderMember& member = function.members.front();
  const Epilogue epilogue = EpilogueOfUser(member);
  if (epilogue.empty()) return "";
  const Dtype sum = AccumulatorOf(member.spec);
  std::string text = Cat(
      member.spec.accumulate ? "Each sum of products and what out had, an " : "Each sum of products, an ",
      std::string(Info(CallersType(sum)).name), ", then goes through: ", PrintEpilogue(epilogue, sum), "\n");
  const CSignature signature = function.signature();
  int operand = MatmulDims::kOut;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (step.HasOperand())
      Append(&text, NameOf(signature, ++operand), ": for ", std::string(Name(step.op)), ", ",
             kElements[static_cast<size_t>(step.operand)], ", ",
             std::string(Info(CallersType(TypeBefore(epilogue, sum, i))).name), "\n");
  }
  if (!IsFloating(member.spec.out().dtype))
    text += "What is stored is rounded to nearest, ties to even, and saturated.\n";
  return text;
}

// Says what a range of columns is, and what is done before the first one.
std::string ColumnsText(const HeaderFunction& function) {
  std::string text = Cat(
      "The columns ", kFirstColumn, " <= c < ", kEndColumn, " of out are computed, in whole blocks of ",
      function.variants.front().programs.front().block,
      ":\na block belongs to the range it begins in. Several threads may compute disjoint ranges at once,\n"
      "as many threads and ranges as they like.\n");
  if (!function.signature().phases) return text;
  return Cat(
      text, "That takes ", function.name, "_phases() phases: ranges that are all columns together are\n",
      "called with phase 0, then, when all these calls have returned, such ranges (the same, or\n",
      "others) with phase 1, and so on: first what all blocks read is copied to shared memory.\n",
      "shared_memory: ", function.name, "_shared_bytes() bytes, 64-byte aligned, the same for all calls.\n");
}

// Explains threads and phases to a caller who has a thread pool of his own.
std::string ThreadsText(const HeaderFunction& function) {
  if (function.signature().columns) return ColumnsText(function);
  std::string text = "Thread 0 <= thread < n_threads does its share";
  if (!function.dispatched())
    Append(&text, " of ", function.variants.front().programs.front().tasks, " tasks");
  text += "; all threads together compute the result.\n";
  if (function.signature().phases)
    Append(&text, "That takes ", function.name, "_phases() phases: every thread calls with phase 0, then,\n",
           "when all threads are done with it, with phase 1, and so on. n_threads may be 1.\n",
           "shared_memory: ", function.name,
           "_shared_bytes() bytes, 64-byte aligned, the same for all threads and phases; scratch memory\n"
           "need not be.\n");
  if (function.dispatched()) text += "What is a single task is thread 0's.\n";
  return text;
}

// Says from how many calls on packing pays: the cycles it takes, divided by the cycles that it saves in a
// call.
std::string PackingText(const HeaderVariant& variant) {
  const double once = variant.packing.pack_cycles, unpacked = variant.packing.unpacked_cycles;
  if (once == 0 || unpacked == 0) return "";
  const double saved = unpacked - variant.cycles;
  std::string text = absl::StrFormat("packing    %.0f cycles once, predicted; ", once);
  if (saved <= 0) return Cat(text, "saves none in a call: without const there is as fast a kernel\n");
  absl::StrAppendFormat(&text, "saves %.0f of %.0f in every call: pays from %.0f %s on\n", saved, unpacked,
                        std::ceil(once / saved), once <= saved ? "call" : "calls");
  return text;
}

// A block of lines for each target: "target", "kernels", "predicted", "packing", "requires".
std::string VariantText(const HeaderVariant& variant) {
  std::string text = Cat("target     ", variant.target.name, " (", variant.target.cpu, ")\n");
  if (variant.shares()) {
    Append(&text, "kernels    ", variant.programs.size(), ", each for a range of sizes\n");
  } else if (variant.programs.size() > 1) {
    Append(&text, "kernels    ", variant.programs.size(), ", one for each size\n");
  }
  if (variant.cycles > 0)
    Append(&text, "predicted  ",
           absl::StrFormat("%.0f cycles, %.1f GFLOP/s at %.2f GHz\n", variant.cycles, variant.gflops,
                           variant.target.ghz));
  text += PackingText(variant);
  return Cat(text, "requires   ", Join(variant.features(), " "), "\n");
}

// Says how the operand that is prepacked is passed.
std::string PackedText(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  if (signature.constants.empty()) return "";
  const bool graph = function.members.empty();
  const std::string operand = signature.constants.front().name;
  std::string text =
      Cat(PackDeclaration(function), ";\nCall it once for ",
          graph ? "constants that stay what they are" : Cat("what stays in ", operand), "; `packed` has ",
          function.name, "_packed_bytes() bytes, 64-byte aligned.\n", function.name,
          " takes it instead, before what it writes, any number of times, in any thread.\n");
  if (function.variants.size() > 1) text += "How it is packed depends on the CPU: not for another machine.\n";
  return text;
}

// Returns the part on one function: what it computes, its variants, its declaration, then a line on each
// parameter that needs one.
std::string FunctionText(const HeaderFunction& function) {
  std::string text = Cat(function.name, ": ", function.text, "\n\n");
  for (const HeaderVariant& variant : function.variants) text += VariantText(variant);
  const int64_t scratch = function.scratch_bytes();
  Append(&text, "alignment  operands: that of their elements; scratch: 64 bytes\n", "scratch    ", scratch,
         " bytes", scratch > 0 ? " for each thread" : "",
         function.signature().phases ? Cat(", ", function.shared_bytes(), " shared") : "", "\n\n",
         Declaration(function), ";\n", OperandsText(function), OrderText(function), EpilogueText(function));
  if (function.signature().scratch)
    Append(&text, "scratch_memory: ", function.name, "_scratch_bytes() bytes",
           function.dispatched() ? " (enough for every kernel)" : "",
           scratch > 0 ? ", 64-byte aligned, of this thread alone.\n" : ": none, so anything, NULL too.\n");
  text += PackedText(function);
  if (function.signature().threads) text += ThreadsText(function);
  if (NeedsPermission(function))
    Append(&text, "Linux has to be asked for AMX first, once in a process: call ", function.name,
           "_enable().\n");
  if (function.variants.size() > 1)
    text += "The first target above whose instructions the CPU has is chosen, at the first call.\n";
  if (function.sizes.empty() && function.parameters.empty() && function.swapped(0))
    text += "The transposed product is computed: out^T = rhs^T lhs^T.\n";
  return text;
}

// Schedules and plans come last, as they are long.
std::string NotesText(const HeaderFunction& function) {
  std::string text;
  for (const HeaderVariant& variant : function.variants)
    Append(&text, function.members.empty() ? "\nPlan of " : "\nSchedule of ", function.name, " for ",
           variant.target.name, ":\n", variant.notes);
  return text;
}

// Declared functions have no self-test: their code is elsewhere.
bool HasSelfTest(const HeaderFile& file) {
  return !file.declares && std::ranges::any_of(file.functions, &HeaderFunction::has_self_test);
}

constexpr char kFlagsText[] =
    "Optimise (-O2): what -O0 makes of it runs at a fiftieth of the speed. -ffast-math is refused.\n";

// Says what the includer and the compiler have to do.
std::string InclusionText(const HeaderFile& file) {
  if (file.mode == HeaderMode::kBare)
    return Cat(
        "Include this inside a namespace that is compiled for the instructions above, after\n"
        "<immintrin.h>, <stddef.h> and <stdint.h>. It has no include guard. GCC and Clang only.\n",
        kFlagsText);
  std::string text =
      Cat("C99 and C++17, for x86-64; GCC, Clang, and by its documentation MSVC (checked with Clang only).\n",
          "Call NAME only where NAME_supported() is 1.",
          HasSelfTest(file) ? Cat(" Self-test: define ", absl::AsciiStrToUpper(file.name),
                                  "_SELF_TEST\nand compile this file as a program.")
                            : "",
          "\n", file.declares ? "" : kFlagsText);
  if (!file.name_space.empty())
    Append(&text, "In C++ all names are in the namespace ", file.name_space, ", in C in none.\n");
  return text;
}

}  // namespace

std::string HeaderComment(const HeaderFile& file) {
  std::string text = Cat(
      "SPDX-License-Identifier: 0BSD\nThis file is yours: no licence of Kirsch's applies to the code that it "
      "generates.\n",
      "Generated by Kirsch ", file.version, ". ", InclusionText(file));
  if (!file.command.empty()) Append(&text, "Made by: ", file.command, "\n");
  for (const HeaderFunction& function : file.functions) Append(&text, "\n", FunctionText(function));
  for (const HeaderFunction& function : file.functions) text += NotesText(function);
  return AsComment(text);
}

}  // namespace kirsch
