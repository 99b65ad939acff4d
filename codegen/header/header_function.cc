// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/header_function.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "codegen/header/parameter_text.h"
#include "codegen/samples/graph_samples.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// With more members, the self-test has fewer samples of each.
constexpr int64_t kMembersSampledWell = 16;

// `name`, unless another parameter of the function may be called so.
std::string FreeName(std::string name, absl::Span<const std::string> parameters) {
  constexpr std::array<std::string_view, 6> kOwn = {kThread,          kThreads,        kPhase,
                                                    "scratch_memory", "shared_memory", "out"};
  const auto taken = [&] {
    bool same = std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
    for (const std::string& parameter : parameters) same |= name == parameter || name == Cat(parameter, "_");
    return same;
  };
  while (taken()) name += "_";
  return name;
}

void FreeNames(absl::Span<const std::string> parameters, std::vector<VaryingSize>* sizes) {
  for (VaryingSize& size : *sizes) size.name = FreeName(size.name, parameters);
}

}  // namespace

HeaderFunction FunctionOf(const std::string& name, const SpecFamily& family) {
  HeaderFunction function;
  function.name = name;
  function.text = family.text();
  function.sizes = family.varying_sizes();
  for (int dim : family.varying())
    function.dims.emplace_back(kMatmulInfo.dims[static_cast<size_t>(dim)].name);
  std::vector<std::string> parameters;
  for (const Parameter& parameter : family.member(0).parameters) parameters.push_back(parameter.name);
  FreeNames(parameters, &function.sizes);
  function.parameters = ParametersOf(family);
  for (int64_t i = 0; i < family.count(); ++i) {
    const ParsedSpec member = family.member(i);
    function.members.push_back({member.spec, member.swapped});
  }
  return function;
}

HeaderFunction FunctionOf(const std::string& name, const GraphFamily& family,
                          absl::Span<const MemberPlans> plans) {
  HeaderFunction function;
  function.name = name;
  const std::string only = PrintGraph(plans.front().front()->graph);  // the plan speaks of its values
  function.text = Cat("\n", family.count() > 1 ? family.text() : only);
  function.sizes = family.sizes();
  std::vector<std::string> parameters;
  for (int i = 0; i < family.member(0).num_inputs(); ++i) parameters.push_back(family.member(0).at(i).text);
  FreeNames(parameters, &function.sizes);
  function.parameters = ParametersOf(family, function.sizes);
  const bool few = family.count() > kMembersSampledWell;
  for (size_t i = 0; i < plans.front().size(); ++i) {
    std::map<int, int> winograd;  // of any target, the larger squares
    for (const MemberPlans& members : plans)
      for (const auto& [node, tile] : WinogradConvolutions(*members[i]))
        winograd[node] = std::max(winograd[node], tile);
    function.samples.push_back(SamplesOf(plans.front()[i]->graph, winograd, few));
  }
  return function;
}

std::vector<LoopProgram> LowerMembers(const std::string& name, const SpecFamily& family,
                                      absl::Span<const Impl* const> members, const Target& target,
                                      const EntryParameters& always) {
  const std::vector<VaryingSize> sizes = family.varying_sizes();
  EntryParameters own = always;
  std::vector<LoopProgram> programs;
  for (size_t i = 0; i < members.size(); ++i) {
    own.tensors = family.member(static_cast<int64_t>(i)).parameters;
    programs.push_back(Lower(*members[i], target, MemberName(name, sizes, static_cast<int64_t>(i)), own));
  }
  return programs;
}

std::vector<LoopProgram> LowerMembers(const std::string& name, const GraphFamily& family,
                                      absl::Span<const Plan* const> members, const Target& target,
                                      const EntryParameters& always) {
  std::vector<LoopProgram> programs;
  for (size_t i = 0; i < members.size(); ++i)
    programs.push_back(
        Lower(*members[i], target, MemberName(name, family.sizes(), static_cast<int64_t>(i)), always));
  return programs;
}

void LowerShared(const std::string& name, const std::vector<VaryingSize>& sizes,
                 absl::Span<const SharedProgram> shared, const EntryParameters& always,
                 HeaderVariant* variant) {
  variant->program_of.resize(static_cast<size_t>(CountMembers(sizes)));
  for (const SharedProgram& one : shared) {
    const char* const more = one.members.size() > 1 ? "_and_more" : "";
    for (int64_t member : one.members)
      variant->program_of[static_cast<size_t>(member)] = variant->programs.size();
    const std::string entry = MemberName(name, sizes, one.members.front()) + more;
    EntryParameters own = always;
    own.tensors = one.parameters;
    variant->programs.push_back(std::visit(
        [&](const auto* program) { return Lower(*program, variant->target, entry, own); }, one.program));
  }
}

}  // namespace kirsch
