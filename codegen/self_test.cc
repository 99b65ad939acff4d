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

// Placeholders are replaced by the numbers of the spec. Values are so small that every sum is exact for any
// reduction Kirsch takes. Very large products are checked at a sample of the output.
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

int main(void) {
  const size_t batch = $BATCH, m = $M, k = $K, n = $N;
  const size_t step = (double)m * (double)n * (double)k * (double)batch > 3e8 ? 1009 : 1;
  float* lhs = (float*)malloc($LHS_COUNT * sizeof(float));
  float* rhs = (float*)malloc($RHS_COUNT * sizeof(float));
  float* out = (float*)malloc($OUT_COUNT * sizeof(float));
  float* before = (float*)malloc($OUT_COUNT * sizeof(float));
$SCRATCH_ALLOC  size_t at, i, wrong = 0;
  if (!$NAME_supported()) {
    printf("$NAME: this CPU lacks $FEATURES\n");
    return 2;
  }
  if (!lhs || !rhs || !out || !before$SCRATCH_CHECK) {
    printf("$NAME: out of memory\n");
    return 2;
  }
  $NAME_fill(lhs, $LHS_COUNT, 1);
  $NAME_fill(rhs, $RHS_COUNT, 2);
  $NAME_fill(out, $OUT_COUNT, 3);
  $NAME_fill(before, $OUT_COUNT, 3);
$RUN  for (at = 0; at < batch * m * n; at += step) {
    const size_t b = at / (m * n), row = at / n % m, column = at % n;
    const size_t place = b * $OUT_BATCH + row * $OUT_ROW + column * $OUT_COLUMN;
    float sum = $INITIAL;
    for (i = 0; i < k; ++i)
      sum += lhs[b * $LHS_BATCH + row * $LHS_ROW + i * $LHS_COLUMN] *
             rhs[b * $RHS_BATCH + i * $RHS_ROW + column * $RHS_COLUMN];
    if (out[place] != sum && wrong++ == 0)
      printf("$NAME: out[%zu][%zu][%zu] is %g, expected %g\n", b, row, column, (double)out[place],
             (double)sum);
  }
  printf("$NAME: %s\n", wrong ? "WRONG" : "ok");
  free(lhs);
  free(rhs);
  free(out);
  free(before);
$SCRATCH_FREE  return wrong ? 1 : 0;
}
#endif  // $MACRO
)";

std::string RunText(const LoopProgram& program) {
  const std::string scratch = program.scratch_bytes > 0 ? ", scratch" : "";
  if (program.tasks == 1) return absl::StrCat("  ", program.name, "(lhs, rhs, out", scratch, ");\n");
  return absl::StrCat("  for (i = 0; i < 3; ++i) ", program.name, "(lhs, rhs, out", scratch, ", i, 3);\n");
}

}  // namespace

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

std::string SelfTest(const LoopProgram& program, const Spec& spec, bool swapped) {
  const std::array<UserMatrix, 3> matrices = UserMatrices(spec, swapped);
  const uint32_t batch = spec.size[MatmulDims::kB];
  const bool scratch = program.scratch_bytes > 0;
  std::vector<std::pair<std::string, std::string>> values = {
      {"$MACRO", absl::StrCat(absl::AsciiStrToUpper(program.name), "_SELF_TEST")},
      {"$NAME", program.name},
      {"$FEATURES", absl::StrJoin(program.features, " or ")},
      {"$BATCH", absl::StrCat(batch)},
      {"$M", absl::StrCat(matrices[2].rows)},
      {"$K", absl::StrCat(matrices[0].columns)},
      {"$N", absl::StrCat(matrices[2].columns)},
      {"$INITIAL", spec.accumulate ? "before[place]" : "0"},
      {"$RUN", RunText(program)},
      {"$SCRATCH_ALLOC",
       scratch ? absl::StrCat("  char* block = (char*)malloc(", program.name, "_scratch_bytes() + 64);\n",
                              "  void* scratch = block ? block + (64 - (size_t)block % 64) : NULL;\n")
               : ""},
      {"$SCRATCH_CHECK", scratch ? " || !scratch" : ""},
      {"$SCRATCH_FREE", scratch ? "  free(block);\n" : ""},
  };
  for (size_t i = 0; i < matrices.size(); ++i) {
    const std::string name = absl::AsciiStrToUpper(kNames[i]);
    values.push_back({absl::StrCat("$", name, "_COUNT"), absl::StrCat(batch * matrices[i].batch_stride)});
    values.push_back({absl::StrCat("$", name, "_BATCH"), absl::StrCat(matrices[i].batch_stride)});
    values.push_back({absl::StrCat("$", name, "_ROW"), absl::StrCat(matrices[i].row_stride)});
    values.push_back({absl::StrCat("$", name, "_COLUMN"), absl::StrCat(matrices[i].column_stride)});
  }
  return absl::StrReplaceAll(kMain, values);
}

}  // namespace kirsch
