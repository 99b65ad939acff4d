// SPDX-License-Identifier: Apache-2.0
// Inputs of contractions for checking kernels. What an input holds depends only on the spec, the kind and the
// seed, so the same values can be made again at another address. Thread-safe.
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

// True if operands of the root's types may be of this kind: all but kWide may be.
bool Suits(const Spec& root, InputKind kind);

// Largest magnitude of kIntegers: with it, no partial sum of an output element exceeds 2^24, or, of f16, 2^11
// (prior output included), nor, if s16 is long enough for that, what s16 holds.
int64_t IntegerLimit(const Spec& root);

// Are partial sums of kIntegers exact? Of f16 they are not if there are very many.
bool SumsOfIntegersAreExact(const Spec& root);

// Fills one operand of the caller's buffers, and what lies between its rows with the element nearest to
// `gap`.
void FillOperand(const Spec& root, int operand, InputKind kind, uint64_t seed, double gap, void* data);

// Calls body(offset, count) for every run of contiguous elements of a root operand, in order of address: of
// one that overlaps itself a single run, gaps included.
template <typename Body>
void ForEachRun(const Spec& root, int operand, const Body& body) {
  if (Overlaps(root, operand)) return body(0, RootElements(root, operand));
  const TileExtent extent = ExtentOf(root, operand);
  const int64_t ld = root.tensor(operand).layout.ld;
  for (int64_t run = 0; run < extent.batch * extent.outer; ++run) body(run * ld, extent.inner);
}

// Where lhs may be rounded to integers or to f16: an array like that of lhs, each element being the magnitude
// that its rounding is relative to: the largest of the 32 that share a scale; the least normal number of f16
// for those that are less. Else nothing.
std::vector<float> MagnitudesOfRoundedLhs(const Spec& root, const void* lhs);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_DATA_H_
