// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/self_test.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/header/dispatch.h"
#include "codegen/header/self_test_parts.h"
#include "codegen/header/user_matrix.h"
#include "codegen/samples/block_samples.h"
#include "spec/block.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// $-words are replaced by the names and numbers of the file. Nothing but the operands' elements is touched:
// what is between them may be more than there is memory for.
constexpr char kFile[] = R"(#ifdef $MACRO
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
$USING$FILLS$CHECKS
int main(void) {
  int wrong = 0, unable = 0;
$CALLS  return wrong ? 1 : unable ? 2 : 0;
}
#endif  // $MACRO
)";

// For functions of contractions; those of graphs have helpers of their own.
constexpr char kCount[] = R"(
// Elements from the first of the operand to the last. Strides: of matrices, rows and columns.
static size_t $FILE_count(const size_t* strides, size_t batch, size_t rows, size_t columns) {
  return (batch - 1) * strides[0] + (rows - 1) * strides[1] + (columns - 1) * strides[2] + 1;
}
)";

// Each type has up to three functions: get makes a number of an element, put an element of an exact sum, fill
// sets a whole operand. Values are so small that every sum is exact for any reduction Kirsch takes.
constexpr char kGet[] = R"(
static double $FILE_get_$TYPE($CTYPE element) {
$GET})";
constexpr char kFill[] = R"(
static $CTYPE $FILE_put_$TYPE(double value) {
$PUT}
static void $FILE_fill_$TYPE($CTYPE* data, const size_t* strides, size_t batch, size_t rows, size_t columns,
                             unsigned seed) {
  size_t b, r, c;
  for (b = 0; b < batch; ++b)
    for (r = 0; r < rows; ++r)
      for (c = 0; c < columns; ++c) {
        seed = seed * 1664525u + 1013904223u;
        data[b * strides[0] + r * strides[1] + c * strides[2]] = $FILE_put_$TYPE($VALUE);
      }
}
)";

constexpr char kValue[] = "(double)(seed >> 16 & 3) - $SHIFT";
// Operands of sums of f16 are -1, 0 or 1, of both signs alike, so that the sums stay small.
constexpr char kSmallValue[] = "(double)(seed >> 16 & 1) - (double)(seed >> 17 & 1)";
// Narrow floats are converted by a table of the few numbers that operands are made of.
constexpr char kGetFloat[] = "  return element == $ONE ? 1 : element == $TWO ? 2 : element == 0 ? 0 : -1;\n";
constexpr char kPutFloat[] =
    "  return $CAST(value == 1 ? $ONE : value == 2 ? $TWO : value == 0 ? 0 : $MINUS_ONE);\n";
// The mantissa of f16 counts 2^(exponent - 25).
constexpr char kGetF16[] = R"(  int exponent = element >> 10 & 31;
  double value = (element & 0x3ff) + (exponent ? 1024 : 0);
  for (exponent += !exponent; exponent < 25; ++exponent) value /= 2;
  for (; exponent > 25; --exponent) value *= 2;
  return element & 0x8000 ? -value : value;
)";
// f16 that sums are of. They are made in units of the least number above 0; numbers of 2048 units and more
// have a larger exponent. Adding and subtracting 2^52 rounds to an integer, ties to even.
constexpr char kPutSum[] = R"(  double units = (value < 0 ? -value : value) * 0x1p24;
  volatile double rounded;
  unsigned exponent = 0;
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  for (; units >= 2048 && exponent < 30; ++exponent) units /= 2;
  rounded = units + 0x1p52;
  rounded -= 0x1p52;
  return (uint16_t)(bits >> 63 << 15 | (exponent < 30 ? 1024 * exponent + (unsigned)rounded : 0x7c00));
)";
constexpr char kGetBf16[] = R"(  const uint32_t bits = (uint32_t)element << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
)";
constexpr char kPutBf16[] = R"(  const float exact = (float)value;
  uint32_t bits;
  memcpy(&bits, &exact, sizeof(bits));
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
)";

// Adding and subtracting 1.5 * 2^52 rounds to an integer, ties to even.
constexpr char kPutSaturated[] = R"(  volatile double rounded = value + 0x1.8p52;
  rounded -= 0x1.8p52;
  return $CAST(!(rounded > $LEAST) ? $LEAST : rounded > $MOST ? $MOST : rounded);
)";

// The check of one problem, then of all. Products that would take too long are checked at a sample of the
// output: every 17th, 127th or 1009th element.
constexpr char kCheck[] = R"($KEPT
// The problem's batch, m, k, n; then of lhs, rhs and out: the distance in elements of consecutive matrices,
// rows and columns. Returns 0 if the result is right.
static int $NAME_check(const size_t* problem) {
  const size_t batch = problem[0], m = problem[1], k = problem[2], n = problem[3];
  const size_t *ls = problem + 4, *rs = problem + 7, *os = problem + 10;
  (void)ls, (void)rs;  // of windows, all is known
  const size_t on = $FILE_count(os, batch, m, n);
$VECTOR  const double work = (double)m * (double)n * (double)k * (double)batch / $FULL;
  const size_t step = work <= 1 ? 1 : work <= 17 ? 17 : work <= 127 ? 127 : 1009;
$LHS_ALLOC$RHS_ALLOC  $OUT* out = ($OUT*)malloc(on * sizeof($OUT));
  $OUT* before = ($OUT*)malloc(on * sizeof($OUT));
$ARGUMENTS_ALLOC$SCRATCH_ALLOC$SHARED_ALLOC  size_t at, i, wrong = 0;
  if (!lhs || !rhs || !out || !before$ARGUMENTS_CHECK$SCRATCH_CHECK$SHARED_CHECK$PACKED_CHECK) {
    printf("$NAME: out of memory\n");
    exit(2);
  }
$LHS_FILL$RHS_FILL  $FILE_fill_$TYPEOUT(out, os, batch, m, n, 3);
  $FILE_fill_$TYPEOUT(before, os, batch, m, n, 3);
$ARGUMENTS_FILL$RUN  for (at = 0; at < batch * m * n; at += step) {
    const size_t b = at / (m * n), row = at / n % m, column = at % n;
    const size_t place = b * os[0] + row * os[1] + column * os[2];
    double sum = $INITIAL;
    for (i = 0; i < k; ++i)
      sum += $FILE_get_$TYPELHS($LHS_AT) *
             $FILE_get_$TYPERHS($RHS_AT);
$EPILOGUE    if ($DIFFERS && wrong++ == 0)
      printf("$NAME: %zux%zux%zu: out[%zu][%zu][%zu] is %g, expected %g\n", m, k, n, b, row, column,
             $FILE_get_$TYPEOUT(out[place]), sum);
  }
$LHS_FREE$RHS_FREE  free(out);
  free(before);
$ARGUMENTS_FREE$SCRATCH_FREE$SHARED_FREE  return wrong ? 1 : 0;
}

static int $NAME_check_all(const char* what) {
  // How many problems, the first, and from each to the next. (Volatile, or GCC inlines the check of a single
  // problem and takes its operands, which are filled in loops, for uninitialized.)
  static const volatile size_t $NAME_runs_[][27] = {
$PROBLEMS  };
  size_t $NAME_run, $NAME_i, $NAME_j;  // no kernel's own name
  int wrong = 0;
  for ($NAME_run = 0; $NAME_run < sizeof($NAME_runs_) / sizeof($NAME_runs_[0]); ++$NAME_run)
    for ($NAME_i = 0; $NAME_i < $NAME_runs_[$NAME_run][0]; ++$NAME_i) {
      size_t $NAME_problem[13];
      for ($NAME_j = 0; $NAME_j < 13; ++$NAME_j)
        $NAME_problem[$NAME_j] = $NAME_runs_[$NAME_run][1 + $NAME_j] + $NAME_i * $NAME_runs_[$NAME_run][14 + $NAME_j];
      wrong |= $NAME_check($NAME_problem);
    }
$FORGET$REFUSED  printf("%s: %s\n", what, wrong ? "WRONG" : "ok");
  return wrong;
}
)";

// Scratch, shared and packed memory are aligned to 64 bytes by hand, as C99 has no aligned allocation.
constexpr char kScratchAlloc[] = R"(  char* block = (char*)malloc($NAME_scratch_bytes() + 64);
  void* scratch = block ? block + (64 - (size_t)block % 64) : NULL;
)";

constexpr char kSharedAlloc[] =
    R"(  char* shared_block = (char*)malloc($NAME_shared_bytes() + 64);
  void* shared_memory = shared_block ? shared_block + (64 - (size_t)shared_block % 64) : NULL;
  size_t phase;
)";

constexpr char kAlloc[] = "  $TYPE* $OPERAND = ($TYPE*)malloc($BYTES);\n";

// An operand that is packed. It is kept from one problem to the next, as neighbours of a family often have
// the same weights; these are filled and packed once.
constexpr char kKept[] = R"(
// The weights of the last problem, what is packed of them, and how they lie: those of the next are mostly the same.
static $TYPE* $NAME_weights;
static char* $NAME_packed_block;
static size_t $NAME_weights_lie[6];
static void $NAME_forget_weights(void) {
  free($NAME_weights);
  free($NAME_packed_block);
  $NAME_weights = NULL;
  $NAME_packed_block = NULL;
}
)";
constexpr char kKeptAlloc[] =
    R"(  const size_t lie[6] = {batch, $ROWS, $COLUMNS, $STRIDES[0], $STRIDES[1], $STRIDES[2]};
  const int kept = $NAME_weights && memcmp(lie, $NAME_weights_lie, sizeof(lie)) == 0;
  $TYPE* $OPERAND;
  void* packed;
  if (!kept) {
    $NAME_forget_weights();
    memcpy($NAME_weights_lie, lie, sizeof(lie));
    $NAME_weights = ($TYPE*)malloc($BYTES);
    $NAME_packed_block = (char*)malloc($NAME_packed_bytes() + 64);
  }
  $OPERAND = $NAME_weights;
  packed = $NAME_packed_block ? $NAME_packed_block + (64 - (size_t)$NAME_packed_block % 64) : NULL;
)";

// A variant whose instructions the CPU lacks is no failure: its line says so.
constexpr char kCallVariant[] = R"(  if ($CONDITION) {
$CHOOSE    wrong |= $NAME_check_all("$WHAT");
  } else {
    printf("$WHAT: this CPU lacks $FEATURES\n");
  }
)";

// Multiplications of the naive loop that are made in full, for all problems of a function together.
constexpr double kFullWork = 3e8;

// Calls the function for the sizes and operands of a problem: in each phase as each of three threads, one
// after the other. Functions with sizes must not refuse them.
std::string RunText(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  const bool scratch = signature.scratch, threads = signature.threads, phases = signature.phases;
  std::string text = phases ? "  for (phase = 0; phase < $NAME_phases(); ++phase)\n  " : "";
  text += threads ? "  for (i = 0; i < 3; ++i) " : "  ";
  Append(&text, function.sizes.empty() ? "" : "wrong += !", function.name, "(");
  for (const std::string& dim : function.dims) Append(&text, dim == "b" ? "batch" : dim, ", ");
  const char* const share = signature.columns ? ", n * i / 3, n * (i + 1) / 3" : ", i, 3";
  return Cat(text, TestNames(signature.tensors), scratch ? ", scratch" : "", threads ? share : "",
             phases ? ", shared_memory, phase" : "", ");\n");
}

// Calls the function for sizes that it must refuse, the other sizes being the least ones. Of every varying
// size these are the numbers just outside its values, and one between them. All tensors are NULL: a function
// that refuses touches nothing.
std::string RefusedText(const HeaderFunction& function) {
  const CSignature signature = function.signature();
  std::string text;
  for (const VaryingSize& varied : function.sizes) {
    std::set<uint32_t> refused = {varied.values.front() - 1, varied.values.front() + 1,
                                  varied.values.back() + 1};
    for (uint32_t value : varied.values) refused.erase(value);
    // Sizes between samples are served, too.
    if (varied.sampled) refused.erase(varied.values.front() + 1);
    for (uint32_t value : refused) {
      Append(&text, "  wrong |= ", function.name, "(");
      for (const VaryingSize& any : function.sizes)
        Append(&text, &any == &varied ? value : any.values.front(), ", ");
      for (size_t i = 1; i < signature.tensors.size(); ++i) text += "NULL, ";
      Append(&text, "NULL", signature.scratch ? ", NULL" : "", signature.threads ? ", 0, 1" : "",
             signature.phases ? ", NULL, 0" : "", ");\n");
    }
  }
  return text;
}

// One problem's numbers, in the order that kCheck says.
using Problem = std::array<int64_t, 13>;

Problem MakeProblem(const HeaderMember& member) {
  const UserSizes sizes = SizesOfUser(member);
  Problem problem = {};
  auto* next = std::ranges::copy(sizes, problem.begin()).out;
  for (const UserMatrix& matrix : UserMatrices(member))
    for (int64_t stride : {matrix.batch_stride, matrix.row_axis.stride(0), matrix.column_axis.stride(0)})
      *next++ = stride;
  return problem;
}

// Number by number; in the table a run of problems is its first one and this.
Problem StepFrom(const Problem& one, const Problem& next) {
  Problem step;
  for (size_t i = 0; i < step.size(); ++i) step[i] = next[i] - one[i];
  return step;
}

// Prints the problems as rows of the table in kCheck: how many, the first, and the step from each to the
// next. Members of a family mostly differ from their neighbours by the same, so a row has many of them:
//   {4, 1, 1, 512, 512, ..., 0, 1, 0, 0, ...}   m = 1, 2, 3, 4
std::string ProblemsText(const std::vector<HeaderMember>& members) {
  std::string text;
  for (size_t first = 0; first < members.size();) {
    const Problem start = MakeProblem(members[first]);
    Problem step = {}, last = start;
    size_t end = first + 1;
    for (; end < members.size(); ++end) {
      const Problem next = MakeProblem(members[end]);
      // The first two problems of a row tell its step; the row ends where that doesn't hold.
      if (end == first + 1) step = StepFrom(last, next);
      if (StepFrom(last, next) != step) break;
      last = next;
    }
    // Steps may be negative: the table has unsigned numbers, which wrap around as the sums do.
    const auto number = [](int64_t value) { return Cat(value < 0 ? "(size_t)" : "", value); };
    Append(&text, "      {", end - first, ", ", Join(start, ", ", number), ", ",
           Join(end - first > 1 ? step : Problem{}, ", ", number), "},\n");
    first = end;
  }
  return text;
}

// The texts of an input: `at` is the element in the naive loop; the others are statements that allocate, fill
// and free it. An operand that is a view is filled as the run of elements that it lies in.
struct OperandText {
  std::string at, alloc, fill, free;
  std::string kept = {};  // of one that is packed: variables that outlive a problem
};

// Names in kCheck of the operand, its strides, its axes, and the loop's index along each.
struct OperandNames {
  const char *name, *strides, *rows, *row, *columns, *column, *type;
  int seed;
};

// `more`: what happens to the operand when it is filled. `pack`: the statement that packs it; empty for one
// that is not packed. A packed operand is filled and packed only when it is not the one before.
OperandText AllocatedText(const OperandNames& names, Dtype dtype, const std::string& at,
                          const std::string& bytes, const std::string& filled, const std::string& more,
                          const std::string& pack) {
  const std::string fill = filled + absl::StrReplaceAll(more, {{"$AT", at}});
  const auto with_names = [&](const char* text) {
    return absl::StrReplaceAll(text, {{"$TYPE", CType(dtype)},
                                      {"$OPERAND", names.name},
                                      {"$ROWS", names.rows},
                                      {"$COLUMNS", names.columns},
                                      {"$STRIDES", names.strides},
                                      {"$BYTES", bytes}});
  };
  if (pack.empty()) return {at, with_names(kAlloc), fill, Cat("  free(", names.name, ");\n")};
  return {at, with_names(kKeptAlloc), Cat("  if (!kept) {\n", fill, pack, "  }\n"), "", with_names(kKept)};
}

// Of blocks, each column is filled by itself, since blocks lie along the reduction. A window is filled as one
// vector, as its elements are not at one distance.
OperandText TextOf(const UserMatrix& matrix, Dtype dtype, const OperandNames& names, const std::string& more,
                   const std::string& pack) {
  const auto [name, strides, rows, row, columns, column, type, seed] = names;
  std::string at = absl::StrFormat("b * %1$s[0] + %2$s * %1$s[1] + %3$s * %1$s[2]", strides, row, column);
  // Gaps between elements are neither filled nor read, but there is memory for them.
  std::string count = absl::StrFormat("$FILE_count(%s, batch, %s, %s)", strides, rows, columns);
  std::string fill = absl::StrFormat("%s, batch, %s, %s", strides, rows, columns);
  if (IsOfBlocks(dtype))
    return AllocatedText(
        names, dtype, at, BytesText(dtype, count),
        absl::StrFormat("  for (i = 0; i < batch * n; ++i)\n"
                        "    $FILE_fill_%1$s(%2$s, i / n * %3$s[0] + i %% n * %3$s[2], k);\n",
                        type, name, strides),
        more, pack);
  if (matrix.is_window()) {
    at = Cat(OffsetText(matrix.row_axis, row), " + ", OffsetText(matrix.column_axis, column));
    count = Cat(matrix.row_axis.At(matrix.rows - 1) + matrix.column_axis.At(matrix.columns - 1) + 1);
    fill = Cat("vector, 1, 1, ", count);
    count = Cat("(size_t)", count);
  }
  return AllocatedText(names, dtype, Cat(name, "[", at, "]"), Cat(count, " * sizeof(", CType(dtype), ")"),
                       Cat("  $FILE_fill_", type, "(", name, ", ", fill, ", ", seed, ");\n"), more, pack);
}

// Where lhs may become integers of 8 bits: among elements that share a scale, one is as large as the integers
// may be. Then the scale is 1, and the conversion exact.
std::string LargestText(const Spec& spec) {
  if (spec.lhs_as != LhsAs::kQ8) return "";
  return absl::StrFormat(
      "  for (at = 0; at < batch * m * k; at += %1$d) {\n"
      "    const size_t b = at / (m * k), row = at / k %% m;\n"
      "    i = at %% k;\n"
      "    $AT = i / %1$d %% 2 ? -%2$d : %2$d;\n"
      "  }\n",
      BlockOf(Dtype::kQ8), kLargestQ8Code);
}

// Fills in kCheck for a function of contractions. All members have the same form, so the first one tells
// types, layout and epilogue. Names come last, as the texts that are filled in contain them.
std::string CheckText(const HeaderFile& file, const HeaderFunction& function) {
  const CSignature signature = function.signature();
  const std::vector<HeaderMember>& problems = function.tested.empty() ? function.members : function.tested;
  const ArgumentsText arguments = MakeArgumentsText(function.members.front());
  const std::vector<EntryTensor> tensors = Unpacked(signature);
  const Dtype lhs_type = tensors[0].dtype, rhs_type = tensors[1].dtype, out_type = tensors[2].dtype;
  const bool packed = !signature.constants.empty();
  const auto pack_of = [&](std::string_view operand) {
    return packed && TestName(signature.constants.front()) == operand
               ? Cat("  $NAME_pack(", operand, ", packed);\n")
               : "";
  };
  const std::array<UserMatrix, 3> matrices = UserMatrices(function.members.front());
  const OperandText lhs = TextOf(matrices[MatmulDims::kLhs], lhs_type,
                                 {"lhs", "ls", "m", "row", "k", "i", "$TYPELHS", 1},
                                 LargestText(function.members.front().spec), pack_of("lhs")),
                    rhs = TextOf(matrices[MatmulDims::kRhs], rhs_type,
                                 {"rhs", "rs", "k", "i", "n", "column", "$TYPERHS", 2}, "", pack_of("rhs"));
  const bool vector = absl::StrContains(Cat(arguments.fill, lhs.fill, rhs.fill), "vector");
  const std::string text = absl::StrReplaceAll(
      kCheck,
      {{"$FULL", Cat(kFullWork / static_cast<double>(problems.size()))},
       {"$LHS_AT", lhs.at},
       {"$KEPT", lhs.kept + rhs.kept},
       {"$FORGET", packed ? "  $NAME_forget_weights();\n" : ""},
       {"$LHS_ALLOC", lhs.alloc},
       {"$LHS_FREE", lhs.free},
       {"$LHS_FILL", lhs.fill},
       {"$RHS_AT", rhs.at},
       {"$RHS_ALLOC", rhs.alloc},
       {"$RHS_FREE", rhs.free},
       {"$RHS_FILL", rhs.fill},
       {"$OUT", CType(out_type)},
       {"$INITIAL", function.members.front().spec.accumulate ? "$FILE_get_$TYPEOUT(before[place])" : "0"},
       {"$RUN", RunText(function)},
       {"$ARGUMENTS_ALLOC", arguments.alloc},
       {"$VECTOR", vector ? "  static const size_t vector[3] = {0, 0, 1};\n" : ""},
       {"$ARGUMENTS_CHECK", arguments.check},
       {"$ARGUMENTS_FILL", arguments.fill},
       {"$ARGUMENTS_FREE", arguments.free},
       {"$EPILOGUE", EpilogueText(function.members.front())},
       {"$DIFFERS", DiffersText(function.members.front())},
       {"$PROBLEMS", ProblemsText(problems)},
       {"$SCRATCH_ALLOC", signature.scratch ? kScratchAlloc : ""},
       {"$SCRATCH_CHECK", signature.scratch ? " || !scratch" : ""},
       {"$SHARED_ALLOC", signature.phases ? kSharedAlloc : ""},
       {"$SHARED_CHECK", signature.phases ? " || !shared_memory" : ""},
       {"$SHARED_FREE", signature.phases ? "  free(shared_block);\n" : ""},
       {"$PACKED_CHECK", packed ? " || !packed" : ""},
       {"$SCRATCH_FREE", signature.scratch ? "  free(block);\n" : ""}});
  return absl::StrReplaceAll(text, {{"$NAME", function.name},
                                    {"$FILE", file.name},
                                    {"$TYPELHS", std::string(Info(lhs_type).name)},
                                    {"$TYPERHS", std::string(Info(rhs_type).name)},
                                    {"$TYPEOUT", std::string(Info(out_type).name)}});
}

// The bodies of the functions that make a number of an element, and an element of an exact sum.
struct Conversion {
  std::string get, put;
};

// Wide types need no conversion but C's. Narrow integers saturate. Narrow floats, but for bf16 and sums of
// f16, have a table of the few numbers that occur; results of graphs in f16 may be any.
Conversion ConversionOf(Dtype dtype) {
  const std::string cast = Cat("(", CType(dtype), ")");
  if (dtype == Dtype::kBf16) return {kGetBf16, kPutBf16};
  if (dtype == Dtype::kF16Sums) return {kGetF16, kPutSum};
  if (!IsNarrow(dtype)) return {"  return element;\n", Cat("  return ", cast, "value;\n")};
  if (!IsFloating(dtype))
    return {"  return element;\n", absl::StrReplaceAll(kPutSaturated, {{"$CAST", cast},
                                                                       {"$LEAST", Cat(LeastOf(dtype))},
                                                                       {"$MOST", Cat(MostOf(dtype))}})};
  const auto hex = [](uint32_t bits) { return Cat("0x", absl::Hex(bits)); };
  const uint32_t one = PowerOfTwoBits(dtype, 0);
  const auto text = [&](const char* of) {
    return absl::StrReplaceAll(of, {{"$CAST", cast},
                                    {"$ONE", hex(one)},
                                    {"$TWO", hex(PowerOfTwoBits(dtype, 1))},
                                    {"$MINUS_ONE", hex(SignBit(dtype) | one)}});
  };
  return {dtype == Dtype::kF16 ? kGetF16 : text(kGetFloat), text(kPutFloat)};
}

// Prints the functions for each type that the file's operands have. Contractions' operands are filled; only
// types of lhs, rhs and out, and of graphs' results, are compared, so only these need `get`.
std::string FillsText(const HeaderFile& file) {
  std::set<Dtype> types, filled, compared;
  for (const HeaderFunction& function : file.functions) {
    if (function.has_samples())
      for (Dtype dtype : ResultTypes(function)) compared.insert(dtype);
    if (function.members.empty()) continue;
    const std::vector<EntryTensor> tensors = Unpacked(function.signature());
    for (const EntryTensor& tensor : tensors) filled.insert(tensor.dtype);
    compared.insert({tensors[0].dtype, tensors[1].dtype, tensors[2].dtype});
  }
  std::string text = filled.empty() ? "" : absl::StrReplaceAll(kCount, {{"$FILE", file.name}});
  std::ranges::set_union(filled, compared, std::inserter(types, types.end()));
  for (Dtype dtype : types) {
    if (IsOfBlocks(dtype)) continue;
    const Conversion conversion = ConversionOf(dtype);
    const std::string value = absl::StrReplaceAll(dtype == Dtype::kF16Sums ? kSmallValue : kValue,
                                                  {{"$SHIFT", Info(dtype).has_sign ? "1" : "0"}});
    text +=
        absl::StrReplaceAll(Cat(compared.contains(dtype) ? kGet : "", filled.contains(dtype) ? kFill : ""),
                            {{"$TYPE", std::string(Info(dtype).name)},
                             {"$CTYPE", CType(dtype)},
                             {"$GET", conversion.get},
                             {"$PUT", conversion.put},
                             {"$VALUE", value},
                             {"$FILE", file.name}});
  }
  return text;
}

// Prints the functions for types of blocks. Contractions' blocks are asked for single elements, too; graphs'
// blocks are only filled.
std::string BlocksText(const HeaderFile& file) {
  std::map<Dtype, bool> types;
  for (const HeaderFunction& function : file.functions) {
    if (!function.members.empty()) {
      types[Unpacked(function.signature())[MatmulDims::kRhs].dtype] = true;
    } else if (function.has_samples()) {
      for (Dtype dtype : ParameterTypes(function)) types[dtype];
    }
  }
  std::string text;
  for (const auto& [dtype, gets] : types)
    if (IsOfBlocks(dtype)) text += BlockSamplesText(dtype, gets);
  return absl::StrReplaceAll(text, {{"$FILE", file.name}});
}

// Prints main's calls. Each variant in turn is made the choice; then the choice is open again.
std::string CallsText(const HeaderFunction& function) {
  // Without a choice there is no NAME_choice to set, and NAME_supported() says what the CPU can do.
  const bool several = function.variants.size() > 1;
  std::string text = NeedsPermission(function) ? "  $NAME_enable();\n" : "";
  for (size_t i = 0; i < function.variants.size(); ++i) {
    const HeaderVariant& variant = function.variants[i];
    text += absl::StrReplaceAll(
        kCallVariant, {{"$CONDITION", several ? Cat("$NAME_runs(", i + 1, ")") : "$NAME_supported()"},
                       {"$CHOOSE", several ? Cat("    $NAME_choice = ", i + 1, ";\n") : ""},
                       {"$WHAT", several ? Cat("$NAME for ", variant.target.name) : "$NAME"},
                       {"$FEATURES", Join(variant.features(), " or ")}});
  }
  if (several) text += "  $NAME_choice = 0;\n";
  text += "  unable |= !$NAME_supported();\n";
  return absl::StrReplaceAll(text, {{"$NAME", function.name}});
}

// In C++ the test's main is outside of the namespace.
std::string UsingText(const HeaderFile& file) {
  if (file.name_space.empty()) return "";
  return Cat("#ifdef __cplusplus\nusing namespace ", file.name_space, ";\n#endif\n");
}

}  // namespace

std::string SelfTestMacro(const std::string& file_name) {
  return Cat(absl::AsciiStrToUpper(file_name), "_SELF_TEST");
}

// A file without functions that can be tested has no self-test.
std::string PrintSelfTest(const HeaderFile& file) {
  std::string checks = GraphHelpersText(file), calls;
  for (const HeaderFunction& function : file.functions) {
    if (!function.has_self_test()) continue;
    checks += absl::StrReplaceAll(
        function.members.empty() ? GraphCheckText(file, function) : CheckText(file, function),
        {{"$REFUSED", RefusedText(function)}});
    calls += CallsText(function);
  }
  if (calls.empty()) return "";
  return absl::StrReplaceAll(kFile, {{"$MACRO", SelfTestMacro(file.name)},
                                     {"$USING", UsingText(file)},
                                     {"$FILLS", Cat(FillsText(file), BlocksText(file), FunctionsText(file))},
                                     {"$CHECKS", checks},
                                     {"$CALLS", calls},
                                     {"$FILE", file.name}});
}

}  // namespace kirsch
