// SPDX-License-Identifier: Apache-2.0
// What was asked for, a spec, a graph or a family of either, as a function of a header: a kernel for every
// member, and one for each target.
#ifndef KIRSCH_CODEGEN_HEADER_HEADER_FUNCTION_H_
#define KIRSCH_CODEGEN_HEADER_HEADER_FUNCTION_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/header/header_file.h"
#include "codegen/lower.h"
#include "spec/language/kernel_family.h"
#include "spec/program/program_tree.h"
#include "spec/target.h"

namespace kirsch {

// The programs of all members of a family for one target, in their order.
using MemberPrograms = std::vector<const ProgramTree*>;

// The family's function, without variants yet. Its sizes have the user's names, with `_` behind those that
// other parameters have. `programs`: of each target; not looked at of specs.
HeaderFunction FunctionOf(const std::string& name, const KernelFamily& family,
                          absl::Span<const MemberPrograms> programs = {});

// Every member's kernel for `target`. Entries are called <name>_m5_n8, by the sizes that vary. `always`: what
// each takes.
std::vector<LoopProgram> LowerMembers(const std::string& name, const KernelFamily& family,
                                      const MemberPrograms& programs, const Target& target,
                                      const EntryParameters& always = {});

// A program that these members share, which differ in sizes that it takes: their rows, columns, keys and so
// on. `sizes`: which of the family's these are, in the program's order.
struct SharedProgram {
  const ProgramTree* program = nullptr;
  std::vector<int64_t> members;
  std::vector<size_t> sizes;
};

// The variant's kernels for its target, each for all of its members: HeaderVariant::programs, program_of and
// sizes_of.
// `always`: what each takes. Entries are called after the first member, like <name>_m5_n8, or
// <name>_m5_n8_and_more.
void LowerShared(const std::string& name, const KernelFamily& family, absl::Span<const SharedProgram> shared,
                 const EntryParameters& always, HeaderVariant* variant);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_HEADER_FUNCTION_H_
