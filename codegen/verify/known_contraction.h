// SPDX-License-Identifier: Apache-2.0
// Makes problems of contractions, with a proven bound for the error of each element.
//
// The tolerance is proven, not tuned. However n terms are summed in floating point, in any order, with or
// without fused multiply-add, and whether or not zeros are added as well, each term goes through at most n
// roundings, so
//   |computed - exact| <= gamma_n * (sum of the terms' magnitudes),  gamma_n = n u / (1 - n u),  u = 2^-24
// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1: Lemma 3.1 and eq. 3.5). A
// product that is rounded before it is added costs one rounding, and takes part in at most n - 1 additions;
// the prior output of an accumulating spec is one more term. That is the c * k * eps * sum |a||b| of the
// literature with c = 1/2 to first order (eps = 2 u). What else the types bring:
//
// clang-format off
//   bf16 and f16 inputs   widen to f32 exactly, and their products are exact in f32 (2 * 8 and 2 * 11 bits of
//                         24): one rounding a term at least, which gamma_n counts, is never made
//   vdpbf16ps             adds two products a lane, each with a rounding of its own, whatever the order: at
//                         most n roundings a term, as above. It takes subnormal inputs for zero (none of ours
//                         are) and flushes subnormal results to it, once a term: n * 2^-126 more
//   bf16 outputs          are rounded from the f32 sum s, once: 2^-8 |s| more, at most 2^-8 (|exact| +
//                         gamma_n * magnitudes), and 2^-134 where the result is subnormal
//   integers              wrap around and saturate, and are never rounded: compared bit for bit
// clang-format on
//
// Integer-valued inputs of kIntegers are so small that no sum of floats is rounded at all: those are compared
// bit for bit, too, after the one rounding of a bf16 output.
#ifndef KIRSCH_CODEGEN_VERIFY_KNOWN_CONTRACTION_H_
#define KIRSCH_CODEGEN_VERIFY_KNOWN_CONTRACTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/verify/known_problem.h"
#include "spec/impl.h"
#include "spec/spec.h"
#include "spec/storage.h"

namespace kirsch {

// How far an element may be off. All are 0 for integers.
//   |computed - expected| <= sums * magnitude + output * (|expected| + sums * magnitude) + absolute
struct Tolerance {
  double sums = 0;      // gamma_n, plus what the reference's own sums in double may be off
  double output = 0;    // of the rounding of the output
  double absolute = 0;  // of what is flushed to zero

  // Returns the whole right side of that. `magnitude`: the sum of the terms' magnitudes.
  double Of(double expected, double magnitude) const;
  // Returns the largest error relative to the magnitude, but for the part that is absolute.
  double OfMagnitude() const { return sums + output * (1 + sums); }
};

// Return the most roundings that a term of a sum goes through: in a program of any kind, which is one for
// each term; and in this one, which may be less.
double RoundingsOf(const Spec& root);
double RoundingsOf(const Impl& program);

// Returns the tolerance of the output, or, if there is an epilogue, of the sums before it.
Tolerance ToleranceOf(const Spec& root, double roundings);
inline Tolerance ToleranceOf(const Spec& root) { return ToleranceOf(root, RoundingsOf(root)); }

// Returns the largest |computed - reference| of an element, relative to the sum of magnitudes, but for
// Tolerance::absolute. With an epilogue, errors are relative to what is allowed, so it is 1.
double ErrorBound(const Spec& root, double roundings);
inline double ErrorBound(const Spec& root) { return ErrorBound(root, RoundingsOf(root)); }

// The problem of a root spec. Its tensors are the operands in their roles. Inputs have Poison between their
// rows. The whole output is checked by Freivalds' method (verify_freivalds.h), unless there is an epilogue or
// a window.
class ContractionProblem : public KnownProblem {
 public:
  explicit ContractionProblem(const Spec& root) : ContractionProblem(root, RoundingsOf(root)) {}
  // With a closer bound: that of the program's own sums.
  explicit ContractionProblem(const Impl& program) : ContractionProblem(program.spec, RoundingsOf(program)) {}

  std::array<InputKind, 3> Kinds() const override;
  int64_t MostRows(double most_flops_in_full) const override;
  void Fill(size_t tensor, InputKind kind, uint64_t seed, void* data) const override;
  Oracle Expect(InputKind kind, absl::Span<void* const> tensors, const ProblemOutput& output,
                std::vector<int64_t> rows) const override;
  bool GapsIntact(const ProblemOutput& output, const void* out) const override;
  std::string WholeCheck() const override;
  absl::Status CheckWhole(InputKind kind, uint64_t seed, absl::Span<void* const> tensors) const override;

 private:
  ContractionProblem(const Spec& root, double roundings);

  const Spec root_;
  const double roundings_;
};

// Returns tensors, as a problem has them, as operands in a spec's roles.
ConstOperands OperandsOf(absl::Span<void* const> tensors);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_KNOWN_CONTRACTION_H_
