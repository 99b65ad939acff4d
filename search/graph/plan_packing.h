// SPDX-License-Identifier: Apache-2.0
// How a plan packs the constant parameters of its graph; and that plans of several graphs, the members of a
// family, which have the same ones, pack them alike.
#ifndef KIRSCH_SEARCH_GRAPH_PLAN_PACKING_H_
#define KIRSCH_SEARCH_GRAPH_PLAN_PACKING_H_

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "spec/decision.h"
#include "spec/dtype.h"
#include "spec/layout.h"
#include "spec/program/plan.h"
#include "spec/target.h"
#include "spec/winograd.h"

namespace kirsch {

// Matrices of a constant in another layout. The same bytes are an lhs, or the rhs of the transposed problem:
// this is the latter.
struct MatrixCopy {
  int64_t outer = 0, inner = 0;  // elements of a matrix
  Layout from;                   // its `ld` is 0: it is the constant's
  int64_t offset = 0;            // of the first matrix in the constant, in elements
  int64_t count = 1, every = 0;  // of matrices, and elements from one to the next; 0: there is one
  Layout to;
  Dtype dtype = Dtype::kF32;  // the copy's

  friend auto operator<=>(const MatrixCopy&, const MatrixCopy&) = default;
};

// The constant as its caller has it.
struct PlainCopy {
  friend auto operator<=>(const PlainCopy&, const PlainCopy&) = default;
};

// What is made of a constant ahead of all calls; a TransformShape for no node in particular. Copies that are
// equal are the same bytes, whatever the other sizes of the kernels that read them.
using PackedCopy = std::variant<MatrixCopy, PlainCopy, TransformShape>;
using CopiesOfConstant = std::set<PackedCopy>;

// By the numbers of the parameters; of those that it lacks nothing is said.
using PlanPacking = std::map<int, CopiesOfConstant>;

// What a stage makes ahead.
PackedCopy CopyMadeBy(const Stage& prepack);
// The same of one that packs (kPack), if `pack` were its decision.
PackedCopy CopyMadeBy(const Stage& prepack, const Decision& pack, const Target& target);

// "512x2048 row as packed16 f32".
std::string PrintCopy(const PackedCopy& copy);
// Of each, in the order of the alphabet.
std::vector<std::string> PrintCopies(const CopiesOfConstant& copies);

// All that the plan packs, of each parameter that is constant.
PlanPacking FindPacking(const Plan& plan);

// The operations of the plan's graph that are constant-folded, ascending.
std::vector<int> FoldedOperations(const Plan& plan);

// "w 512x2048 row as packed16 f32; b as it is", of what is computed ahead "cast(w)" instead of a name.
std::string PrintPacking(const PlanPacking& packing, const Graph& graph);

// Gives all plans one packed buffer: what any of them reads is in it, each copy once, in the same place. The
// graphs have the same constant parameters.
void SharePacking(absl::Span<Plan* const> plans);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_PLAN_PACKING_H_
