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
// With more members that share programs, the self-test takes one in so many: about this many in all. That
// step is odd, so that the remainders of blocks differ from one tested member to the next. For 1000 members
// it is 15. Their samples are the larger part of a self-test.
constexpr int64_t kMembersTested = 64;
int64_t MembersPerTested(int64_t count) { return ((count - 1) / kMembersTested) | 1; }

// Returns `name`, with `_` behind it as long as another parameter of the function may be called so.
std::string FreeName(std::string name, absl::Span<const std::string> parameters) {
  constexpr std::array<std::string_view, 6> kOwn = {kThread,          kThreads,        kPhase,
                                                    "scratch_memory", "shared_memory", "out"};
  const auto taken = [&] {
    bool same = std::ranges::find(kOwn, name) != kOwn.end();
    for (const std::string& parameter : parameters) same |= name == parameter || name == Cat(parameter, "_");
    return same;
  };
  while (taken()) name += "_";
  return name;
}

// Names of tensors may get a `_` themselves (see FreeName in lower.cc), so a size avoids these names, too.
void SetSizes(const std::vector<VaryingSize>& sizes, absl::Span<const std::string> parameters,
              HeaderFunction* function) {
  function->sizes = sizes;
  for (VaryingSize& size : function->sizes) size.name = FreeName(size.name, parameters);
}

// Describes a function of a contraction: its members are what it is asked for.
void Describe(const SpecFamily& family, HeaderFunction* function) {
  function->text = family.text();
  for (int dim : family.varying())
    function->dims.emplace_back(kMatmulInfo.dims[static_cast<size_t>(dim)].name);
  std::vector<std::string> parameters;
  for (const Parameter& parameter : family.member(0).parameters) parameters.push_back(parameter.name);
  const std::vector<VaryingSize> sizes = family.varying_sizes();
  SetSizes(sizes, parameters, function);
  function->parameters = ParametersOf(family);
  const auto add = [](const ParsedSpec& member, std::vector<HeaderMember>* to) {
    to->push_back({member.spec, member.swapped});
  };
  const auto add_tested = [&](const ParsedSpec& member) {
    if (function->tested.empty() || CallersElements(member.spec) <= kMostElementsTested)
      add(member, &function->tested);
  };
  for (int64_t i = 0; i < family.count(); ++i) add(family.member(i), &function->members);
  // Without sampled sizes each member is tested that is not huge. Otherwise some are, each with a neighbour
  // between the samples, which runs the same program for a size that was not searched for.
  const bool sampled = std::ranges::any_of(sizes, &VaryingSize::sampled);
  const int64_t step = sampled ? MembersPerTested(family.count()) : 1;
  for (int64_t i = 0; i < family.count(); i += step) {
    add_tested(family.member(i));
    if (!sampled) continue;
    const std::vector<uint32_t> values = ValuesBetween(sizes, i);
    if (values != ValuesOf(sizes, i)) add_tested(family.MemberOf(values));
  }
}

// Says how many samples of the member the self-test has. Members that keep a plan, their own or their
// region's, are always among the tested ones, unless their tensors are huge.
SampleCount SamplesOf(const GraphFamily& family, int64_t member, bool has_plan) {
  if (member > 0 && CallersElements(family.member(member)) > kMostElementsTested) return SampleCount::kNone;
  if (family.count() <= kMembersSampledWell) return SampleCount::kNine;
  const bool tested = has_plan || member % MembersPerTested(family.count()) == 0;
  return tested ? SampleCount::kThree : SampleCount::kNone;
}

// Describes a function of a graph: its samples are computed by the reference, once for each member that is
// tested.
void Describe(const GraphFamily& family, absl::Span<const MemberPrograms> programs,
              HeaderFunction* function) {
  // Programs of graphs are plans.
  const auto plan = [&](size_t target, size_t member) -> const Plan& {
    return std::get<Plan>(*programs[target][member]);
  };
  const std::string only = PrintGraph(plan(0, 0).graph);  // the plan speaks of its values
  function->text = Cat("\n", family.count() > 1 ? family.text() : only);
  std::vector<std::string> parameters;
  for (int i = 0; i < family.member(0).num_inputs(); ++i) parameters.push_back(family.member(0).at(i).text);
  for (const GraphResult& result : family.member(0).results) parameters.push_back(result.name);
  SetSizes(family.sizes(), parameters, function);
  if (!function->sizes.empty()) function->ties = family.ties();
  function->parameters = ParametersOf(family, function->sizes);
  KeptElements kept;
  for (size_t i = 0; i < programs.front().size(); ++i) {
    std::map<int, int> winograd;  // of any target, the larger squares
    bool has_plan = false;
    for (size_t target = 0; target < programs.size(); ++target) {
      has_plan |= !plan(target, i).nests.empty();
      for (const auto& [node, tile] : WinogradConvolutions(plan(target, i)))
        winograd[node] = std::max(winograd[node], tile);
    }
    const auto member = static_cast<int64_t>(i);
    const SampleCount count = SamplesOf(family, member, has_plan);
    const auto add = [&](const Graph& graph, const std::vector<uint32_t>& values) {
      function->samples.push_back(MakeSamples(graph, winograd, count, kept));
      function->samples.back().sizes = values;
    };
    const std::vector<uint32_t> values = ValuesOf(family.sizes(), member);
    add(plan(0, i).graph, values);
    if (count == SampleCount::kNone || !winograd.empty()) continue;  // it names the plan's values
    if (const std::vector<uint32_t> between = ValuesBetween(family.sizes(), member); between != values)
      add(*family.MemberOf(between), between);
  }
}

}  // namespace

// A family has either graphs or specs.
HeaderFunction FunctionOf(const std::string& name, const KernelFamily& family,
                          absl::Span<const MemberPrograms> programs) {
  HeaderFunction function;
  function.name = name;
  if (family.graphs() != nullptr)
    Describe(*family.graphs(), programs, &function);
  else
    Describe(*family.specs(), &function);
  return function;
}

std::vector<LoopProgram> LowerMembers(const std::string& name, const KernelFamily& family,
                                      const MemberPrograms& programs, const Target& target,
                                      const EntryParameters& always) {
  const std::vector<VaryingSize> sizes = family.sizes();
  EntryParameters own = always;
  std::vector<LoopProgram> lowered;
  for (size_t i = 0; i < programs.size(); ++i) {
    own.tensors = family.entry_tensors(static_cast<int64_t>(i));
    lowered.push_back(Lower(*programs[i], target, MemberName(name, sizes, static_cast<int64_t>(i)), own));
  }
  return lowered;
}

void LowerShared(const std::string& name, const KernelFamily& family, absl::Span<const SharedProgram> shared,
                 const EntryParameters& always, HeaderVariant* variant) {
  const std::vector<VaryingSize> sizes = family.sizes();
  variant->program_of.resize(static_cast<size_t>(family.count()));
  EntryParameters own = always;
  for (const SharedProgram& one : shared) {
    const char* const more = one.members.size() > 1 ? "_and_more" : "";
    for (int64_t member : one.members)
      variant->program_of[static_cast<size_t>(member)] = variant->programs.size();
    own.tensors = family.entry_tensors(one.members.front());
    variant->sizes_of.push_back(one.sizes);
    variant->programs.push_back(
        Lower(*one.program, variant->target, MemberName(name, sizes, one.members.front()) + more, own));
  }
}

}  // namespace kirsch
