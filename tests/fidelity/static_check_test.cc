// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "fidelity/static_report.h"
#include "fidelity/tile_check.h"
#include "fidelity/traffic_check.h"
#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/sampling/draw_tiles.h"
#include "search/solver/search.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

Target Named(const std::string& name) { return FindTarget(name, "")->target; }

TEST(TileKernels, AreOneLegalRegisterTileEach) {
  for (const char* name : {"haswell", "sapphirerapids"}) {
    const Target target = Named(name);
    const std::vector<TileKernel> kernels = DrawTileKernels(target, 60, 3);
    EXPECT_EQ(kernels.size(), 60u);
    std::set<Arithmetic> arithmetics;
    for (const TileKernel& kernel : kernels) {
      const Impl* node = &kernel.impl;
      while (!node->children.empty()) {
        EXPECT_TRUE(IsLegal(node->spec, node->decision, target)) << kernel.parsed.text;
        node = &node->children[0].impl;
      }
      EXPECT_EQ(node->decision.kind, RewriteKind::kMicrokernel);
      const RegisterTile tile = RegisterTileOf(kernel.microkernel, kernel.microkernel.out().layout, target);
      arithmetics.insert(tile.arithmetic);
      EXPECT_LE(RegistersNeeded(tile, UnitOf(target, tile)), UnitOf(target, tile).registers);
      const std::optional<TileKernel> shorter = WithSteps(kernel, 64, target);
      ASSERT_TRUE(shorter.has_value()) << kernel.parsed.text;
      EXPECT_EQ(RegisterTileOf(shorter->microkernel, shorter->microkernel.out().layout, target), tile);
    }
    EXPECT_GE(arithmetics.size(), 3u) << name;
  }
}

// Without measuring: predictions beside machine code for a CPU that need not be this one.
TEST(TileCheck, PlainTilesAreAsPredicted) {
  TileCheckOptions options;
  options.kernels = 40;
  options.measure = false;
  const auto checks = CheckTiles(Named("haswell"), options);
  ASSERT_TRUE(checks.ok()) << checks.status();
  ASSERT_EQ(checks->size(), 40u);
  int instructions = 0, registers = 0;
  for (const TileCheck& check : *checks) {
    instructions += check.instructions_error() <= kInstructionsTolerance;
    registers += check.registers_are_right();
  }
  EXPECT_GE(registers, 11);  // the others load operands further ahead
  EXPECT_GE(instructions, 39);
  for (const TileCheck& check : *checks) {
    EXPECT_FALSE(check.measured);
    EXPECT_GT(check.analysed.value_or(1), 0);
    if (check.spec.find("matmul f32 ") != 0) continue;
    EXPECT_TRUE(check.spills_are_right()) << check.spec;
    EXPECT_LE(check.instructions_error(), kInstructionsTolerance) << check.spec << " " << check.form;
  }
}

// Rows of whole lines, all in L1 from the first move on: every line comes once.
TEST(TrafficCheck, WhatIsReadOnceCrossesOnce) {
  const CostModel model(WithSmallCaches(Named("haswell")));
  const Spec placed = PlaceOperands(ParseSpec("matmul f32 96x16x16")->spec, Residency::kWarm, model.target());
  HashMemo memo;
  const auto check = CheckTraffic(Search(placed, model, memo, {}).impl, model);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->simulated.read, check->predicted.read);
  EXPECT_EQ(check->simulated.written, check->predicted.written);
  EXPECT_EQ(check->Error(), 0);
  EXPECT_GT(check->simulated.read[static_cast<size_t>(Index(Level::kL2))], 0);
}

TEST(TrafficCheck, DrawsAreTheSameEveryTime) {
  const auto once = CheckTraffics(Named("haswell"), 3, 5), again = CheckTraffics(Named("haswell"), 3, 5);
  ASSERT_TRUE(once.ok() && again.ok());
  ASSERT_EQ(once->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*once)[i].spec, (*again)[i].spec);
    EXPECT_EQ((*once)[i].simulated, (*again)[i].simulated);
  }
}

TEST(StaticReport, SaysHowManyAreRight) {
  StaticReport report;
  report.tiles.resize(4);
  for (TileCheck& tile : report.tiles) {
    tile.spec = "matmul f32 4x64x8";
    tile.facts.registers = 10, tile.facts.instructions = 100, tile.facts.cycles = 10;
    tile.loop.vector_registers = 10, tile.loop.instructions = 101;
  }
  report.tiles[0].loop.vector_registers = 11;
  report.tiles[1].loop.instructions = 110;
  report.tiles[2].measured = 8, report.tiles[2].analysed = 12;
  report.tiles[3].measured = 10;  // the analyser has no model of it: it counts for neither
  TrafficCheck traffic;
  traffic.home = Level::kL2;
  traffic.predicted.Add(Level::kL2, Level::kL1, 1000, 0);
  traffic.simulated.Add(Level::kL2, Level::kL1, 1200, 0);
  report.traffics = {traffic};
  const StaticSummary summary = Summarise(report);
  EXPECT_DOUBLE_EQ(*summary.registers, 0.75);
  EXPECT_DOUBLE_EQ(*summary.spills, 1);
  EXPECT_DOUBLE_EQ(*summary.instructions, 0.75);
  EXPECT_DOUBLE_EQ(*summary.cycles_mape, 0.25);
  EXPECT_DOUBLE_EQ(*summary.analyser_mape, 0.5);
  EXPECT_DOUBLE_EQ(*summary.bytes, 0);
  EXPECT_NE(FormatTable(report).find("4 register tiles: registers right in 75.0%"), std::string::npos);
  EXPECT_EQ(ToJson(report)["tiles"].size(), 4u);
}

}  // namespace
}  // namespace kirsch
