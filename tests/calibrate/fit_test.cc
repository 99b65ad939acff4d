// SPDX-License-Identifier: Apache-2.0
// Fits to machines that are made up: programs take what a model with known keys says.
#include "calibrate/fit.h"

#include <cmath>
#include <map>
#include <memory>

#include "bench/workload/entries.h"
#include "calibrate/suite.h"
#include "cost/microkernel_cost.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "memo/hash_memo.h"
#include "search/sampling/draw_programs.h"
#include "search/sampling/random.h"
#include "search/solver/program_cost.h"
#include "search/solver/replay.h"
#include "spec/language/parser.h"
#include "spec/language/schedule.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

const Target& Base() {
  static const Target& base = *new Target(FindTarget("haswell", "")->target);
  return base;
}

// Programs that live in L1 and in L2, as `truth` would measure them.
std::vector<Observation> MeasuredOn(const Target& truth) {
  std::vector<Observation> observations;
  const CostModel model(Base()), true_model(truth);
  for (const char* text :
       {"matmul f32 4x64x32", "matmul f32 6x128x16", "matmul f32 7x63x13", "matmul f32 16x16x16",
        "matmul f32 64x96x96", "matmul f32 1x128x256", "matmul f32 8x128x192", "matmul f32 64x64x96 rhs=col",
        "matmul f32 2x96x7 rhs=col"}) {
    HashMemo memo;
    const Spec root = PlaceOperands(ParseSpec(text)->spec, Residency::kWarm, Base());
    for (const DrawnProgram& drawn : DrawPrograms(root, model, memo, 12, 1)) {
      Observation observation;
      observation.problem = text;
      const auto cost = std::make_shared<const ProgramCost>(drawn.impl, Base());
      observation.predict = [cost](const CostModel& priced) { return cost->Cycles(priced); };
      observation.cycles = cost->Cycles(true_model);
      observations.push_back(std::move(observation));
    }
  }
  return observations;
}

// A trip of a register tile, which took `factor` times as long as `truth` says.
Observation TripOn(const Target& truth, const RegisterTile& tile, double factor) {
  Observation observation;
  observation.predict = [tile](const CostModel& priced) {
    return TripCyclesOf(tile, priced.target().vectors[0], priced.target()).total();
  };
  observation.cycles = factor * observation.predict(CostModel(truth));
  return observation;
}

// Of tiles whose vectors of rhs are widened from bf16; and of plain ones, with noise that no key explains.
std::vector<Observation> WideningTilesOn(const Target& truth) {
  std::vector<Observation> observations;
  for (int rows = 1; rows <= 3; ++rows)
    for (int columns = 1; columns <= 3; ++columns) {
      RegisterTile tile{LayoutKind::kVectors, Arithmetic::kFma, 8, rows, columns};
      tile.one_chain = true;
      for (double factor : {0.7, 1.4}) observations.push_back(TripOn(truth, tile, factor));
      tile.widens_rhs = 1;
      tile.rhs = Dtype::kBf16;
      observations.push_back(TripOn(truth, tile, 1));
    }
  return observations;
}

Fit FitTo(const std::vector<Observation>& observations, std::map<std::string, KeyEstimate>* by_name) {
  const std::vector<CostKey> keys = MakeCostKeys(Base());
  Fit fit = FitKeys(Base(), keys, observations, {});
  for (size_t k = 0; k < keys.size(); ++k) (*by_name)[keys[k].name] = fit.keys[k];
  return fit;
}

TEST(Fit, ProgramsCostWhatTheSearchSays) {
  const CostModel model(Base());
  HashMemo memo;
  const Spec root = PlaceOperands(ParseSpec("matmul f32 100x100x100")->spec, Residency::kWarm, Base());
  for (const DrawnProgram& drawn : DrawPrograms(root, model, memo, 6, 1))
    EXPECT_NEAR(ProgramCost(drawn.impl, Base()).Cycles(model) / ToCycles(drawn.cost), 1, 1e-6);
}

TEST(Fit, WhatFitsAlreadyStays) {
  std::map<std::string, KeyEstimate> keys;
  const Fit fit = FitTo(MeasuredOn(Base()), &keys);
  EXPECT_LT(fit.error_before, 1e-9);
  EXPECT_LT(fit.error, 1e-3);
  EXPECT_NEAR(fit.target.vectors[0].fma_per_cycle, Base().vectors[0].fma_per_cycle, 0.02);
}

TEST(Fit, KeysOfTheMachineAreFound) {
  Target truth = Base();
  truth.vectors[0].fma_per_cycle = 1.5;
  truth.vectors[0].masked_store_cycles = 30;
  truth.memory[Index(Level::kL2)].cycles_per_line = 5;
  truth.microkernel_cycles = 25;
  std::map<std::string, KeyEstimate> keys;
  const Fit fit = FitTo(MeasuredOn(truth), &keys);
  EXPECT_GT(fit.error_before, 0.1);
  EXPECT_LT(fit.error, 0.02);
  EXPECT_NEAR(keys["vectors.32.fma_per_cycle"].value, 1.5, 0.1);
  EXPECT_NEAR(keys["vectors.32.masked_store_cycles"].value, 30, 5);
  EXPECT_NEAR(keys["microkernel_cycles"].value, 25, 5);
  for (const char* name : {"vectors.32.fma_per_cycle", "microkernel_cycles"}) {
    EXPECT_TRUE(keys[name].fitted) << name;
    EXPECT_LE(keys[name].low, keys[name].value) << name;
    EXPECT_GE(keys[name].high, keys[name].value) << name;
  }
}

// At first, L2 takes less time than the arithmetic, so that nothing depends on it; once the arithmetic is as
// fast as it was measured, something does.
TEST(Fit, KeysThatMatterOnlyLaterAreFound) {
  const auto arithmetic = [](const CostModel& model) {
    return 1000 / model.target().vectors[0].fma_per_cycle;
  };
  const auto longest = [&](const CostModel& model) {
    return std::max(arithmetic(model), 100 * model.target().at(Level::kL2).cycles_per_line);
  };
  Target start = Base();
  start.vectors[0].fma_per_cycle = 1;
  start.memory[Index(Level::kL2)].cycles_per_line = 6;
  std::vector<Observation> observations(20);
  for (size_t i = 0; i < observations.size(); ++i) {
    observations[i].cycles = i % 5 == 0 ? 800 : 500;
    observations[i].predict = arithmetic;
    if (i % 5 == 0) observations[i].predict = longest;
  }
  const Fit fit = FitKeys(start, MakeCostKeys(start), observations, FitOptions());
  EXPECT_NEAR(fit.target.vectors[0].fma_per_cycle, 2, 0.1);
  EXPECT_NEAR(fit.target.at(Level::kL2).cycles_per_line, 8, 0.4);
}

TEST(Fit, WhereItBeginsMattersLittle) {
  Target truth = Base();
  truth.vectors[0].fma_per_cycle = 1.5;
  truth.microkernel_cycles = 25;
  const std::vector<Observation> observations = MeasuredOn(truth);
  const std::vector<CostKey> keys = MakeCostKeys(Base());
  FitOptions options;
  const Fit fit = FitKeys(Base(), keys, observations, options);
  options.begin = &truth;
  const Fit other = FitKeys(Base(), keys, observations, options);
  EXPECT_EQ(other.error_before, fit.error_before) << "of the target that keys are pulled to";
  EXPECT_NEAR(other.target.vectors[0].fma_per_cycle, fit.target.vectors[0].fma_per_cycle, 0.05);
  EXPECT_NEAR(other.target.microkernel_cycles, fit.target.microkernel_cycles, 2);
}

TEST(Fit, OneWildMeasurementChangesLittle) {
  std::vector<Observation> observations = MeasuredOn(Base());
  observations[3].cycles *= 5;
  std::map<std::string, KeyEstimate> keys;
  const Fit fit = FitTo(observations, &keys);
  EXPECT_LT(fit.error, 0.02);
  EXPECT_NEAR(fit.target.vectors[0].fma_per_cycle, Base().vectors[0].fma_per_cycle, 0.15);
}

TEST(Fit, WhatNothingDependsOnKeepsItsValue) {
  Target truth = Base();
  truth.vectors[0].fma_per_cycle = 1.5;
  std::map<std::string, KeyEstimate> keys;
  const Fit fit = FitTo(MeasuredOn(truth), &keys);
  for (const char* name : {"vectors.32.dot_u8s8_per_cycle", "memory.RAM.single_stream_cycles_per_line"}) {
    EXPECT_FALSE(keys[name].fitted) << name;
    EXPECT_EQ(keys[name].low, keys[name].high) << name;
  }
  EXPECT_EQ(fit.target.at(Level::kRam).cycles_per_page, Base().at(Level::kRam).cycles_per_page);
}

// Where widening takes so little that something else takes longer, nothing says how little; but it is not
// what it was.
TEST(Fit, WhatIsOnlyKnownToBeLessDoesNotGoBack) {
  Target truth = Base(), start = Base();
  start.vectors[0].widening[static_cast<size_t>(Dtype::kBf16)].vector = 4;
  truth.vectors[0].widening[static_cast<size_t>(Dtype::kBf16)].vector = 0.1;
  const Fit fit = FitKeys(start, MakeCostKeys(start), WideningTilesOn(truth), {});
  EXPECT_LT(fit.target.vectors[0].widening[static_cast<size_t>(Dtype::kBf16)].vector, 2);
}

// Else relaxed specs would be no bounds, and the search slow.
TEST(Fit, NoLevelBecomesCheaperThanACloserOne) {
  Target truth = Base();
  truth.memory[Index(Level::kL2)].cycles_per_line = 3 * Base().at(Level::kRam).cycles_per_line;
  std::map<std::string, KeyEstimate> keys;
  const Fit fit = FitTo(MeasuredOn(truth), &keys);
  EXPECT_GT(fit.target.at(Level::kL2).cycles_per_line, Base().at(Level::kL3).cycles_per_line);
  EXPECT_GE(fit.target.at(Level::kL3).cycles_per_line, fit.target.at(Level::kL2).cycles_per_line);
  EXPECT_GE(fit.target.at(Level::kRam).cycles_per_line, fit.target.at(Level::kL3).cycles_per_line);
}

// The programs of the suite's smaller problems of f32 in L3, as `truth` would measure them with some noise.
std::vector<Observation> SuiteMeasuredOn(const Target& truth, const Target& base) {
  std::vector<Observation> observations;
  const CostModel model(base), true_model(truth);
  HashMemo memo;
  Random noise(1);
  for (const Experiment& experiment : CalibrationSuite(base, false)) {
    const BenchEntry entry = std::move(ReadEntries(experiment.problem, "problem")->front());
    if (!entry.matmul || !experiment.problem.starts_with("matmul f32 ") || entry.matmul->spec.size[1] > 4)
      continue;
    const Spec root = PlaceOperands(entry.matmul->spec, Residency::kWarm, base);
    if (root.operand[1].level != Level::kL3) continue;
    std::vector<Impl> programs;
    if (experiment.schedule.empty()) {
      for (DrawnProgram& drawn : DrawPrograms(root, model, memo, experiment.programs, 1))
        programs.push_back(std::move(drawn.impl));
    } else {
      const Schedule schedule = *ParseSchedule(experiment.schedule, "schedule", root.op);
      programs.push_back(Replay(root, schedule, "schedule", model, memo, {})->impl);
    }
    for (const Impl& program : programs) {
      Observation observation;
      const auto cost = std::make_shared<const ProgramCost>(program, base);
      observation.predict = [cost](const CostModel& priced) { return cost->Cycles(priced); };
      observation.cycles = cost->Cycles(true_model) * (0.98 + 0.0004 * static_cast<double>(noise.Below(100)));
      observations.push_back(std::move(observation));
    }
  }
  return observations;
}

// Keys of a level that say nearly the same, and are 0 where nobody has measured them: each is told from the
// others by programs of the suite in which it has no part. With a noise of 2 % they are known to a fifth:
// some sums of keys have little room, the keys themselves more.
TEST(Fit, TheSuiteTellsKeysOfALevelApart) {
  const Target base = FindTarget("znver3", "")->target;
  Target truth = base;
  truth.memory[Index(Level::kL3)].cycles_per_line = 4;
  truth.memory[Index(Level::kL3)].unstreamed_cycles_per_line = 1;
  for (const double crowded : {0.0, 4.0}) {
    truth.memory[Index(Level::kL3)].set_conflict_cycles_per_line = crowded;
    const std::vector<CostKey> keys = MakeCostKeys(base);
    const Fit fit = FitKeys(base, keys, SuiteMeasuredOn(truth, base), {});
    EXPECT_NEAR(fit.target.at(Level::kL3).set_conflict_cycles_per_line, crowded, 0.8);
    EXPECT_NEAR(fit.target.at(Level::kL3).cycles_per_line, 4, 0.8);
  }
}

TEST(Fit, NothingMeasuredChangesNothing) {
  std::map<std::string, KeyEstimate> keys;
  EXPECT_EQ(FitTo({}, &keys).target, Base());
}

}  // namespace
}  // namespace kirsch
