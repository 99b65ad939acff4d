// SPDX-License-Identifier: Apache-2.0
#include "tools/prediction.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "cost/tile_facts.h"
#include "spec/program/impl_program.h"
#include "spec/program/plan_program.h"
#include "spec/target/clock.h"
#include "spec/text/cat.h"
#include "spec/text/quantity.h"
#include "synthesis/explain/explained.h"
#include "synthesis/graph_kernel.h"
#include "synthesis/solve.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

constexpr double kOtherClock = 0.9;  // of the one that is assumed; measured ones vary by less

// Of the fastest arithmetic of any node: what a copy rounds may be multiplied faster than what was asked for.
double PeakOf(const Impl& impl, const Target& target) {
  double peak = PeakFlopsPerCycle(impl.spec, target);
  for (const Impl::Child& child : impl.children) peak = std::max(peak, PeakOf(child.impl, target));
  return peak;
}

double PeakOf(const Plan& plan, const Target& target) {
  if (!WinogradConvolutions(plan).empty()) return 0;
  double peak = 0;
  for (const LoopNest& nest : plan.nests)
    for (const Stage* stage : StagesOf(nest))
      if (stage->kind == StageKind::kContraction) peak = std::max(peak, PeakOf(stage->impl, target));
  return peak;
}

std::string PackedText(int64_t stored, int64_t packed) {
  if (packed == 0) return "";
  return Cat("; weights of ", Amount(static_cast<double>(stored)), " are packed into ",
             Amount(static_cast<double>(packed)));
}

// 0: it is not this machine that the target is.
double MachineGhz(const Target& target) {
  if (target.name != "host") return 0;
  static const double ghz = MeasureGhz();
  return ghz;
}

std::string ModelText(const Target& target, double machine_ghz) {
  std::string text = absl::StrFormat("%.3g GHz", target.ghz);
  if (machine_ghz > 0 && machine_ghz < kOtherClock * target.ghz)
    absl::StrAppendFormat(&text, " (this machine's clock is %.3g GHz)", machine_ghz);
  return text;
}

}  // namespace

Prediction PredictionOf(const Impl& impl, double cycles, double operations, const Target& target) {
  return {cycles, operations, IsOfIntegers(impl.spec), PeakOf(impl, target) * impl.spec.threads};
}

Prediction PredictionOf(const Plan& plan, const Target& target) {
  return {plan.cycles, Flops(plan.graph), IsOfIntegers(plan.graph), PeakOf(plan, target) * plan.threads};
}

std::string ModelText(const Target& target) { return ModelText(target, MachineGhz(target)); }

std::string CalibrationText(const Target& target) {
  return IsToldUncalibrated(target) ? ", not calibrated" : "";
}

std::string PredictionText(const Prediction& prediction, const Target& target, double machine_ghz) {
  const double rate = prediction.cycles > 0 ? prediction.operations / prediction.cycles * target.ghz : 0;
  const double peak = prediction.peak_per_cycle;
  std::string text = absl::StrFormat("%.0f cycles, %s at %s, %.1f %s predicted", prediction.cycles,
                                     SecondsText(1e-9 * prediction.cycles / target.ghz),
                                     ModelText(target, machine_ghz), rate, RateUnit(prediction.integers));
  if (peak > 0)
    absl::StrAppendFormat(&text, ", %.0f %% of the modelled peak", 100 * rate / peak / target.ghz);
  if (machine_ghz > 0 && peak > 0 && rate > peak * machine_ghz)
    absl::StrAppendFormat(&text, ", above the %.1f that this machine's clock allows", peak * machine_ghz);
  return text + CalibrationText(target);
}

std::string PredictionText(const Prediction& prediction, const Target& target) {
  return PredictionText(prediction, target, MachineGhz(target));
}

std::string PackedText(const Impl& impl, const Target& target) {
  const int operand = ConstantOperand(impl.spec);
  if (operand < 0) return "";
  const int64_t stored = Bytes(impl.spec.tensor(operand).dtype, ExtentOf(impl.spec, operand).elements());
  return PackedText(stored, ProgramOf(impl, target).packed_bytes);
}

std::string PackedText(const Plan& plan, const Target& target) {
  if (!plan.graph.HasConstants()) return "";
  int64_t stored = 0;
  for (int i = 0; i < plan.graph.num_inputs(); ++i)
    if (plan.graph.at(i).constant) stored += plan.graph.at(i).type.bytes();
  return PackedText(stored, ProgramOf(plan, target).packed_bytes);
}

}  // namespace kirsch
