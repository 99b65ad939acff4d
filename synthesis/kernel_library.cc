// SPDX-License-Identifier: Apache-2.0
#include "synthesis/kernel_library.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "codegen/header/header_function.h"
#include "memo/hash_memo.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"
#include "synthesis/cold_operands.h"

namespace kirsch {
namespace {

// The code of a family whose members share programs: one function for each region, which takes sizes. The
// header's comment lists the regions, and what neighbours decide alike once.
HeaderVariant MakeSharingVariant(const std::string& name, const FamilySynthesis& synthesis,
                                 const EntryParameters& always) {
  HeaderVariant variant{
      synthesis.target(), {}, 0, 0, "Sizes with the same decisions, and what these are:\n\n"};
  std::vector<SharedProgram> shared;
  for (size_t i = 0; i < synthesis.regions.list.size(); ++i) {
    const Region& region = synthesis.regions.list[i];
    shared.push_back({&synthesis.shared[i], region.members, synthesis.sizes_of_shared[i]});
    Append(&variant.notes, RegionText(synthesis.regions, region), "\n");
    const Region* const next = i + 1 < synthesis.regions.list.size() ? &region + 1 : nullptr;
    if (next == nullptr || next->decision != region.decision)
      Append(&variant.notes, "  ", region.decision, "\n");
  }
  LowerShared(name, synthesis.request.family, shared, always, &variant);
  return variant;
}

// The code of one kernel for one target. `name` is that of its functions.
HeaderVariant MakeVariant(const std::string& name, const FamilySynthesis& synthesis,
                          const EntryParameters& always) {
  if (synthesis.shares()) return MakeSharingVariant(name, synthesis, always);
  const Target& target = synthesis.target();
  HeaderVariant variant{target,
                        LowerMembers(name, synthesis.request.family, synthesis.programs(), target, always), 0,
                        0, RegionPrograms(synthesis)};
  const Synthesis& first = synthesis.members.front();  // of a single kernel, all there is
  if (synthesis.members.size() > 1) {
    variant.notes =
        Cat(std::holds_alternative<Plan>(first.program) ? "Sizes whose plans compute the same things together"
                                                        : "Sizes with the same decisions",
            ", and what these are:\n\n", variant.notes);
  } else {
    variant.cycles = first.cycles;
    variant.gflops = first.gflops();
    variant.packing = {first.pack_cycles, first.unpacked_cycles};
  }
  return variant;
}

// The header's comment says which operands predictions take to be in RAM.
std::string ColdNote(const std::string& cold) {
  if (cold.empty()) return "";
  return Cat("\noperands taken to be in RAM when it starts: ", cold == kAllCold ? "all" : cold);
}

// The public function of a kernel, with a variant for each target whose code may be chosen. With several
// targets, the functions of each have its name in theirs: softmax_haswell, softmax_znver4.
HeaderFunction FunctionOfKernel(const LibraryKernel& kernel, const EntryParameters& always) {
  std::vector<MemberPrograms> programs;
  for (const FamilySynthesis& synthesis : kernel.variants) programs.push_back(synthesis.programs());
  HeaderFunction function = FunctionOf(kernel.name(), kernel.request().family, programs);
  function.text += ColdNote(kernel.variants.front().cold);
  const bool several = kernel.variants.size() > 1;
  std::vector<HeaderVariant> variants;
  for (const FamilySynthesis& synthesis : kernel.variants)
    variants.push_back(MakeVariant(
        several ? Cat(kernel.name(), "_", MakeIdentifier(synthesis.target().name)) : kernel.name(), synthesis,
        always));
  function.variants = BestFirst(std::move(variants));
  // If one variant is left and nothing chooses among sizes, the variant is the public function itself. So it
  // is made again, under the kernel's own name.
  if (several && !function.dispatched())
    for (const FamilySynthesis& synthesis : kernel.variants)
      if (synthesis.target().name == function.variants.front().target.name)
        function.variants = {MakeVariant(kernel.name(), synthesis, always)};
  return function;
}

}  // namespace

absl::StatusOr<Library> SolveLibrary(const SolveArguments& arguments, const std::string& name,
                                     absl::Span<const KernelRequest> requests,
                                     absl::Span<const Target> targets) {
  SearchBudget budget(arguments.time_budget);
  Library library{name, {}, {targets.begin(), targets.end()}};
  if (!arguments.schedule.empty() && (requests.size() > 1 || targets.size() > 1)) return NotPinned();
  library.kernels.resize(requests.size());
  for (const Target& target : targets) {
    // A memo holds for one target only, as costs are the target's.
    const auto memo = std::make_shared<HashMemo>();
    for (size_t i = 0; i < requests.size(); ++i) {
      SolveArguments own = arguments;
      if (requests.size() > 1)
        own.progress = Cat("kernel ", i + 1, " of ", requests.size(), ", ", requests[i].name, " for ",
                           target.name, ", ");
      KIRSCH_ASSIGN_OR_RETURN(FamilySynthesis solved,
                              SolveFamily(own, requests[i], target, memo, budget, CodeSharing::kSizes));
      if (arguments.observer != nullptr) arguments.observer->Solved(solved);
      library.kernels[i].variants.push_back(std::move(solved));
    }
  }
  return library;
}

HeaderFile MakeHeaderFile(const Library& library, const LibraryStyle& style) {
  HeaderFile file{library.name, style.mode, style.external, style.name_space, KIRSCH_VERSION, {}};
  file.dispatch = style.dispatch;
  file.command = style.command;
  EntryParameters always = style.always;
  // With several kernels, each function takes scratch memory, whether it needs any or not.
  always.scratch |= library.kernels.size() > 1;
  for (const LibraryKernel& kernel : library.kernels)
    file.functions.push_back(FunctionOfKernel(kernel, always));
  return file;
}

}  // namespace kirsch
