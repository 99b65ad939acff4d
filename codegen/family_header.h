// A family of sizes, of specs or of graphs, as one function of a header: a kernel for every member, and one
// for each target.
#ifndef KIRSCH_CODEGEN_FAMILY_HEADER_H_
#define KIRSCH_CODEGEN_FAMILY_HEADER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/header_file.h"
#include "spec/family.h"
#include "spec/graph_family.h"
#include "spec/impl.h"
#include "spec/plan.h"
#include "spec/target.h"

namespace kirsch {

// The family's function, without variants yet.
HeaderFunction FunctionOf(const std::string& name, const SpecFamily& family);

// Every member's kernel for `target`, from the members' programs in their order. Entries are called
// <name>_m5_n8, by the sizes that vary.
std::vector<LoopProgram> LowerMembers(const std::string& name, const SpecFamily& family,
                                      absl::Span<const Impl* const> impls, const Target& target);

// The same of a family of graphs. Its sizes have the user's names, with `_` behind those that other
// parameters have. `plans`: of each target those of all members.
using MemberPlans = std::vector<const Plan*>;
HeaderFunction FunctionOf(const std::string& name, const GraphFamily& family,
                          absl::Span<const MemberPlans> plans);
std::vector<LoopProgram> LowerMembers(const std::string& name, const GraphFamily& family,
                                      const MemberPlans& plans, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_FAMILY_HEADER_H_
