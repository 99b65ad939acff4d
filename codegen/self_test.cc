#include "codegen/self_test.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// A matrix of the user's: element (batch, row, column) is at batch * batch_stride + row * row_stride + ...
struct UserMatrix {
  int64_t rows, columns;
  int64_t row_stride, column_stride, batch_stride;
};

UserMatrix Transposed(const UserMatrix& matrix) {
  return {matrix.columns, matrix.rows, matrix.column_stride, matrix.row_stride, matrix.batch_stride};
}

UserMatrix MatrixOf(const Spec& spec, int operand) {
  const TileExtent extent = ExtentOf(spec, operand);
  const Layout& layout = spec.operand[static_cast<size_t>(operand)].layout;
  const UserMatrix stored{extent.outer, extent.inner, layout.ld, 1, extent.outer * int64_t{layout.ld}};
  return layout.order == Order::kRow ? stored : Transposed(stored);
}

// The user's lhs, rhs, out. A swapped spec computes out^T = rhs^T lhs^T.
std::array<UserMatrix, 3> UserMatrices(const Spec& spec, bool swapped) {
  const UserMatrix lhs = MatrixOf(spec, MatmulDims::kLhs), rhs = MatrixOf(spec, MatmulDims::kRhs),
                   out = MatrixOf(spec, MatmulDims::kOut);
  if (!swapped) return {lhs, rhs, out};
  return {Transposed(rhs), Transposed(lhs), Transposed(out)};
}

constexpr const char* kNames[] = {"lhs", "rhs", "out"};

// Placeholders are replaced by the names and numbers of the file. Values are so small that every sum is exact
// for any reduction Kirsch takes. Products that would take too long are checked at a sample of the output.
constexpr char kMain[] = R"(#ifdef $MACRO
#include <stdio.h>
#include <stdlib.h>

static void $NAME_fill(float* data, size_t count, unsigned seed) {
  size_t i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(int)(seed >> 16 & 3) - 1.0f;
  }
}

// The problem's batch, m, k, n; then of lhs, rhs and out: the distance in elements of consecutive matrices,
// rows and columns. Returns 0 if the result is right.
static int $NAME_check(const size_t* problem) {
  const size_t batch = problem[0], m = problem[1], k = problem[2], n = problem[3];
  const size_t *ls = problem + 4, *rs = problem + 7, *os = problem + 10;
  const size_t ln = batch * ls[0], rn = batch * rs[0], on = batch * os[0];
  const double work = (double)m * (double)n * (double)k * (double)batch / $FULL;
  const size_t step = work <= 1 ? 1 : work <= 17 ? 17 : work <= 127 ? 127 : 1009;
  float* lhs = (float*)malloc(ln * sizeof(float));
  float* rhs = (float*)malloc(rn * sizeof(float));
  float* out = (float*)malloc(on * sizeof(float));
  float* before = (float*)malloc(on * sizeof(float));
$SCRATCH_ALLOC  size_t at, i, wrong = 0;
  if (!lhs || !rhs || !out || !before$SCRATCH_CHECK) {
    printf("$NAME: out of memory\n");
    exit(2);
  }
  $NAME_fill(lhs, ln, 1);
  $NAME_fill(rhs, rn, 2);
  $NAME_fill(out, on, 3);
  $NAME_fill(before, on, 3);
$RUN  for (at = 0; at < batch * m * n; at += step) {
    const size_t b = at / (m * n), row = at / n % m, column = at % n;
    const size_t place = b * os[0] + row * os[1] + column * os[2];
    float sum = $INITIAL;
    for (i = 0; i < k; ++i)
      sum += lhs[b * ls[0] + row * ls[1] + i * ls[2]] * rhs[b * rs[0] + i * rs[1] + column * rs[2]];
    if (out[place] != sum && wrong++ == 0)
      printf("$NAME: %zux%zux%zu: out[%zu][%zu][%zu] is %g, expected %g\n", m, k, n, b, row, column,
             (double)out[place], (double)sum);
  }
  free(lhs);
  free(rhs);
  free(out);
  free(before);
$SCRATCH_FREE  return wrong ? 1 : 0;
}

int main(void) {
  static const size_t problems[][13] = {
$PROBLEMS  };
  size_t i;
  int wrong = 0;
  if (!$NAME_supported()) {
    printf("$NAME: this CPU lacks $FEATURES\n");
    return 2;
  }
  for (i = 0; i < sizeof(problems) / sizeof(problems[0]); ++i) wrong |= $NAME_check(problems[i]);
$REFUSED  printf("$NAME: %s\n", wrong ? "WRONG" : "ok");
  return wrong;
}
#endif  // $MACRO
)";

// Multiplications of the naive loop, for all problems together, that are made in full.
constexpr double kFullWork = 3e8;

constexpr const char* kSizeNames[kFamilyDims] = {"batch", "m", "k", "n"};

// A call with these sizes, if the function takes any.
template <typename Size>
std::string CallText(const SelfTest& test, Size size, const std::string& operands, const std::string& scratch,
                     const std::string& threads) {
  std::string call = absl::StrCat(test.file->name, "(");
  for (int dim : test.dims) absl::StrAppend(&call, size(dim), ", ");
  absl::StrAppend(&call, operands);
  if (test.file->scratch_bytes() > 0) absl::StrAppend(&call, ", ", scratch);
  if (test.file->threads()) absl::StrAppend(&call, ", ", threads);
  return call + ")";
}

std::string RunText(const SelfTest& test) {
  const std::string call = CallText(
      test, [](int dim) { return kSizeNames[dim]; }, "lhs, rhs, out", "scratch", "i, 3");
  const std::string loop = test.file->threads() ? "for (i = 0; i < 3; ++i) " : "";
  return absl::StrCat("  ", loop, test.dims.empty() ? "" : "wrong += !", call, ";\n");
}

std::string RefusedText(const SelfTest& test) {
  std::string text;
  for (const UserSizes& sizes : test.refused)
    absl::StrAppend(&text, "  wrong |= ",
                    CallText(
                        test, [&](int dim) { return sizes[static_cast<size_t>(dim)]; }, "NULL, NULL, NULL",
                        "NULL", "0, 1"),
                    ";\n");
  return text;
}

std::string ProblemText(const SelfTestProblem& problem) {
  std::string text = absl::StrCat("      {", absl::StrJoin(SizesOfUser(problem), ", "));
  for (const UserMatrix& matrix : UserMatrices(problem.spec, problem.swapped))
    absl::StrAppend(&text, ", ", matrix.batch_stride, ", ", matrix.row_stride, ", ", matrix.column_stride);
  return text + "},\n";
}

}  // namespace

UserSizes SizesOfUser(const SelfTestProblem& problem) {
  UserSizes sizes;
  for (size_t dim = 0; dim < sizes.size(); ++dim) sizes[dim] = problem.spec.size[dim];
  if (problem.swapped) std::swap(sizes[MatmulDims::kM], sizes[MatmulDims::kN]);
  return sizes;
}

std::string OperandsText(const Spec& spec, bool swapped) {
  const std::array<UserMatrix, 3> matrices = UserMatrices(spec, swapped);
  const uint32_t batch = spec.size[MatmulDims::kB];
  std::string text;
  for (size_t i = 0; i < matrices.size(); ++i) {
    const UserMatrix& matrix = matrices[i];
    const bool row = matrix.column_stride == 1;
    absl::StrAppend(&text, kNames[i], ": ", matrix.rows, " x ", matrix.columns, ", ", row ? "row" : "column",
                    "-major, leading dimension ", row ? matrix.row_stride : matrix.column_stride);
    if (batch > 1) absl::StrAppend(&text, "; ", batch, " of them, ", matrix.batch_stride, " elements apart");
    text += "\n";
  }
  absl::StrAppend(&text, spec.accumulate ? "out += lhs * rhs" : "out = lhs * rhs", "\n");
  return text;
}

std::string PrintSelfTest(const SelfTest& test) {
  const std::string& name = test.file->name;
  const bool scratch = test.file->scratch_bytes() > 0;
  std::string problems;
  for (const SelfTestProblem& problem : test.problems) absl::StrAppend(&problems, ProblemText(problem));
  return absl::StrReplaceAll(
      kMain, {{"$MACRO", absl::StrCat(absl::AsciiStrToUpper(name), "_SELF_TEST")},
              {"$NAME", name},
              {"$FEATURES", absl::StrJoin(test.file->features(), " or ")},
              {"$FULL", absl::StrCat(kFullWork / static_cast<double>(test.problems.size()))},
              {"$INITIAL", test.problems.front().spec.accumulate ? "before[place]" : "0"},
              {"$RUN", RunText(test)},
              {"$PROBLEMS", problems},
              {"$REFUSED", RefusedText(test)},
              {"$SCRATCH_ALLOC",
               scratch ? absl::StrCat("  char* block = (char*)malloc(", name, "_scratch_bytes() + 64);\n",
                                      "  void* scratch = block ? block + (64 - (size_t)block % 64) : NULL;\n")
                       : ""},
              {"$SCRATCH_CHECK", scratch ? " || !scratch" : ""},
              {"$SCRATCH_FREE", scratch ? "  free(block);\n" : ""}});
}

}  // namespace kirsch
