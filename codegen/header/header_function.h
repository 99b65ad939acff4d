// SPDX-License-Identifier: Apache-2.0
// Makes a function of a header from what was asked for: a spec, a graph, or a family of either. It has a
// kernel for every member, and one for each target.
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

// The programs of all members of a family for one target, in the members' order. Owned by the caller.
using MemberPrograms = std::vector<const ProgramTree*>;

// Returns the family's function, without variants yet. Its sizes have the user's names; a `_` is put behind
// those that other parameters have. `programs`: of each target, for graphs only. Their plans tell the
// self-test which members to test, and which convolutions go by Winograd's algorithm.
HeaderFunction FunctionOf(const std::string& name, const KernelFamily& family,
                          absl::Span<const MemberPrograms> programs = {});

// Returns every member's kernel for `target`. Entries are called <name>_m5_n8, by the sizes that vary.
// `always`: the parameters that each of them takes.
std::vector<LoopProgram> LowerMembers(const std::string& name, const KernelFamily& family,
                                      const MemberPrograms& programs, const Target& target,
                                      const EntryParameters& always = {});

// A program that several members share. They differ in sizes that it takes: their rows, columns, keys and so
// on. `sizes`: which of the family's sizes these are, in the program's order.
struct SharedProgram {
  const ProgramTree* program = nullptr;
  std::vector<int64_t> members;
  std::vector<SizeSum> sizes;
};

// Sets the variant's kernels for its target, each for all of its members: HeaderVariant::programs, program_of
// and sizes_of. `always`: the parameters that each takes. Entries are called after the first member:
// <name>_m5_n8, or <name>_m5_n8_and_more.
void LowerShared(const std::string& name, const KernelFamily& family, absl::Span<const SharedProgram> shared,
                 const EntryParameters& always, HeaderVariant* variant);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_HEADER_FUNCTION_H_
