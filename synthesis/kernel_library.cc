// SPDX-License-Identifier: Apache-2.0
#include "synthesis/kernel_library.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "codegen/header/header_function.h"
#include "memo/hash_memo.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "synthesis/cold_operands.h"

namespace kirsch {
namespace {

std::vector<const Impl*> ImplsOf(const FamilySynthesis& synthesis) {
  std::vector<const Impl*> impls;
  for (const Member& member : synthesis.members) impls.push_back(&std::get<Synthesis>(member).result.impl);
  return impls;
}

MemberPlans PlansOf(const FamilySynthesis& synthesis) {
  MemberPlans plans;
  for (const Member& member : synthesis.members)
    plans.push_back(&std::get<GraphSynthesis>(member).result.plan);
  return plans;
}

HeaderVariant SharingVariantOf(const std::string& name, const FamilySynthesis& synthesis,
                               const EntryParameters& always) {
  HeaderVariant variant{
      synthesis.target(), {}, 0, 0, "Sizes with the same decisions, and what these are:\n\n"};
  std::vector<SharedProgram> shared;
  for (size_t i = 0; i < synthesis.regions.list.size(); ++i) {
    const DispatchRange& region = synthesis.regions.list[i];
    if (synthesis.is_graph())
      shared.push_back({&synthesis.plans[i], region.members});
    else
      shared.push_back({&synthesis.shared[i], region.members,
                        synthesis.request.family.member(region.members.front()).parameters});
    Append(&variant.notes, RegionText(synthesis.regions, region), "\n  ", region.decision, "\n");
  }
  LowerShared(name, synthesis.regions.sizes, shared, always, &variant);
  return variant;
}

HeaderVariant VariantOf(const std::string& name, const FamilySynthesis& synthesis,
                        const EntryParameters& always) {
  if (synthesis.shares()) return SharingVariantOf(name, synthesis, always);
  const KernelRequest& request = synthesis.request;
  const Target& target = synthesis.target();
  HeaderVariant variant{target,
                        request.graph
                            ? LowerMembers(name, *request.graph, PlansOf(synthesis), target, always)
                            : LowerMembers(name, request.family, ImplsOf(synthesis), target, always),
                        0, 0, RegionPrograms(synthesis)};
  if (request.count() > 1) {
    variant.notes = Cat(request.graph ? "Sizes whose plans compute the same things together"
                                      : "Sizes with the same decisions",
                        ", and what these are:\n\n", variant.notes);
  } else if (request.graph) {
    variant.cycles = synthesis.graph(0).result.plan.cycles;
    variant.gflops = PredictedGflops(synthesis.graph(0));
  } else {
    const Synthesis& only = synthesis.spec(0);
    variant.cycles = ToCycles(only.result.cost);
    variant.gflops = PredictedGflops(only);
    variant.packing = {only.pack_cycles, only.unpacked_cycles};
  }
  return variant;
}

// Without variants yet.
HeaderFunction EmptyFunctionOf(const LibraryKernel& kernel) {
  const KernelRequest& request = kernel.request();
  if (request.graph) {
    std::vector<MemberPlans> plans;
    for (const FamilySynthesis& synthesis : kernel.variants) plans.push_back(PlansOf(synthesis));
    HeaderFunction function = FunctionOf(kernel.name(), *request.graph, plans);
    function.shared_size = kernel.variants.front().shared_size;
    return function;
  }
  HeaderFunction function = FunctionOf(kernel.name(), request.family);
  function.shared_size = kernel.variants.front().shared_size;
  return function;
}

// What predictions take for granted of the operands.
std::string ColdNote(const std::string& cold) {
  if (cold.empty()) return "";
  return Cat("\noperands taken to be in RAM when it starts: ", cold == kAllCold ? "all" : cold);
}

HeaderFunction FunctionOfKernel(const LibraryKernel& kernel, const EntryParameters& always) {
  HeaderFunction function = EmptyFunctionOf(kernel);
  function.text += ColdNote(kernel.variants.front().cold);
  const bool several = kernel.variants.size() > 1;
  std::vector<HeaderVariant> variants;
  for (const FamilySynthesis& synthesis : kernel.variants)
    variants.push_back(
        VariantOf(several ? Cat(kernel.name(), "_", IdentifierOf(synthesis.target().name)) : kernel.name(),
                  synthesis, always));
  function.variants = BestFirst(std::move(variants));
  // Without another to choose from, it is the function itself.
  if (several && !function.dispatched())
    for (const FamilySynthesis& synthesis : kernel.variants)
      if (synthesis.target().name == function.variants.front().target.name)
        function.variants = {VariantOf(kernel.name(), synthesis, always)};
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
    const auto memo = std::make_shared<HashMemo>();
    for (size_t i = 0; i < requests.size(); ++i) {
      SolveArguments own = arguments;
      if (requests.size() > 1)
        own.progress = Cat("kernel ", i + 1, " of ", requests.size(), ", ", requests[i].name, " for ",
                           target.name, ", ");
      absl::StatusOr<FamilySynthesis> solved =
          SolveFamily(own, requests[i], target, memo, budget, CodeSharing::kSizes);
      if (!solved.ok()) return solved.status();
      if (arguments.observer != nullptr) arguments.observer->Solved(*solved);
      library.kernels[i].variants.push_back(*std::move(solved));
    }
  }
  return library;
}

HeaderFile HeaderFileOf(const Library& library, const LibraryStyle& style) {
  HeaderFile file{library.name, style.mode, style.external, style.name_space, KIRSCH_VERSION, {}};
  file.dispatch = style.dispatch;
  file.command = style.command;
  EntryParameters always = style.always;
  always.scratch |= library.kernels.size() > 1;
  for (const LibraryKernel& kernel : library.kernels)
    file.functions.push_back(FunctionOfKernel(kernel, always));
  return file;
}

}  // namespace kirsch
