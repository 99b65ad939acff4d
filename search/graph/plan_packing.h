// SPDX-License-Identifier: Apache-2.0
// Says how a plan packs the constant parameters of its graph. Plans of several graphs, the members of a
// family, have the same constants; here they are also made to pack them alike.
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

// Matrices of a constant in another layout. The same bytes may be an lhs, or the rhs of the transposed
// problem: copies are stated as of the rhs.
struct MatrixCopy {
  int64_t outer = 0, inner = 0;  // elements of a matrix
  Layout from;                   // its `ld` is 0: it is the constant's
  int64_t offset = 0;            // of the first matrix in the constant, in elements
  int64_t count = 1, every = 0;  // of matrices, and elements from one to the next; 0: there is one
  Layout to;
  Dtype dtype = Dtype::kF32;  // the copy's

  friend auto operator<=>(const MatrixCopy&, const MatrixCopy&) = default;
};

// The constant as its caller has it, gaps between rows included.
struct PlainCopy {
  friend auto operator<=>(const PlainCopy&, const PlainCopy&) = default;
};

// Something made of a constant ahead of all calls. A TransformShape is for no node in particular. Copies that
// are equal are the same bytes, whatever the other sizes of the kernels that read them.
using PackedCopy = std::variant<MatrixCopy, PlainCopy, TransformShape>;
using CopiesOfConstant = std::set<PackedCopy>;

// Copies by the numbers of the parameters. Nothing is said of parameters that it lacks: any copy may be made
// of them.
using PlanPacking = std::map<int, CopiesOfConstant>;

// Returns what a stage makes ahead.
PackedCopy CopyMadeBy(const Stage& prepack);
// Returns what a stage that packs (kPack) would make if `pack` were its decision.
PackedCopy CopyMadeBy(const Stage& prepack, const Decision& pack, const Target& target);

// Prints a copy for people, such as "512x2048 row as packed16 f32".
std::string PrintCopy(const PackedCopy& copy);
// Prints each copy; the texts are sorted.
std::vector<std::string> PrintCopies(const CopiesOfConstant& copies);

// Returns all copies that the plan makes, of each constant parameter and of each value that is computed
// ahead.
PlanPacking FindPacking(const Plan& plan);

// Prints a packing: "w 512x2048 row as packed16 f32; b as it is". A value computed ahead is called what it
// is: "cast(w)".
std::string PrintPacking(const PlanPacking& packing, const Graph& graph);

// Gives all plans one packed buffer. It has whatever any of them reads, each copy once, in the same place for
// all. The graphs must have the same constant parameters.
void SharePacking(absl::Span<Plan* const> plans);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_PLAN_PACKING_H_
