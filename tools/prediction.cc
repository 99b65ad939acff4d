// SPDX-License-Identifier: Apache-2.0
#include "tools/prediction.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "cost/tile_facts.h"
#include "spec/target/clock.h"
#include "spec/text/cat.h"
#include "spec/text/quantity.h"
#include "synthesis/explain/explained.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

constexpr double kOtherClock = 0.9;  // of the clock that is assumed; measured clocks vary by less

// The peak of one thread, by the fastest arithmetic of any node. Below a copy that rounds, there may be a
// faster one than for the types that were asked for.
double PeakOf(const Impl& impl, const Target& target) {
  double peak = PeakFlopsPerCycle(impl.spec, target);
  for (const Impl::Child& child : impl.children) peak = std::max(peak, PeakOf(child.impl, target));
  return peak;
}

// The peak of a plan is that of its fastest contraction; 0 with Winograd's algorithm (see Prediction).
double PeakOf(const Plan& plan, const Target& target) {
  if (!WinogradConvolutions(plan).empty()) return 0;
  double peak = 0;
  for (const LoopNest& nest : plan.nests)
    for (const Stage* stage : StagesOf(nest))
      if (stage->kind == StageKind::kContraction) peak = std::max(peak, PeakOf(stage->impl, target));
  return peak;
}

// The peak of all threads together.
double PeakOf(const ProgramTree& program, const Target& target) {
  if (const auto* const plan = std::get_if<Plan>(&program)) return PeakOf(*plan, target) * plan->threads;
  const auto& impl = std::get<Impl>(program);
  return PeakOf(impl, target) * impl.spec.threads;
}

// The bytes of constant operands as the caller has them, before they are packed.
int64_t ConstantBytes(const ProgramTree& program) {
  int64_t bytes = 0;
  if (const auto* const plan = std::get_if<Plan>(&program)) {
    for (int i = 0; i < plan->graph.num_inputs(); ++i)
      if (plan->graph.at(i).constant) bytes += plan->graph.at(i).type.bytes();
    return bytes;
  }
  const Spec& spec = std::get<Impl>(program).spec;
  const int operand = ConstantOperand(spec);
  return operand < 0 ? 0 : Bytes(spec.tensor(operand).dtype, ExtentOf(spec, operand).elements());
}

// This machine's clock, measured once; 0 if the target is another machine. Measuring takes a moment, so it is
// done only when a summary of `host` is printed.
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

Prediction MakePrediction(const Synthesis& synthesis) {
  const ProgramTree& program = synthesis.program;
  return {synthesis.cycles, Flops(program), IsOfIntegers(program), PeakOf(program, synthesis.target)};
}

std::string ModelText(const Target& target) { return ModelText(target, MachineGhz(target)); }

std::string CalibrationText(const Target& target) {
  return IsToldUncalibrated(target) ? ", not calibrated" : "";
}

std::string PredictionText(const Prediction& prediction, const Target& target, double machine_ghz) {
  const double rate = prediction.cycles > 0 ? prediction.operations / prediction.cycles * target.ghz : 0;
  const double peak = prediction.peak_per_cycle;
  // The time is by the target's clock, whatever this machine's is. A matmul of 64x64x64 on haswell:
  //   18419 cycles at 3.4 GHz            -->  5.417 us
  //   2 * 64^3 operations in that time   -->  96.8 GFLOP/s
  //   32 operations a cycle at 3.4 GHz   -->  a peak of 108.8 GFLOP/s, of which that is 89 %
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

std::string PackedText(const ProgramTree& program, const Target& target) {
  const int64_t stored = ConstantBytes(program);
  const int64_t packed = stored > 0 ? WriteProgram(program, target).packed_bytes : 0;
  if (packed == 0) return "";
  return Cat("; weights of ", Amount(static_cast<double>(stored)), " are packed into ",
             Amount(static_cast<double>(packed)));
}

}  // namespace kirsch
