#include "tools/library.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "codegen/family_header.h"
#include "memo/hash_memo.h"
#include "spec/cat.h"
#include "spec/identifier.h"
#include "spec/schedule.h"
#include "tools/output.h"

namespace kirsch {
namespace {

const Target& TargetOf(const FamilySynthesis& synthesis) { return synthesis.members.front().target; }

bool IsFamily(const FamilySynthesis& synthesis) { return synthesis.family.count() > 1; }

HeaderVariant VariantOf(const std::string& name, const FamilySynthesis& synthesis) {
  std::vector<const Impl*> impls;
  for (const Synthesis& member : synthesis.members) impls.push_back(&member.result.impl);
  const Target& target = TargetOf(synthesis);
  HeaderVariant variant{target, LowerMembers(name, synthesis.family, impls, target), 0, 0, ""};
  if (IsFamily(synthesis)) {
    variant.notes = Cat("Sizes with the same decisions, and what these are:\n\n", RegionSchedules(synthesis));
  } else {
    const Synthesis& only = synthesis.members.front();
    variant.cycles = ToCycles(only.result.cost);
    variant.gflops = PredictedGflops(only);
    variant.packing = {only.pack_cycles, only.unpacked_cycles};
    variant.notes = PrintSchedule(only.result.impl);
  }
  return variant;
}

std::string VariantName(const LibraryKernel& kernel, size_t variants, const Target& target) {
  return variants > 1 ? Cat(kernel.name, "_", IdentifierOf(target.name)) : kernel.name;
}

HeaderFunction FunctionOfKernel(const LibraryKernel& kernel) {
  if (kernel.is_graph()) return FunctionOf(kernel.name, kernel.graphs);
  HeaderFunction function = FunctionOf(kernel.name, kernel.variants.front().family);
  if (!kernel.operands.empty()) Append(&function.text, "\n", kernel.operands);
  std::vector<HeaderVariant> variants;
  for (const FamilySynthesis& synthesis : kernel.variants)
    variants.push_back(
        VariantOf(VariantName(kernel, kernel.variants.size(), TargetOf(synthesis)), synthesis));
  function.variants = BestFirst(std::move(variants));
  // Without another to choose from, it is the function itself.
  if (kernel.variants.size() > 1 && !function.dispatched())
    for (const FamilySynthesis& synthesis : kernel.variants)
      if (TargetOf(synthesis).name == function.variants.front().target.name)
        function.variants = {VariantOf(kernel.name, synthesis)};
  return function;
}

nlohmann::ordered_json JsonOf(const FamilySynthesis& synthesis) {
  return IsFamily(synthesis) ? FamilyJson(synthesis) : SynthesisJson(synthesis.members.front());
}

void PrintSummaryOf(const FamilySynthesis& synthesis) {
  if (IsFamily(synthesis)) return PrintFamilySummary(synthesis);
  PrintSummary(synthesis.members.front());
}

}  // namespace

absl::StatusOr<Library> SolveLibrary(const SolveArguments& arguments, const std::string& name,
                                     absl::Span<const KernelRequest> requests,
                                     absl::Span<const Target> targets) {
  SearchBudget budget(arguments.time_budget);
  Library library{name, {}, {targets.begin(), targets.end()}};
  for (const KernelRequest& request : requests)
    library.kernels.push_back({request.name, request.operands, {}, {}});
  for (const Target& target : targets) {
    const auto memo = std::make_shared<HashMemo>();
    for (size_t i = 0; i < requests.size(); ++i) {
      SolveArguments own = arguments;
      if (requests.size() > 1) own.progress = Cat(requests[i].name, " for ", target.name, ", ");
      if (requests[i].graph) {
        absl::StatusOr<GraphFamilySynthesis> solved =
            SolveGraphFamily(own, *requests[i].graph, requests[i].source, target, memo, budget);
        if (!solved.ok()) return solved.status();
        PrintGraphFamilySummary(*solved);
        library.kernels[i].graphs.push_back(*std::move(solved));
        continue;
      }
      absl::StatusOr<FamilySynthesis> solved = SolveFamily(own, requests[i].family, target, memo, budget);
      if (!solved.ok()) return solved.status();
      PrintSummaryOf(*solved);
      library.kernels[i].variants.push_back(*std::move(solved));
    }
  }
  return library;
}

HeaderFile HeaderFileOf(const Library& library, const LibraryStyle& style) {
  HeaderFile file{library.name, style.mode, style.external, style.name_space, KIRSCH_VERSION, {}};
  for (const LibraryKernel& kernel : library.kernels) {
    file.functions.push_back(FunctionOfKernel(kernel));
    file.functions.back().uniform = library.kernels.size() > 1;
  }
  return file;
}

void PrintLeftOut(const Library& library, const HeaderFile& file) {
  for (const Target& target : library.targets) {
    const std::string& name = target.name;
    const auto without =
        std::count_if(file.functions.begin(), file.functions.end(), [&](const HeaderFunction& function) {
          return std::none_of(function.variants.begin(), function.variants.end(),
                              [&](const HeaderVariant& variant) { return variant.target.name == name; });
        });
    if (without > 0)
      PrintRemark(Cat(without, " of ", file.functions.size(), " kernels without code for ", name,
                      ": wherever that runs, another target's, which is tried before, does too"));
  }
}

nlohmann::ordered_json LibraryJson(const Library& library) {
  if (library.kernels.size() == 1 && library.targets.size() == 1) {
    const LibraryKernel& only = library.kernels.front();
    return only.is_graph() ? GraphFamilyJson(only.graphs.front()) : JsonOf(only.variants.front());
  }
  nlohmann::ordered_json json = {
      {"name", library.name}, {"version", KIRSCH_VERSION}, {"kernels", nlohmann::ordered_json::array()}};
  const auto add = [&](const LibraryKernel& kernel, const nlohmann::ordered_json& keys) {
    nlohmann::ordered_json entry = {{"name", kernel.name}};
    entry.update(keys);
    json["kernels"].push_back(std::move(entry));
  };
  for (const LibraryKernel& kernel : library.kernels) {
    for (const FamilySynthesis& synthesis : kernel.variants) add(kernel, JsonOf(synthesis));
    for (const GraphFamilySynthesis& synthesis : kernel.graphs) add(kernel, GraphFamilyJson(synthesis));
  }
  return json;
}

}  // namespace kirsch
