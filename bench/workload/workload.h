// SPDX-License-Identifier: Apache-2.0
// Describes one computation to be measured, a matmul or a graph, and its operands in a given piece of memory.
//
// The memory is mapped shared before any contender's process exists, so that all of them work on the very
// same physical pages. A workload is made in three steps:
//
//   MakeWorkload --> sizes and types --Place--> pointers into the arena --FillInputs, FillOutputs--> values
#ifndef KIRSCH_BENCH_WORKLOAD_WORKLOAD_H_
#define KIRSCH_BENCH_WORKLOAD_WORKLOAD_H_

#include <algorithm>
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

// A matmul or a graph, as peers are asked for it.
using Problem = KirschProblem;

// Matmuls and graphs differ in this type only; contenders, workers and rounds treat them alike.
struct Workload {
  // An input or an output.
  struct Operand {
    KirschType type;
    size_t elements;          // from the first to the end, gaps of the leading dimension included
    IntegerRange range = {};  // of the values of integers
    float scale = 1;          // of the values of floats
    void* values = nullptr;   // where Place puts it

    size_t bytes() const { return Bytes(type, elements); }
  };

  Problem problem = {};                // as peers are asked for it
  std::shared_ptr<KirschGraph> graph;  // that of `problem`; null: a matmul
  std::optional<Spec> spec;            // of a matmul; an epilogue is nowhere else
  std::vector<Operand> operands;       // as a kernel takes them
  std::vector<size_t> results;         // the numbers of the operands that are written
  uint64_t evicted = ~uint64_t{0};     // operands before a cold call: a bit each, bit 63 for all others
  double operations = 0;               // multiplications, additions, and whatever else graphs have
  // The bytes that must pass between main memory and the CPU at least. Every input element is read and every
  // output element is written once; the output is read as well if it is added to.
  double compulsory_bytes = 0;

  // Outputs are operands, though not always the last ones: those of a matmul's epilogue come behind it.
  const Operand& out() const { return operands[results.front()]; }
  bool IsResult(size_t operand) const {
    return std::find(results.begin(), results.end(), operand) != results.end();
  }
};

// Makes a workload of a matmul. A batch stride is the outer extent times the leading dimension. The spec may
// have an epilogue, of which peers know nothing: they are asked for such a spec as a graph. InvalidArgument
// for a spec that is not a root spec of a matmul, with every operand strided.
absl::StatusOr<Workload> MakeWorkload(const Spec& spec, int threads);
// Makes a workload of a graph, whose operands are its parameters and its results.
Workload MakeWorkload(const Graph& graph, int threads);
absl::StatusOr<Workload> MakeWorkload(const KernelMember& kernel, int threads);

// Returns the bytes that Place needs.
size_t PlacedBytes(const Workload& workload);

// Points the operands into `memory`, which is page-aligned and PlacedBytes long, as PlaceBuffers (arena.h)
// does.
void Place(void* memory, Workload& workload);

// Returns the numbers of the operands of which a network has many, one for each layer: the constant ones.
// Without any, a matmul's rhs, or the parameters of a graph that contractions have on the right. There may be
// none.
std::vector<size_t> Weights(const Spec& spec);
std::vector<size_t> Weights(const Graph& graph);

// Copies of a workload with other weights, for runs whose calls take several sets of weights in turn. Rotated
// makes `copies` of a placed workload. Their weights are in `memory`, which is page-aligned and RotatedBytes
// long, and get the same values when CopyWeights is called.
size_t RotatedBytes(const Workload& workload, size_t copies);
std::vector<Workload> Rotated(const Workload& workload, size_t copies, void* memory);
void CopyWeights(const Workload& from, absl::Span<const Workload> to);

// Returns the memory of the operands that are evicted before a cold call.
std::vector<absl::Span<const char>> EvictedMemory(const Workload& workload);
// True if a contender's packed operand is evicted, too. It is if the operand is evicted that it was made of:
// a constant one, or without constant operands a matmul's rhs or any input of a graph.
bool EvictsPacked(const Workload& workload);

// Fills the inputs with reproducible values. Floats are in [-1, 1). Bytes have all values there are. Wider
// integers of a matmul are so small that no s32 sum can overflow; sums for an s16 are such that some
// saturate. Wider integers of a graph are up to 2^15.
void FillInputs(const Workload& workload);

// Fills the outputs as they are before a call: with values to add to, or with NaN (integers: -1) if they are
// to be overwritten, so that an element that is not written shows.
void FillOutputs(const Workload& workload);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_WORKLOAD_H_
