// Is an output right? Against the reference, element by element, on all rows or on some. Thread-safe.
//
// The tolerance is proven, not tuned. However n terms are summed in floating point, in any order, with or
// without fused multiply-add, and whether or not zeros are added as well, each term goes through at most n
// roundings, so
//   |computed - exact| <= gamma_n * (sum of the terms' magnitudes),  gamma_n = n u / (1 - n u),  u = 2^-24
// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1: Lemma 3.1 and eq. 3.5). A
// product that is rounded before it is added costs one rounding, and takes part in at most n - 1 additions;
// the prior output of an accumulating spec is one more term. That is the c * k * eps * sum |a||b| of the
// literature with c = 1/2 to first order (eps = 2 u). Integer inputs are so small that nothing rounds at all:
// those are compared bit for bit.
#ifndef KIRSCH_CODEGEN_VERIFY_CHECK_H_
#define KIRSCH_CODEGEN_VERIFY_CHECK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/verify_data.h"
#include "codegen/verify_run.h"
#include "spec/reference.h"
#include "spec/spec.h"

namespace kirsch {

// gamma_n for the spec's n terms, plus what the reference's own sums in double may be off: the largest
// |computed - reference| of an element, relative to the sum of magnitudes.
double ErrorBound(const Spec& root);

// What the output rows should be for inputs of one kind and seed.
struct Oracle {
  InputKind kind = InputKind::kIntegers;
  uint64_t seed = 1;
  std::vector<int64_t> rows;  // see ReferenceRows
  Expected expected;
};

absl::StatusOr<Oracle> MakeOracle(const Spec& root, InputKind kind, uint64_t seed, std::vector<int64_t> rows);

// All rows if `most` or fewer; else `most` of them: the first, the last, and others drawn by `seed`;
// ascending.
std::vector<int64_t> ChooseRows(const Spec& root, int64_t most, uint64_t seed);

// OK if every element of the oracle's rows is within the bound (bit for bit for integers; NaN never is); else
// the first that is not. *max_error is raised to the largest error, relative to the sum of magnitudes.
absl::Status CheckRows(const Spec& root, const Oracle& oracle, const float* out, double* max_error);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_CHECK_H_
