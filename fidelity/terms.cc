#include "fidelity/terms.h"

#include <algorithm>
#include <string_view>

#include "cost/microkernel_cost.h"
#include "rewrites/rewrite.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

std::string MicrokernelTerm(const Spec& spec, const Expansion& expansion, const Target& target) {
  const RegisterTile tile = RegisterTileOf(spec, spec.out().layout, target);
  std::string term(TripCyclesOf(tile, UnitWithLanes(target, tile.lanes), target).bottleneck());
  Level slowest = Level::kL1;
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_transfers); ++i)
    slowest = std::max(slowest, expansion.transfers[i].from);
  return slowest == Level::kL1 ? term : Cat(term, " ", Name(slowest));
}

std::string TermOf(const Impl& impl, const Expansion& expansion, const Target& target) {
  const Decision& decision = impl.decision;
  switch (decision.kind) {
    case RewriteKind::kTile:
      return "tile";
    case RewriteKind::kParallelTile:
      return "parallel";
    case RewriteKind::kMove:
      return decision.level == Level::kVrf ? "store"
                                           : Cat("move ", Name(impl.spec.tensor(decision.operand).level));
    case RewriteKind::kPack:
      return Cat("pack ", Name(decision.level));
    case RewriteKind::kMicrokernel:
      return MicrokernelTerm(impl.spec, expansion, target);
    case RewriteKind::kNone:
      break;
  }
  return "none";
}

void Add(const Impl& impl, double runs, const CostModel& model, Terms* terms) {
  Expansion expansion;
  Expand(impl.spec, impl.decision, model.target(), &expansion);
  (*terms)[TermOf(impl, expansion, model.target())] +=
      runs * ToCycles(model.Base(impl.spec, impl.decision, expansion));
  for (size_t i = 0; i < impl.children.size(); ++i)
    Add(impl.children[i].impl, runs * static_cast<double>(expansion.children[i].weight), model, terms);
}

std::string_view TermOf(StageKind kind) {
  switch (kind) {
    case StageKind::kContraction:
      return "fetch";
    case StageKind::kPack:
      return "pack";
    case StageKind::kRows:
      return "rows";
    case StageKind::kPad:
      return "pad";
    case StageKind::kTranspose:
      return "transpose";
    case StageKind::kTransform:
      return "transform";
  }
  return "none";
}

void Add(const Stage& stage, double runs, const CostModel& model, Terms* terms) {
  double rest = stage.cycles;
  if (stage.kind == StageKind::kContraction) {
    Terms program;
    Add(stage.impl, static_cast<double>(stage.repeats), model, &program);
    for (const auto& [term, cycles] : program) {
      (*terms)[term] += runs * cycles;
      rest -= cycles;
    }
  }
  if (rest > 1e-6 * stage.cycles) (*terms)[std::string(TermOf(stage.kind))] += runs * rest;
}

}  // namespace

Terms TermsOf(const Impl& impl, const CostModel& model) {
  Terms terms;
  Add(impl, 1, model, &terms);
  return terms;
}

Terms TermsOf(const Plan& plan, const CostModel& model) {
  Terms terms;
  for (const Group& group : plan.groups) {
    const auto batch = static_cast<double>(group.batch);
    for (const Stage& stage : group.before) Add(stage, 1, model, &terms);
    for (const Stage& stage : group.once) Add(stage, batch, model, &terms);
    for (const Stage& stage : group.stages)
      Add(stage, batch * static_cast<double>(group.trips()), model, &terms);
    for (const Stage& stage : group.rest) Add(stage, batch, model, &terms);
  }
  return terms;
}

}  // namespace kirsch
