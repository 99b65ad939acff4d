// SPDX-License-Identifier: Apache-2.0
// Workloads with memory of their own, and a slow product, for the tests of bench/.
#ifndef KIRSCH_TESTS_TESTING_BENCH_TESTING_H_
#define KIRSCH_TESTS_TESTING_BENCH_TESTING_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/workload/element.h"
#include "bench/workload/workload.h"
#include "spec/element_array.h"
#include "spec/spec.h"

namespace kirsch {

inline Spec MatmulSpec(uint32_t b, uint32_t m, uint32_t k, uint32_t n) {
  Spec spec;
  spec.size = {b, m, k, n};
  spec.operand[0].layout = {LayoutKind::kStrided, Order::kRow, 0, 1, k};
  spec.operand[1].layout = {LayoutKind::kStrided, Order::kRow, 0, 1, n};
  spec.operand[2].layout = {LayoutKind::kStrided, Order::kRow, 0, 1, n};
  return spec;
}

// A workload with memory of its own.
class Placed {
 public:
  explicit Placed(const Spec& spec) : Placed(*MakeWorkload(spec, 1)) {}
  explicit Placed(const Graph& graph) : Placed(MakeWorkload(graph, 1)) {}

  explicit Placed(Workload unplaced) : workload(std::move(unplaced)), memory_(PlacedBytes(workload) + 4096) {
    void* start = memory_.data();
    size_t space = memory_.size();
    Place(std::align(4096, PlacedBytes(workload), start, space), workload);
    FillInputs(workload);
    FillOutputs(workload);
  }

  Workload workload;
  const Problem& problem = workload.problem;

 private:
  std::vector<char> memory_;
};

// To the output's type, as its numerics are stated.
inline void Store(double sum, const Problem& p, size_t at) {
  int exponent = 0;
  switch (p.out_type) {
    case KIRSCH_BF16:  // eight bits of significand, ties to even
      sum = std::nearbyint(std::ldexp(std::frexp(sum, &exponent), 8));
      static_cast<uint16_t*>(p.out)[at] = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(static_cast<float>(std::ldexp(sum, exponent - 8))) >> 16);
      return;
    case KIRSCH_S16:
      static_cast<int16_t*>(p.out)[at] = static_cast<int16_t>(std::max(-32768.0, std::min(32767.0, sum)));
      return;
    case KIRSCH_S32:
      static_cast<int32_t*>(p.out)[at] = static_cast<int32_t>(sum);
      return;
    default:
      StoreElement(static_cast<Dtype>(p.out_type), sum, p.out, static_cast<int64_t>(at));
  }
}

// The right product by sums in float64; wrong where one of the k is left out.
inline void Multiply(const Problem& p, size_t skipped_k = ~size_t{0}) {
  for (size_t b = 0; b < p.batch; ++b)
    for (size_t i = 0; i < p.m; ++i)
      for (size_t j = 0; j < p.n; ++j) {
        const size_t out = b * p.out_stride + i * p.ldc + j;
        double sum = p.accumulate ? LoadElement(p.out, p.out_type, out) : 0;
        for (size_t k = 0; k < p.k; ++k) {
          if (k == skipped_k) continue;
          const size_t lhs = b * p.lhs_stride + (p.lhs_col ? k * p.lda + i : i * p.lda + k);
          const size_t rhs = b * p.rhs_stride + (p.rhs_col ? j * p.ldb + k : k * p.ldb + j);
          sum += LoadElement(p.lhs, p.lhs_type, lhs) * LoadElement(p.rhs, p.rhs_type, rhs);
        }
        Store(sum, p, out);
      }
}

}  // namespace kirsch

#endif  // KIRSCH_TESTS_TESTING_BENCH_TESTING_H_
