// SPDX-License-Identifier: Apache-2.0
#include "fidelity/terms.h"

#include <algorithm>
#include <string_view>

#include "cost/microkernel_cost.h"
#include "cost/tile_facts.h"
#include "rewrites/spec/rewrite.h"
#include "spec/check.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

std::string_view FormName(LayoutKind form) {
  if (form == LayoutKind::kPartialSums) return "sums";
  if (form == LayoutKind::kTiles) return "tiles";
  return form == LayoutKind::kLanewise ? "lanewise" : "vectors";
}

// Adds the cost of one node to the terms, `runs` times. Only its own cost: its children are nodes of their
// own.
class NodeTerms {
 public:
  NodeTerms(const Impl& impl, const Expansion& expansion, double runs, const CostModel& model, Terms* terms)
      : impl_(impl),
        expansion_(expansion),
        target_(model.target()),
        base_(ToCycles(model.Base(impl.spec, impl.decision, expansion))),
        runs_(runs),
        terms_(*terms) {}

  void Add() {
    switch (impl_.decision.kind) {
      case RewriteKind::kTile:
        return Add("tile", base_);
      case RewriteKind::kParallelTile:
        return Add("parallel", base_);
      case RewriteKind::kPack:
        return Add(Cat("pack ", Name(impl_.decision.level)), base_);
      case RewriteKind::kMove:
        return AddMove();
      case RewriteKind::kMicrokernel:
        return AddMicrokernel();
      case RewriteKind::kNone:
        break;
    }
    KIRSCH_BUG("no such rewrite");
  }

 private:
  void Add(const std::string& term, double cycles) {
    if (cycles != 0) terms_[term] += runs_ * cycles;
  }

  // Adds the part of a node's cost that is not the code of a tile. It is named after the slowest level of its
  // transfers. Without transfers it is loops around the trips.
  void AddWait(double cycles) {
    if (expansion_.num_transfers == 0) return Add("entry", cycles);  // loops around the trips
    Level slowest = Level::kVrf;
    for (size_t i = 0; i < static_cast<size_t>(expansion_.num_transfers); ++i)
      slowest = std::max(slowest, expansion_.transfers[i].from);
    Add(Cat("wait ", Name(slowest)), cycles);
  }

  // A move to registers is a register tile's load and store. The cost of any move that is beyond this is
  // waiting.
  void AddMove() {
    double tile_cycles = 0;
    if (impl_.decision.level == Level::kVrf) {
      const RegisterTile tile = RegisterTileOf(impl_.spec, impl_.decision.layout, target_);
      const VectorUnit& unit = UnitOf(target_, tile);
      const bool masked = ExtentOf(impl_.spec, impl_.decision.operand).inner % tile.lanes != 0;
      tile_cycles = OutputTileCycles(tile, impl_.spec.accumulate, masked, unit) +
                    EpilogueCycles(impl_.spec, tile, unit);
      Add(masked ? "store masked" : "store", tile_cycles);
    }
    if (base_ > tile_cycles) AddWait(base_ - tile_cycles);
  }

  // Splits a microkernel into its trips, its entry, and waiting. Each part is limited by what is left of the
  // cost.
  void AddMicrokernel() {
    const RegisterTile tile = RegisterTileOf(impl_.spec, impl_.spec.out().layout, target_);
    const VectorUnit& unit = UnitOf(target_, tile);
    const auto steps = static_cast<int64_t>(ReductionSteps(impl_.spec));
    const TripCycles trip = TripCyclesOf(tile, unit, target_);
    const double trips = std::min(base_, static_cast<double>(TripsOf(tile, steps)) * trip.total());
    const double entry = std::min(base_, MicrokernelCycles(tile, steps, unit, target_)) - trips;
    Add(Cat("trips ", trip.bottleneck(), " ", FormName(tile.form), " ", tile.instruction().name), trips);
    Add("entry", entry);
    AddWait(base_ - trips - entry);
  }

  const Impl& impl_;
  const Expansion& expansion_;
  const Target& target_;
  const double base_, runs_;
  Terms& terms_;
};

// Visits a program tree. A child runs as often as its parent's expansion says.
void Add(const Impl& impl, double runs, const CostModel& model, Terms* terms) {
  Expansion expansion;
  Expand(impl.spec, impl.decision, model.target(), &expansion);
  NodeTerms(impl, expansion, runs, model, terms).Add();
  for (size_t i = 0; i < impl.children.size(); ++i)
    Add(impl.children[i].impl, runs * static_cast<double>(expansion.children[i].weight), model, terms);
}

// The name of the term for what a stage takes beside a contraction's program.
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

// Adds a stage that runs so often: the terms of its program, and the rest. A rest of next to nothing is
// rounding.
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
  for (const LoopNest& nest : plan.nests) {
    const auto batch = static_cast<double>(nest.batch);
    // Stages before the nest run once, its own stages once a tile, and the others once an item of the batch.
    for (const Stage& stage : nest.before) Add(stage, 1, model, &terms);
    for (const Stage& stage : nest.once) Add(stage, batch, model, &terms);
    for (const Stage& stage : nest.stages)
      Add(stage, batch * static_cast<double>(nest.trips()), model, &terms);
    for (const Stage& stage : nest.rest) Add(stage, batch, model, &terms);
  }
  return terms;
}

}  // namespace kirsch
