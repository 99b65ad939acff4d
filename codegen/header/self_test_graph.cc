// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/c/c_lines.h"
#include "codegen/header/self_test_parts.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Memory is freed all at once, as a graph has any number of tensors. It begins as all ones, a NaN in every
// float type, so that elements nobody wrote are not right by chance.
constexpr char kHelpers[] = R"(
// 64-byte aligned, until $FILE_free_memory. Each block begins with the address of the one before it.
static void* $FILE_last_block;
static void* $FILE_memory(size_t bytes) {
  char* block = (char*)malloc(bytes + 128);
  if (!block) {
    printf("out of memory\n");
    exit(2);
  }
  memset(block, 0xff, bytes + 128);
  memcpy(block, &$FILE_last_block, sizeof($FILE_last_block));
  $FILE_last_block = block;
  return block + (128 - (size_t)block % 64);
}
static void $FILE_free_memory(void) {
  while ($FILE_last_block) {
    void* block = $FILE_last_block;
    memcpy(&$FILE_last_block, block, sizeof($FILE_last_block));
    free(block);
  }
}
// A parameter: bits that look random, of moderate numbers.
static void* $FILE_parameter(size_t count, size_t bytes, uint32_t keep, uint32_t set, uint32_t seed) {
  char* data = (char*)$FILE_memory(count * bytes);
  size_t i;
  for (i = 0; i < count; ++i) {
    uint32_t bits;
    seed = seed * 1664525u + 1013904223u;
    bits = (seed >> (32 - 8 * bytes) & keep) | set;
    memcpy(data + i * bytes, &bits, bytes);
  }
  return data;
}
)";

constexpr char kRowIndent[] = "      ";  // of tables

// Samples of all members are in one table, one member's after the other; `i` goes through it once.
constexpr char kGraphCheck[] = R"(
static int $NAME_check_all(const char* what) {
  static const struct {
    size_t $RESULTelement;
    double value, error;
  } samples[] = {
$SAMPLES  };
  // Where the samples of a member end, and its sizes.
  static const size_t members[][$NUMBERS] = {
$MEMBERS  };
  size_t member, i = 0;
  int wrong = 0;
$MEMORY  for (member = 0; member < sizeof(members) / sizeof(members[0]); ++member) {
$POISON$RUN    for (; i < members[member][0]; ++i) {
      const double value = $VALUE, off = value - samples[i].value;
      if ((off < 0 ? -off : off) <= samples[i].error) continue;
      if (!wrong)
        printf("$NAME: $WHICHelement %zu is %g, expected %g\n", $WHOSEsamples[i].element, value,
               samples[i].value);
      wrong = 1;
    }
  }
$REFUSED  $FILE_free_memory();
  printf("%s: %s\n", what, wrong ? "WRONG" : "ok");
  return wrong;
}
)";

// The variables of the results: "out", or of several "out0", "out1" and so on.
std::vector<std::string> ResultNames(const HeaderFunction& function) {
  const size_t results = ResultTypes(function).size();
  std::vector<std::string> names;
  for (size_t i = 0; i < results; ++i) names.push_back(results == 1 ? "out" : Cat("out", i));
  return names;
}

// Returns "p0, p2": the parameters that are constants, or those that are not.
std::string ParameterNames(const HeaderFunction& function, bool constants) {
  std::vector<std::string> names;
  for (size_t i = 0; i < function.samples.front().constant.size(); ++i)
    if (function.samples.front().constant[i] == constants) names.push_back(Cat("p", i));
  return Join(names, ", ");
}

// Returns the most elements of a tensor in any member that is called: one memory serves all of them.
int64_t MostElements(const HeaderFunction& function, size_t tensor) {
  int64_t most = 0;
  for (const GraphSamples& samples : function.samples)
    if (!samples.samples.empty()) most = std::max(most, samples.elements[tensor]);
  return most;
}

// Prints the declarations and contents of all tensors. Parameters of smaller kernels are the first elements
// of these.
std::string MemoryText(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  const std::vector<Dtype> types = ParameterTypes(function);
  std::string text, fills;
  for (size_t i = 0; i < types.size(); ++i) {
    const int64_t elements = MostElements(function, i);
    if (IsOfBlocks(types[i])) {
      absl::StrAppendFormat(&text, "  %1$s* p%2$d = (%1$s*)$FILE_memory(%3$d);\n", CType(types[i]), i,
                            Bytes(types[i], elements));
      absl::StrAppendFormat(&fills, "  $FILE_fill_%s(p%d, 0, %d);\n", Info(types[i]).name, i, elements);
      continue;
    }
    const SampleBits bits = SampleBitsOf(types[i]);
    const int words = SampleWords(types[i]);
    absl::StrAppendFormat(
        &text,
        "  const %1$s* p%2$d = (const %1$s*)$FILE_parameter(%3$d, sizeof(%7$s), 0x%4$x, 0x%5$x, %6$d);\n",
        CType(types[i]), i, words * elements, bits.keep, bits.set, i + 1,
        words == 1 ? CType(types[i]) : "uint32_t");
  }
  const std::vector<std::string> results = ResultNames(function);
  for (size_t i = 0; i < results.size(); ++i)
    absl::StrAppendFormat(&text, "  %1$s* %2$s = (%1$s*)$FILE_memory((size_t)%3$d * sizeof(%1$s));\n",
                          CType(ResultTypes(function)[i]), results[i],
                          MostElements(function, types.size() + i));
  if (!signature.constants.empty()) text += "  void* packed = $FILE_memory($NAME_packed_bytes());\n";
  if (signature.scratch) text += "  void* scratch = $FILE_memory($NAME_scratch_bytes());\n";
  if (signature.threads) text += "  size_t thread;\n";
  if (signature.phases) text += "  void* shared = $FILE_memory($NAME_shared_bytes());\n  size_t phase;\n";
  text += fills;
  // Packed once: all members take the same copy.
  if (!signature.constants.empty())
    Append(&text, "  $NAME_pack(", ParameterNames(function, true), ", packed);\n");
  return text;
}

// Calls the function in each phase as each of three threads, as RunText does in self_test.cc.
std::string GraphRunText(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  const bool packs = !signature.constants.empty();
  const std::string inputs = ParameterNames(function, false);
  std::string call = function.sizes.empty() ? "$NAME(" : "wrong |= !$NAME(";
  for (size_t i = 0; i < function.sizes.size(); ++i) Append(&call, "members[member][", i + 1, "], ");
  Append(&call, inputs, inputs.empty() ? "" : ", ", packs ? "packed, " : "",
         Join(ResultNames(function), ", "), signature.scratch ? ", scratch" : "",
         signature.threads ? ", thread, 3" : "", signature.phases ? ", shared, phase" : "", ");\n");
  return Cat(signature.phases ? "    for (phase = 0; phase < $NAME_phases(); ++phase)\n  " : "",
             signature.threads ? "    for (thread = 0; thread < 3; ++thread) " : "    ", call);
}

// A row for each member with samples: the end of its samples in the table, then its sizes.
std::string MembersText(const HeaderFunction& function) {
  std::vector<std::string> rows;
  size_t end = 0;
  for (const GraphSamples& samples : function.samples) {
    if (samples.samples.empty()) continue;
    end += samples.samples.size();
    rows.push_back(Cat("{", end, samples.sizes.empty() ? "" : ",", Join(samples.sizes, ","), "},"));
  }
  return Flow(rows, kRowIndent, "");
}

// Returns the value with as few digits as leave it within a thousandth of the error.
std::string SampledText(double value, double error) {
  constexpr int kMostDigits = 17;
  for (int digits = 1;; ++digits) {
    const std::string text = absl::StrFormat("%.*g", digits, value);
    double read = 0;
    if (digits == kMostDigits || (absl::SimpleAtod(text, &read) && std::abs(read - value) <= error / 1000))
      return text;
  }
}

// The error is printed with three digits, so it gets 1 % more than it may be. That is enough for the value's
// digits, too.
std::string SamplesText(const HeaderFunction& function) {
  std::vector<std::string> rows;
  for (const GraphSamples& samples : function.samples)
    for (const GraphSample& sample : samples.samples)
      rows.push_back(absl::StrFormat(
          "{%s%d,%s,%.3g},",
          samples.elements.size() > samples.constant.size() + 1 ? Cat(sample.result, ",") : "",
          sample.element, SampledText(sample.value, sample.error), sample.error * 1.01));
  return Flow(rows, kRowIndent, "");
}

// Statements that fill the results with NaN before a call.
std::string PoisonText(const HeaderFunction& function) {
  const std::vector<std::string> results = ResultNames(function);
  const size_t parameters = function.samples.front().constant.size();
  std::string text;
  for (size_t i = 0; i < results.size(); ++i)
    absl::StrAppendFormat(&text, "    memset(%1$s, 0xff, (size_t)%2$d * sizeof(%1$s[0]));\n", results[i],
                          MostElements(function, parameters + i));
  return text;
}

// An expression: the element that sample number i is of, as a number.
std::string SampledValueText(const HeaderFunction& function) {
  const std::vector<std::string> results = ResultNames(function);
  std::string text;
  for (size_t i = 0; i < results.size(); ++i)
    Append(&text, i + 1 < results.size() ? Cat("samples[i].result == ", i, " ? ") : "", "$FILE_get_",
           std::string(Info(ResultTypes(function)[i]).name), "(", results[i], "[samples[i].element])",
           i + 1 < results.size() ? " : " : "");
  return text;
}

}  // namespace

std::vector<Dtype> ParameterTypes(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  std::vector<Dtype> types;
  size_t tensor = 0, constant = 0;
  for (bool is_constant : function.samples.front().constant)
    types.push_back((is_constant ? signature.constants[constant++] : signature.tensors[tensor++]).dtype);
  return types;
}

std::vector<Dtype> ResultTypes(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  const GraphSamples& samples = function.samples.front();
  std::vector<Dtype> types;
  for (size_t i = samples.elements.size() - samples.constant.size(); i > 0; --i)
    types.push_back(signature.tensors[signature.tensors.size() - i].dtype);
  return types;
}

std::string GraphHelpersText(const HeaderFile& file) {
  if (std::ranges::none_of(file.functions, &HeaderFunction::has_samples)) return "";
  return absl::StrReplaceAll(kHelpers, {{"$FILE", file.name}});
}

std::string GraphCheckText(const HeaderFile& file, const HeaderFunction& function) {
  std::string which, whose;  // for messages: the sizes
  for (size_t i = 0; i < function.sizes.size(); ++i) {
    Append(&which, i == 0 ? "" : ", ", function.sizes[i].name, " = %zu");
    Append(&whose, "members[member][", i + 1, "], ");
  }
  if (!which.empty()) which += ": ";
  const std::string text =
      absl::StrReplaceAll(kGraphCheck, {{"$SAMPLES", SamplesText(function)},
                                        {"$MEMBERS", MembersText(function)},
                                        {"$NUMBERS", Cat(function.sizes.size() + 1)},
                                        {"$MEMORY", MemoryText(function)},
                                        {"$RUN", GraphRunText(function)},
                                        {"$WHICH", which},
                                        {"$WHOSE", whose},
                                        {"$RESULT", ResultTypes(function).size() > 1 ? "result, " : ""},
                                        {"$POISON", PoisonText(function)},
                                        {"$VALUE", SampledValueText(function)}});
  return absl::StrReplaceAll(text, {{"$NAME", function.name}, {"$FILE", file.name}});
}

}  // namespace kirsch
