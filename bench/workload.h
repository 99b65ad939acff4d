// One matmul to be measured: a root spec, and its operands in a given piece of memory. The memory is
// mapped shared before any contender's process exists, so that all of them work on the very same physical
// pages.
#ifndef KIRSCH_BENCH_WORKLOAD_H_
#define KIRSCH_BENCH_WORKLOAD_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/peers/peer.h"
#include "spec/spec.h"

namespace kirsch {

using Problem = KirschProblem;

// Our kernels: operands as the spec has them, `scratch` 64-byte aligned and per thread; called by each of
// `n_threads` threads with its own number.
using KernelFn = void (*)(const void* lhs, const void* rhs, void* out, void* scratch, size_t thread,
                          size_t n_threads);

// Packs an operand for one of them, into 64-byte aligned memory.
using PackFn = void (*)(const void* operand, void* packed);

// Sizes and strides of the spec's operands, pointers still null. Batch stride = outer extent * leading
// dimension. InvalidArgument for a spec that is not a root spec of a matmul (every operand strided).
absl::StatusOr<Problem> MakeProblem(const Spec& spec, int threads);

// Elements from an operand's first to its end, gaps of the leading dimension included.
size_t LhsElements(const Problem& problem);
size_t RhsElements(const Problem& problem);
size_t OutElements(const Problem& problem);

// Bytes that Place needs.
size_t PlacedBytes(const Problem& problem);

// Points the operands into `memory` (page-aligned, PlacedBytes long), as PlaceBuffers (arena.h) does.
void Place(void* memory, Problem& problem);

// The memory of lhs, rhs and out.
std::vector<absl::Span<const char>> OperandMemory(const Problem& problem);

// Fills the inputs with reproducible values: floats in [-1, 1), integers all that the type has, but s32 and
// what is summed to an s16 only so large that no s32 sum can overflow, and some of the s16 sums saturate.
void FillInputs(const Problem& problem);

// What the output holds before a call: values to add to, or NaN (integers: -1) where they are to be
// overwritten.
void FillOutput(const Problem& problem);

// Multiplications and additions.
double Flops(const Problem& problem);

// What must pass between main memory and the CPU at least: every input element read and every output element
// written once (and read before, to be added to).
double CompulsoryBytes(const Problem& problem);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_H_
