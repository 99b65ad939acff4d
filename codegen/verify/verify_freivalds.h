// SPDX-License-Identifier: Apache-2.0
// Tells if a whole output is right, in time proportional to its size. Freivalds' check: C = A B if C x = A
// (B x) for every x, and only then, so random x find a wrong C almost surely. Thread-safe.
//
// On kIntegers everything below is exact in double, so the check has no tolerance, unless the output is
// rounded. If a row of C is wrong, a vector of entries drawn uniformly from s values misses it with
// probability at most 1/s (fix all entries but one where the row is wrong: one value of that entry at most
// makes the row's sum right); independent vectors multiply. On other floats, each row's sum must be within
// the sum of its elements' error bounds.
//
// On integers of full range everything is taken modulo 2^32, as the sums are. There, a row whose errors are
// all multiples of 2^t is missed with probability at most 2^(t - 32). Outputs that may have been saturated
// are not checked at all: nothing linear is left of them.
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_FREIVALDS_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_FREIVALDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/known_problem.h"
#include "spec/spec.h"
#include "spec/storage.h"

namespace kirsch {

inline constexpr int kFreivaldsVectors = 3;  // random vectors for each matrix of the batch

// Returns the largest magnitude of a vector's entries: sums of n products with outputs below 2^24 stay below
// 2^53, where double is exact.
int64_t FreivaldsLimit(const Spec& root);

// Returns the probability that a wrong output passes on kIntegers. For n = 512 it is (2 * 2^20 + 1)^-3.
double FreivaldsMissProbability(const Spec& root);

// Checks the whole output. DATA_LOSS names a row that is wrong. `kind` and `seed` tell what the inputs and
// the output before the run were; `most`: how far elements may be off. OK without a check if the output may
// have been saturated.
absl::Status CheckProduct(const Spec& root, const Tolerance& most, InputKind kind, uint64_t seed,
                          const ConstOperands& data);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_FREIVALDS_H_
