// SPDX-License-Identifier: Apache-2.0
// One computation to be measured, a matmul or a graph, and its operands in a given piece of memory. The
// memory is mapped shared before any contender's process exists, so that all of them work on the very same
// physical pages.
#ifndef KIRSCH_BENCH_WORKLOAD_WORKLOAD_H_
#define KIRSCH_BENCH_WORKLOAD_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/workload/element.h"
#include "bench/workload/graph_peer.h"
#include "bench/workload/peer.h"
#include "spec/graph/graph.h"
#include "spec/language/kernel_family.h"
#include "spec/spec.h"

namespace kirsch {

using Problem = KirschProblem;

struct Workload {
  struct Operand {
    KirschType type;
    size_t elements;          // from the first to the end, gaps of the leading dimension included
    IntegerRange range = {};  // of the values of integers
    void* values = nullptr;   // where Place puts it

    size_t bytes() const { return Bytes(type, elements); }
  };

  Problem problem = {};                // as peers are asked for it
  std::shared_ptr<KirschGraph> graph;  // that of `problem`; null: a matmul
  std::optional<Spec> spec;            // of a matmul; an epilogue is nowhere else
  std::vector<Operand> operands;       // as a kernel takes them
  size_t result = 0;                   // the one that it writes
  uint64_t evicted = ~uint64_t{0};     // before a cold call, by number; those from the 63rd on alike
  double operations = 0;               // multiplications, additions, and whatever else graphs have
  // What must pass between main memory and the CPU at least: every input element read and every output
  // element written once (and read before, to be added to).
  double compulsory_bytes = 0;

  const Operand& out() const { return operands[result]; }
};

// Sizes and strides of the spec's operands. Batch stride = outer extent * leading dimension. InvalidArgument
// for a spec that is not a root spec of a matmul (every operand strided). It may have an epilogue, of which
// peers know nothing: they are asked for what is such as graphs.
absl::StatusOr<Workload> MakeWorkload(const Spec& spec, int threads);
Workload MakeWorkload(const Graph& graph, int threads);
absl::StatusOr<Workload> MakeWorkload(const KernelMember& kernel, int threads);

// Bytes that Place needs.
size_t PlacedBytes(const Workload& workload);

// Points the operands into `memory` (page-aligned, PlacedBytes long), as PlaceBuffers (arena.h) does.
void Place(void* memory, Workload& workload);

// The operands that engines have many sets of, as each layer has its own: the constant ones. Where there are
// none, a matmul's rhs; of a graph, the parameters that contractions have on the right. There may be none.
std::vector<size_t> Weights(const Workload& workload);

// So many copies of a placed workload whose weights, with the same values once CopyWeights was called, are
// elsewhere: in `memory`, page-aligned and RotatedBytes long.
size_t RotatedBytes(const Workload& workload, size_t copies);
std::vector<Workload> Rotated(const Workload& workload, size_t copies, void* memory);
void CopyWeights(const Workload& from, absl::Span<const Workload> to);

// The memory of the operands that are evicted before a cold call. And is what a contender has packed? That is
// made of the constant operands; where there are none, of a matmul's rhs, or of any input of a graph.
std::vector<absl::Span<const char>> EvictedMemory(const Workload& workload);
bool EvictsPacked(const Workload& workload);

// Fills the inputs with reproducible values: floats in [-1, 1), of integers bytes all that there are. Wider
// inputs of a matmul, and what is summed to an s16, are only so large that no s32 sum can overflow, and some
// of the s16 sums saturate; those of a graph are up to 2^15.
void FillInputs(const Workload& workload);

// What the output holds before a call: values to add to, or NaN (integers: -1) where they are to be
// overwritten.
void FillOutput(const Workload& workload);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_WORKLOAD_H_
