// SPDX-License-Identifier: Apache-2.0
// What was asked for, a spec, a graph or a family of either, as a function of a header: a kernel for every
// member, and one for each target.
#ifndef KIRSCH_CODEGEN_HEADER_HEADER_FUNCTION_H_
#define KIRSCH_CODEGEN_HEADER_HEADER_FUNCTION_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "codegen/header/header_file.h"
#include "codegen/lower.h"
#include "spec/language/family.h"
#include "spec/language/graph_family.h"
#include "spec/language/varying_size.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// The family's function, without variants yet.
HeaderFunction FunctionOf(const std::string& name, const SpecFamily& family);

// The same of a family of graphs. Its sizes have the user's names, with `_` behind those that other
// parameters have. `plans`: of each target those of all members.
using MemberPlans = std::vector<const Plan*>;
HeaderFunction FunctionOf(const std::string& name, const GraphFamily& family,
                          absl::Span<const MemberPlans> plans);

// Every member's kernel for `target`, from the members' programs, or plans, in their order. Entries are
// called <name>_m5_n8, by the sizes that vary. `always`: what each takes.
std::vector<LoopProgram> LowerMembers(const std::string& name, const SpecFamily& family,
                                      absl::Span<const Impl* const> members, const Target& target,
                                      const EntryParameters& always = {});
std::vector<LoopProgram> LowerMembers(const std::string& name, const GraphFamily& family,
                                      absl::Span<const Plan* const> members, const Target& target,
                                      const EntryParameters& always = {});

// A program that these members share, which differ in a size that it takes: their rows, or their keys.
struct SharedProgram {
  std::variant<const Impl*, const Plan*> program;
  std::vector<int64_t> members;
  std::vector<Parameter> parameters = {};  // of a spec, see EntryParameters::tensors
};

// The variant's kernels for `target`, each for all of its members: HeaderVariant::programs and program_of.
// `always`: what each takes. Entries are called after the first member, like <name>_m5_n8, or
// <name>_m5_n8_and_more.
void LowerShared(const std::string& name, const std::vector<VaryingSize>& sizes,
                 absl::Span<const SharedProgram> shared, const EntryParameters& always,
                 HeaderVariant* variant);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_HEADER_FUNCTION_H_
