// SPDX-License-Identifier: Apache-2.0
// What a calibration is made of, but for the measuring.
#include "calibrate/calibration.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "bench/workload/entries.h"
#include "bench/workload/workload.h"
#include "calibrate/cache_capacity.h"
#include "calibrate/calibrate.h"
#include "calibrate/cost_key.h"
#include "calibrate/experiment.h"
#include "calibrate/held_out.h"
#include "calibrate/measurements.h"
#include "calibrate/noise_monitor.h"
#include "calibrate/suite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "memo/hash_memo.h"
#include "search/solver/replay.h"
#include "search/solver/search.h"
#include "spec/language/schedule.h"
#include "spec/microkernel.h"
#include "spec/target/target_json.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Calibration Example() {
  Calibration calibration;
  calibration.target = FindTarget("znver3", "")->target;
  calibration.target.microkernel_cycles = 17.25;
  calibration.base = "znver3";
  calibration.signature = "AuthenticAMD-25-1-1";
  calibration.date = "2026-11-22";
  calibration.keys = {{"microkernel_cycles", 17.25, 12, 15.5, 19, Origin::kFitted},
                      {"loop_cycles", 1, 1, 1, 1, Origin::kVendor}};
  calibration.problems = 3, calibration.programs = 20;
  calibration.error_before = 0.25, calibration.error = 0.0625;
  calibration.interference = "2 of 3 experiments";
  return calibration;
}

TEST(Calibration, IsATargetFile) {
  const std::string text = PrintCalibration(Example());
  const absl::StatusOr<TargetFile> file = ParseTarget(text, "made.json");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->target, Example().target);
  EXPECT_EQ(file->calibrated, "2026-11-22");
  EXPECT_THAT(file->warnings, IsEmpty());
  EXPECT_EQ(*PromisedError(text, "made.json"), 0.0625);
}

TEST(Calibration, OtherFilesPromiseNothing) {
  EXPECT_TRUE(absl::IsNotFound(PromisedError("{}", "plain.json").status()));
  EXPECT_THAT(PromisedError("{\"calibration\": {\"error\": \"small\"}}", "f.json").status().message(),
              HasSubstr("f.json:1:27: expected a share"));
  EXPECT_THAT(PromisedError("{", "f.json").status().message(), HasSubstr("f.json:1:2"));
}

TEST(Calibration, TheSummaryHasWhatWasFound) {
  const std::string text = Summarize(Example());
  EXPECT_THAT(text, HasSubstr("microkernel_cycles"));
  EXPECT_THAT(text, HasSubstr("15.5 to 19"));
  EXPECT_THAT(text, Not(HasSubstr("loop_cycles")));
  EXPECT_THAT(text, HasSubstr("off by 6.2 % in the median, before by 25.0 %"));
  EXPECT_THAT(text, HasSubstr("interference: 2 of 3 experiments"));
}

TEST(CostKeys, EachIsItself) {
  for (const Target& target : NamedTargets()) {
    std::set<std::string> names;
    for (const CostKey& key : MakeCostKeys(target)) {
      EXPECT_TRUE(names.insert(key.name).second) << key.name;
      Target changed = target;
      const double other = key.get(target) + 1 <= key.high ? key.get(target) + 1 : key.low;
      key.set(other, changed);
      EXPECT_EQ(key.get(changed), other) << key.name;
      EXPECT_NE(changed, target) << key.name;
      key.set(key.get(target), changed);
      EXPECT_EQ(changed, target) << key.name;
    }
    EXPECT_EQ(names.count("memory.L2.cycles_per_line"), 1u);
    EXPECT_EQ(names.count("vectors.32.bf16_widen_cycles"), target.vectors[0].bytes >= 32 ? 1u : 0u);
    EXPECT_EQ(names.count("memory.L2.bytes") + names.count("ghz"), 0u);
  }
}

TEST(CostKeys, DefaultsAreThoseOfAFileWithoutCosts) {
  for (const Target& target : NamedTargets()) {
    const Target plain = WithDefaultCosts(target), defaults = DefaultTarget();
    EXPECT_EQ(plain.features, target.features);
    EXPECT_EQ(plain.vectors.size(), target.vectors.size());
    EXPECT_EQ(plain.vectors[0].bytes, target.vectors[0].bytes);
    EXPECT_EQ(plain.at(Level::kL3).bytes, target.at(Level::kL3).bytes);
    EXPECT_EQ(plain.vectors[0].fma_per_cycle, defaults.vectors[0].fma_per_cycle);
    EXPECT_EQ(plain.at(Level::kL3).overlap, defaults.at(Level::kL3).overlap);
    EXPECT_EQ(plain.at(Level::kL2).capacity_share, defaults.at(Level::kL2).capacity_share);
    EXPECT_EQ(plain.barrier_cycles, defaults.barrier_cycles);
  }
}

// Every problem is one that can be asked for, on every target.
TEST(CalibrationSuite, EveryProblemIsOne) {
  for (const Target& target : NamedTargets())
    for (const Experiment& experiment : CalibrationSuite(target, false)) {
      const absl::StatusOr<std::vector<BenchEntry>> entries = ReadEntries(experiment.problem, "problem");
      ASSERT_TRUE(entries.ok()) << entries.status();
      ASSERT_EQ(entries->size(), 1u);
      if (!entries->front().matmul) continue;
      const Spec placed = PlaceOperands(entries->front().matmul->spec, Residency::kWarm, target);
      EXPECT_TRUE(HasRoom(placed, target)) << target.name << " " << experiment.problem;
      if (experiment.schedule.empty()) continue;
      const absl::StatusOr<Schedule> schedule = ParseSchedule(experiment.schedule, "schedule", placed.op);
      ASSERT_TRUE(schedule.ok()) << schedule.status();
      HashMemo memo;
      const auto replayed = Replay(placed, *schedule, "schedule", CostModel(target), memo, {});
      EXPECT_TRUE(replayed.ok() || (experiment.may_lack && absl::IsInvalidArgument(replayed.status())))
          << target.name << " " << experiment.problem << "\n"
          << experiment.schedule;
    }
}

TEST(CalibrationSuite, HasProblemsInEveryLevel) {
  const Target target = FindTarget("znver3", "")->target;
  for (bool quick : {false, true}) {
    std::set<Level> levels;
    for (const Experiment& experiment : CalibrationSuite(target, quick)) {
      const BenchEntry entry = ReadEntries(experiment.problem, "problem")->front();
      if (entry.matmul)
        levels.insert(PlaceOperands(entry.matmul->spec, Residency::kWarm, target).operand[1].level);
    }
    EXPECT_THAT(levels, ::testing::ElementsAre(Level::kL1, Level::kL2, Level::kL3, Level::kRam));
  }
  EXPECT_LT(CalibrationSuite(target, true).size(), CalibrationSuite(target, false).size() / 2);
}

// Choices for problems that the fit never saw say whether it does harm.
TEST(CalibrationSuite, HoldsAFifthOutInEveryGroup) {
  for (bool quick : {false, true}) {
    std::map<std::string, int> held_out, fitted_to;
    int odd = 0;
    for (const Experiment& experiment : CalibrationSuite(FindTarget("znver3", "")->target, quick)) {
      EXPECT_TRUE(!experiment.held_out || experiment.schedule.empty()) << "nothing is chosen there";
      if (!experiment.schedule.empty()) continue;
      ++(experiment.held_out ? held_out : fitted_to)[experiment.group];
      odd += experiment.group == "odd f32" ? 1 : 0;
    }
    int all_held_out = 0, all_others = 0;
    for (const auto& [group, problems] : fitted_to) all_others += problems;
    for (const auto& [group, problems] : held_out) all_held_out += problems;
    EXPECT_NEAR(all_held_out, (all_held_out + all_others) / 5.0, 7);  // a group has a rest
    EXPECT_GE(odd, quick ? 5 : 30);
    EXPECT_GE(held_out["odd f32"], quick ? 1 : 5);
    if (!quick) {
      EXPECT_EQ(held_out.size(), fitted_to.size()) << "a group of which nothing is held out";
    }
  }
}

// A program of a problem that takes `measured` cycles, and by a model a cycle for each of `loop_cycles`, or
// one for each of `microkernel_cycles`.
Observation HeldOutProgram(const std::string& problem, const std::string& group, double measured,
                           double loops, double microkernels) {
  Observation observation;
  observation.problem = problem;
  observation.group = group;
  observation.cycles = measured;
  observation.predict = [=](const CostModel& model) {
    return loops * model.target().loop_cycles + microkernels * model.target().microkernel_cycles;
  };
  return observation;
}

class HeldOut : public ::testing::Test {
 protected:
  HeldOut() {
    base_ = FindTarget("znver3", "")->target;
    base_.loop_cycles = 1, base_.microkernel_cycles = 10;
    fitted_ = base_;
    fitted_.microkernel_cycles = 1;
    fitted_.loop_cycles = 10;
  }
  Target base_, fitted_;
};

// The base chooses the program of loops, the fitted target that of microkernels.
TEST_F(HeldOut, TimesAreThoseOfTheChoices) {
  const std::vector<Observation> programs = {
      HeldOutProgram("a", "f32", 100, 1, 0),     HeldOutProgram("a", "f32", 50, 0, 1),
      HeldOutProgram("b", "odd f32", 100, 1, 0), HeldOutProgram("b", "odd f32", 200, 0, 1),
      HeldOutProgram("c", "odd f32", 100, 1, 0), HeldOutProgram("c", "odd f32", 50, 0, 1)};
  const HeldOutTimes times = TimesOf(fitted_, base_, programs);
  EXPECT_EQ(times.problems, 3);
  EXPECT_NEAR(times.time, std::cbrt(0.5), 1e-9);
  ASSERT_EQ(times.groups.size(), 2u);
  EXPECT_EQ(times.groups[0].group, "f32");
  EXPECT_NEAR(times.groups[0].time, 0.5, 1e-9);
  EXPECT_NEAR(times.groups[1].time, 1, 1e-9);
  EXPECT_NEAR(TimesOf(base_, base_, programs).time, 1, 1e-9);
}

TEST_F(HeldOut, NoGroupMayBecomeSlower) {
  const HeldOutTimes faster = {10, 0.9, 0, {{"f32", 5, 0.8}, {"odd f32", 5, 1.01}}},
                     slower_when_odd = {10, 0.9, 0, {{"f32", 5, 0.7}, {"odd f32", 5, 1.1}}},
                     slower = {10, 1.01, 0, {{"f32", 5, 1.01}, {"odd f32", 5, 1.01}}}, base = {10, 1, 0, {}};
  EXPECT_EQ(KeptCandidate({faster, slower, slower, base}), 0u);
  EXPECT_EQ(KeptCandidate({slower_when_odd, slower, faster, base}), 2u);
  EXPECT_EQ(KeptCandidate({slower_when_odd, slower, slower, base}), 3u);
  EXPECT_EQ(KeptCandidate({HeldOutTimes(), HeldOutTimes(), HeldOutTimes(), HeldOutTimes()}), 0u);
}

TEST_F(HeldOut, CandidatesKeepPartsOfTheBase) {
  fitted_.memory[static_cast<size_t>(Level::kL2)].cycles_per_line = 7;
  fitted_.vectors[0].fma_per_cycle = 1.5;
  fitted_.memory[static_cast<size_t>(Level::kL3)].cycles_per_line = 8;
  fitted_.memory[static_cast<size_t>(Level::kRam)].cycles_per_line = 90;
  const std::vector<Candidate> candidates = FindCandidates(base_, fitted_, MakeCostKeys(base_));
  ASSERT_EQ(candidates.size(), 6u);
  EXPECT_EQ(candidates[0].target, fitted_);
  const auto lines = [&](size_t candidate) {
    std::vector<double> cycles;
    for (Level level : {Level::kL2, Level::kL3, Level::kRam})
      cycles.push_back(candidates[candidate].target.at(level).cycles_per_line);
    return cycles;
  };
  const double l2 = base_.at(Level::kL2).cycles_per_line, l3 = base_.at(Level::kL3).cycles_per_line,
               ram = base_.at(Level::kRam).cycles_per_line;
  EXPECT_EQ(lines(1), (std::vector<double>{7, 8, std::max(8.0, ram)}));
  EXPECT_EQ(lines(2), (std::vector<double>{7, std::max(7.0, l3), std::max({7.0, l3, ram})}));
  EXPECT_EQ(lines(3), (std::vector<double>{l2, l3, ram}));
  EXPECT_EQ(candidates[3].target.vectors[0].fma_per_cycle, 1.5);
  EXPECT_EQ(lines(4), (std::vector<double>{7, 8, 90}));
  EXPECT_EQ(candidates[4].target.vectors[0].fma_per_cycle, base_.vectors[0].fma_per_cycle);
  EXPECT_EQ(candidates[5].target, base_);
}

// Half of what is read of operands that just fill a cache comes from beyond it.
TEST(CalibrationSuite, HasNothingOnTheEdgeOfACache) {
  const Target target = FindTarget("znver3", "")->target;
  for (const Experiment& experiment : CalibrationSuite(target, false)) {
    const BenchEntry entry = ReadEntries(experiment.problem, "problem")->front();
    if (!entry.matmul) continue;
    double bytes = 0;
    const absl::StatusOr<Workload> workload = MakeWorkload(entry.matmul->spec, 1);
    ASSERT_TRUE(workload.ok()) << workload.status();
    for (const Workload::Operand& operand : workload->operands) bytes += static_cast<double>(operand.bytes());
    for (Level level : {Level::kL1, Level::kL2, Level::kL3})
      EXPECT_FALSE(bytes > 0.75 * static_cast<double>(target.at(level).bytes) &&
                   bytes < 1.5 * static_cast<double>(target.at(level).bytes))
          << experiment.problem;
  }
}

TEST(Measurements, AreReadAsTheyWereWritten) {
  Measurements written;
  written.signature = "AuthenticAMD-25-1-1";
  written.keys = {{.name = "memory.L2.capacity_share", .value = 0.75, .low = 0.75, .high = 0.875}};
  written.programs = {{{"matmul f32 8x8x8", 1, true, "move out VRF vectors8\n"}, 100, 0.25, true, 0.5, false},
                      {{"softmax f32 4x64", 1, false, "rows"}, 7, 0, false, 0, true}};
  const absl::StatusOr<Measurements> read = ParseMeasurements(PrintMeasurements(written), "file");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->signature, written.signature);
  ASSERT_EQ(read->keys.size(), 1u);
  EXPECT_EQ(read->keys[0].name, "memory.L2.capacity_share");
  EXPECT_EQ(read->keys[0].high, 0.875);
  EXPECT_EQ(read->keys[0].origin, Origin::kMeasured);
  ASSERT_EQ(read->programs.size(), 2u);
  EXPECT_EQ(PrintMeasurements(*read), PrintMeasurements(written));
  // Keys may have the names that they had when it was written.
  const std::string former =
      absl::StrReplaceAll(PrintMeasurements(written), {{"L2.capacity_share", "L2.usable"}});
  EXPECT_EQ(PrintMeasurements(*ParseMeasurements(former, "file")), PrintMeasurements(written));
  EXPECT_TRUE(read->programs[0].experiment.cold && read->programs[0].chosen && !read->programs[0].fresh);
  EXPECT_EQ(read->programs[0].distance, 0.5);
}

TEST(Measurements, ThoseOfEarlierVersionsHaveNoGroups) {
  const absl::StatusOr<Measurements> read = ParseMeasurements(
      R"({"signature": "x", "keys": [], "programs": [{"problem": "p", "cold": false, "schedule": "s", "cycles": 1,
          "spread": 0, "chosen": true, "distance": 0, "fresh": false}]})",
      "file");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->programs[0].experiment.group, "");
  EXPECT_FALSE(read->programs[0].experiment.held_out);
}

// The programs say that wide vectors are slow; those of the problem that the fit never saw, that they are
// not.
TEST(Measurements, ConstantsStayWhereHeldOutChoicesBecomeSlower) {
  const Target base = FindTarget("znver4", "")->target;
  const std::string wide = "move out VRF vectors16\n  microkernel\n",
                    narrow = "move out VRF vectors8\n  microkernel\n";
  CalibrateOptions options;
  options.measurements.emplace();
  options.measurements->signature = "x";
  const auto add = [&](const std::string& problem, const std::string& schedule, double cycles,
                       bool held_out) {
    Remembered program = {{problem, 1, false, schedule}, cycles, 0.01, true, 0, held_out};
    program.experiment.group = "f32";
    program.experiment.held_out = held_out;
    options.measurements->programs.push_back(program);
  };
  for (int k : {128, 256, 512, 1024}) {
    add(Cat("matmul f32 4x", k, "x32"), wide, 40.0 * k, false);
    add(Cat("matmul f32 4x", k, "x32"), narrow, 8.0 * k, false);
  }
  add("matmul f32 4x192x32", wide, 600, true);
  add("matmul f32 4x192x32", narrow, 1200, true);
  const absl::StatusOr<Calibration> calibration = Calibrate(base, "znver4", options);
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  EXPECT_EQ(calibration->held_out.fitted.time, 2);
  EXPECT_EQ(calibration->held_out.taken.time, 1);
  EXPECT_EQ(calibration->target.vectors[0].fma_per_cycle, base.vectors[0].fma_per_cycle);
  EXPECT_THAT(Summarize(*calibration), HasSubstr("1 problem held out of the fit"));
  EXPECT_THAT(Summarize(*calibration), HasSubstr("vectors.* is kept as it was, which makes that 1.000"));
  EXPECT_THAT(PrintCalibration(*calibration), HasSubstr("\"held_out\""));
}

TEST(Measurements, WhatIsWrongIsSaidWithItsPlace) {
  const auto error = [](std::string_view text) {
    return std::string(ParseMeasurements(text, "m.json").status().message());
  };
  EXPECT_THAT(error("{"), HasSubstr("m.json:1:2"));
  EXPECT_THAT(error("{}"), HasSubstr("expected an object with \"signature\""));
  EXPECT_THAT(error(R"({"signature": "x", "keys": [{"name": "k", "value": -1}], "programs": []})"),
              HasSubstr("m.json:1:52: expected a number that is not negative, got -1"));
  EXPECT_THAT(error(R"({"signature": "x", "keys": [], "programs": 3})"),
              HasSubstr("expected an array of programs, got 3"));
}

// A fit to what was measured before is the fit that followed the measurements.
TEST(Measurements, AreFittedToWithoutMeasuring) {
  const Target base = FindTarget("znver3", "")->target;
  Measurements measurements;
  measurements.signature = "x";
  measurements.keys = {{.name = "memory.L2.capacity_share", .value = 0.625, .low = 0.625, .high = 0.75}};
  measurements.programs = {{{"matmul f32 4x64x16", 1, false, "move out VRF vectors8\n  microkernel\n"},
                            1200,
                            0.01,
                            true,
                            0,
                            false},
                           {{"matmul f32 6x128x16", 1, false, "move out VRF vectors8\n  microkernel\n"},
                            900,
                            0.01,
                            true,
                            0,
                            true}};
  CalibrateOptions options;
  options.measurements = measurements;
  const absl::StatusOr<Calibration> calibration = Calibrate(base, "znver3", options);
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  EXPECT_EQ(calibration->programs, 2);
  EXPECT_EQ(calibration->target.at(Level::kL2).capacity_share, 0.625);
  EXPECT_EQ(calibration->measurements.programs.size(), 2u);
  EXPECT_THAT(PrintCalibration(*calibration), Not(HasSubstr("\"default\"")));
  options.unknown = Origin::kDefault;
  EXPECT_THAT(PrintCalibration(*Calibrate(base, "defaults", options)), HasSubstr("\"default\""));
}

TEST(UsableCapacity, EndsWhereItHurts) {
  const UsableCapacity usable = FindUsableCapacity({{0.5, 1}, {0.75, 1}, {1, 1.1}});
  EXPECT_EQ(usable.share, 0.88);
  EXPECT_EQ(usable.next, 1);
  EXPECT_EQ(FindUsableCapacity({{0.5, 1}, {1, 1.04}}).share, 1);
  EXPECT_EQ(FindUsableCapacity({{0.5, 1}, {1, 1.6}}, kHurtsBesideRam).share, 0.75);
  EXPECT_EQ(FindUsableCapacity({{0.5, 2}, {1, 2.2}}).share, 0.75);
}

// One share that was unlucky decides nothing: 1.07 and 1.01 are 1.04 both.
TEST(UsableCapacity, ALuckyShareMakesUpForAnUnluckyOne) {
  EXPECT_EQ(FindUsableCapacity({{0.25, 1}, {0.5, 1.07}, {0.75, 1.01}, {1, 1.08}}).share, 0.81);
  EXPECT_EQ(FindUsableCapacity({{0.25, 1}, {0.5, 1.04}, {0.75, 1.04}, {1, 1.08}}).share, 0.81);
}

TEST(SharedBytes, EndWhereMoreIsSlower) {
  constexpr int64_t kMega = 1 << 20;
  EXPECT_EQ(
      SharedBytesOf({{8 * kMega, 1}, {16 * kMega, 1}, {32 * kMega, 1.5}, {192 * kMega, 4}}, 480 * kMega),
      25 * kMega);
  // Nothing is slower within what there is said to be; it is, but so is not what is beyond; noise.
  EXPECT_EQ(SharedBytesOf({{8 * kMega, 1}, {16 * kMega, 1.02}, {128 * kMega, 3}}, 32 * kMega), 32 * kMega);
  EXPECT_EQ(SharedBytesOf({{8 * kMega, 1}, {16 * kMega, 1.3}, {128 * kMega, 1.3}}, 32 * kMega), 32 * kMega);
  EXPECT_EQ(SharedBytesOf({{4 * kMega, 1}, {8 * kMega, 1.3}, {16 * kMega, 1}, {128 * kMega, 3}}, 32 * kMega),
            32 * kMega);
  EXPECT_EQ(SharedBytesOf({}, 4 * kMega), 4 * kMega);
}

// Else constants would be fitted to code that nobody has measured.
TEST(CodeOfATarget, IsTheSameWhateverItsCostsBecome) {
  const Target target = WithCodeOf(testing::Avx512Target());
  for (const Instruction& row : kInstructions) {
    const RegisterTile tile = {LayoutKind::kVectors, row.arithmetic, 16, 4, 1};
    const VectorUnit& unit = target.vectors.front();
    EXPECT_EQ(KSplit(tile, unit), KSplit(tile, testing::Avx512Target().vectors.front()));
    VectorUnit slow = unit, slow_as_ever = testing::Avx512Target().vectors.front();
    slow.fma_latency = slow_as_ever.fma_latency = slow.fma_latency * 4;
    for (ArithmeticRate& rate : slow.rates) rate.latency *= 4;
    EXPECT_EQ(KSplit(tile, slow), KSplit(tile, unit));
    if (row.timed == Arithmetic::kFma) {
      EXPECT_NE(KSplit(tile, slow_as_ever), KSplit(tile, unit));
    }
  }
}

TEST(Disturbance, SaysWhatItWas) {
  EXPECT_FALSE(Disturbance().matters());
  EXPECT_EQ(Disturbance().Describe(), "");
  const Disturbance stolen = {0.12, 0, 0};
  EXPECT_TRUE(stolen.matters());
  EXPECT_EQ(stolen.Describe(), "12 % of the time stolen by the hypervisor");
  EXPECT_EQ((Disturbance{0.12, 0.5, 0}).Describe(),
            "12 % of the time stolen by the hypervisor, 50 % of the time taken by other processes");
}

// What was measured once is the same observation when it is recalled.
TEST(Observe, MeasuresAndRecalls) {
  const absl::StatusOr<TargetFile> host = FindTarget("host", "");
  if (!host.ok()) GTEST_SKIP() << "this CPU can't run Kirsch's kernels";
  for (const char* problem :
       {"matmul f32 8x16x24", "softmax f32 4x64", "conv2d f32 1x8x6x6 filters=8 kernel=3x3 layout=nhwc"}) {
    const Experiment experiment = {problem, 3};
    ExperimentOptions options;
    options.rounds = 1;
    Laboratory laboratory(host->target, 1);
    const absl::StatusOr<PreparedExperiment> prepared = laboratory.Prepare(experiment);
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    const absl::StatusOr<std::vector<Observation>> observed = Observe(*prepared, options);
    ASSERT_TRUE(observed.ok()) << observed.status();
    ASSERT_GE(observed->size(), 2u);
    EXPECT_TRUE(observed->front().chosen);
    EXPECT_EQ(observed->front().distance, 0);
    const CostModel model(host->target);
    for (const Observation& one : *observed) {
      EXPECT_GT(one.cycles, 0);
      Experiment pinned = experiment;
      pinned.schedule = one.schedule;
      const absl::StatusOr<Observation> again = laboratory.Recall(pinned, one.cycles, one.spread);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(again->program, one.program);
      EXPECT_EQ(again->level, one.level);
      EXPECT_NEAR(again->predict(model), one.predict(model), 1e-6 * one.predict(model));
    }
  }
}

TEST(Laboratory, WhatIsKnownIsNotPreparedAgain) {
  const absl::StatusOr<TargetFile> host = FindTarget("host", "");
  if (!host.ok()) GTEST_SKIP() << "this CPU can't run Kirsch's kernels";
  Laboratory laboratory(host->target, 1);
  const absl::StatusOr<PreparedExperiment> all = laboratory.Prepare({"matmul f32 8x16x24", 3});
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->programs.size(), 3u);
  const absl::StatusOr<PreparedExperiment> rest =
      laboratory.Prepare({"matmul f32 8x16x24", 3}, {all->programs[0].program, all->programs[2].program});
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_EQ(rest->programs.size(), 1u);
  EXPECT_EQ(rest->programs[0].schedule, all->programs[1].schedule);
  EXPECT_EQ(rest->programs[0].distance, all->programs[1].distance);
}

TEST(Laboratory, WhatIsNoProblemIsSaid) {
  Laboratory laboratory(NamedTargets().front(), 1);
  EXPECT_THAT(laboratory.Prepare({"matmul f33 1x1x1", 1}).status().message(), HasSubstr("problem:1:8"));
  EXPECT_THAT(laboratory.Prepare({"kernel f(x: f32[8,8], w: f32[8,8]):\n  return softmax(matmul(x, w))\n", 1})
                  .status()
                  .message(),
              HasSubstr("a single stage"));
}

}  // namespace
}  // namespace kirsch
