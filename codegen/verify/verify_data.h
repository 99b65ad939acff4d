// SPDX-License-Identifier: Apache-2.0
// Makes the inputs of contractions for checking kernels. Their content depends only on the spec, the kind and
// the seed, so the same values can be made again at another address. Floats are rounded to what their type
// holds, and are never subnormal. Thread-safe.
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_DATA_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_DATA_H_

#include <cstdint>
#include <vector>

#include "codegen/verify/known_problem.h"
#include "spec/spec.h"
#include "spec/storage.h"

namespace kirsch {

// Integers up to here are exact in f32.
inline constexpr int64_t kExactInFloat = int64_t{1} << 24;

// Floats are rounded to what their type holds, and are never subnormal.

// True if operands of the root's types may be of this kind. kWide suits none: it is for graphs.
bool Suits(const Spec& root, InputKind kind);

// Returns the largest magnitude of kIntegers. With it, no partial sum of an output element exceeds 2^24, or,
// of f16, 2^11 (prior output included). Where sums end as s16, it doesn't exceed what s16 holds either, if
// that is possible.
int64_t IntegerLimit(const Spec& root);

// True if partial sums of kIntegers are exact. Of f16 they are not if there are very many.
bool SumsOfIntegersAreExact(const Spec& root);

// Fills one operand of the caller's buffers. Gaps between its rows get the element that is nearest to `gap`.
void FillOperand(const Spec& root, int operand, InputKind kind, uint64_t seed, double gap, void* data);

// Calls body(offset, count) for every run of contiguous elements of a root operand, in order of address. An
// operand that overlaps itself is a single run, gaps included.
template <typename Body>
void ForEachRun(const Spec& root, int operand, const Body& body) {
  if (Overlaps(root, operand)) return body(0, RootElements(root, operand));
  const TileExtent extent = ExtentOf(root, operand);
  const int64_t ld = root.tensor(operand).layout.ld;
  for (int64_t run = 0; run < extent.batch * extent.outer; ++run) body(run * ld, extent.inner);
}

// Returns the magnitudes that the rounding of lhs is relative to, where lhs may be rounded to integers or to
// f16; else nothing. The array is like that of lhs. As integers, an element's magnitude is the largest of the
// 32 that share a scale. As f16, it is the element's own, but at least the least normal number of f16.
std::vector<float> MagnitudesOfRoundedLhs(const Spec& root, const void* lhs);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_DATA_H_
