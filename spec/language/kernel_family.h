// SPDX-License-Identifier: Apache-2.0
// Holds what a text asks for: a spec, a graph, or a family of either. A single kernel is a family of one, so
// that commands have one case.
#ifndef KIRSCH_SPEC_LANGUAGE_KERNEL_FAMILY_H_
#define KIRSCH_SPEC_LANGUAGE_KERNEL_FAMILY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spec/language/family.h"
#include "spec/language/graph_family.h"
#include "spec/language/varying_size.h"
#include "spec/parameter.h"

namespace kirsch {

// A kernel of a single size.
using KernelMember = std::variant<ParsedSpec, Graph>;

// Tests of families run no members whose callers pass more elements than this, but for a program's smallest.
inline constexpr int64_t kMostElementsTested = int64_t{1} << 24;

// The elements of all tensors that a caller passes.
int64_t CallersElements(const Spec& spec);
int64_t CallersElements(const Graph& graph);

// A value; thread-safe to read. All members are specs, or all are graphs.
class KernelFamily {
 public:
  KernelFamily() = default;
  KernelFamily(SpecFamily specs) : family_(std::move(specs)) {}     // NOLINT(google-explicit-constructor)
  KernelFamily(GraphFamily graphs) : family_(std::move(graphs)) {}  // NOLINT(google-explicit-constructor)

  // Null if the members are of the other kind.
  const SpecFamily* specs() const { return std::get_if<SpecFamily>(&family_); }
  const GraphFamily* graphs() const { return std::get_if<GraphFamily>(&family_); }

  const std::string& text() const;         // as the family has it
  std::vector<VaryingSize> sizes() const;  // those that have several values
  int64_t count() const;
  KernelMember member(int64_t index) const;  // 0 <= index < count(), the last size varying fastest
  // The parameters of a member's entry where its program does not have them (EntryParameters::tensors): of
  // specs. None for graphs.
  std::vector<Parameter> entry_tensors(int64_t index) const;

 private:
  std::variant<SpecFamily, GraphFamily> family_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_KERNEL_FAMILY_H_
