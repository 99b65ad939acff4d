// SPDX-License-Identifier: Apache-2.0
// What `kirsch query` answers: numbers that agree with each other, with the schedule that it names, and with
// what a search for the given decisions finds. KIRSCH_BINARY is the path of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using testing::CliTest;
using ::testing::HasSubstr;
using testing::Outcome;

class QueryTest : public CliTest {
 protected:
  // The answer for one kernel.
  nlohmann::json Ask(const std::string& arguments) {
    const Outcome outcome = Run("query " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    if (outcome.code != 0) return {};
    return nlohmann::json::parse(outcome.out)["kernels"][0];
  }
};

// Each tile divides what the one before left of its dim, and the last is that of the registers.
void ExpectTilesFit(const nlohmann::json& answer, std::map<std::string, int64_t> left) {
  std::map<std::string, int> number;
  for (const nlohmann::json& step : answer["steps"]) {
    if (step["step"] == "split") left[step["dim"]] = step["left"];
    if (step["step"] != "tile") continue;
    const std::string dim = step["dim"];
    EXPECT_EQ(step["trips"], left[dim] / step["size"].get<int64_t>()) << answer["schedule"];
    left[dim] = step["size"];
    EXPECT_EQ(answer["knobs"][Cat("tile_", dim, "_", number[dim]++)], step["size"]);
  }
  const nlohmann::json& tile = answer["inner_tile"];
  EXPECT_EQ(tile["rows"], left["m"]);
  EXPECT_GE(tile["columns"].get<int64_t>() * tile["lanes"].get<int64_t>(), left["n"]);
  EXPECT_EQ(tile["spills"], 0);
  // What bounds it is about the same tile, if it is one.
  const std::string bound = answer["bound_by"];
  if (bound.find(" in register tiles: ") != std::string::npos) {
    EXPECT_THAT(bound,
                HasSubstr(Cat(": ", tile["rows"].get<int>(), "x", tile["columns"].get<int>(), " of ")));
  }
}

TEST_F(QueryTest, TheAnswerIsTheSearchs) {
  for (const char* target : {"haswell", "skylake-avx512"})
    for (const auto& [m, k, n] : std::vector<std::array<int, 3>>{
             {512, 512, 512}, {1, 300, 77}, {769, 13, 40}, {7, 1000, 7}, {64, 64, 64}}) {
      const std::string spec = Cat("'matmul f32 ", m, "x", k, "x", n, "' --target ", target);
      const nlohmann::json kernel = Ask(spec + " --best 3"), &answer = kernel["answer"];
      ExpectTilesFit(answer, {{"m", m}, {"k", k}, {"n", n}});
      EXPECT_EQ(answer["stop"], "optimal");
      EXPECT_EQ(answer["cycles"], answer["bound_cycles"]);
      double above = 0;
      for (const nlohmann::json& other : kernel["alternatives"]) {
        EXPECT_GE(other["above"], above);
        above = other["above"];
        EXPECT_NE(other["decision"], other["instead_of"]);
      }
      for (const auto& [knob, value] : answer["knobs"].items())
        EXPECT_THAT(kernel["knob_options"][knob], ::testing::Contains(value));
      // Its own schedule is the same program.
      ASSERT_TRUE(WriteFile(Path("s"), answer["schedule"].get<std::string>()).ok());
      const nlohmann::json again = Ask(spec + " --schedule " + Path("s"));
      EXPECT_EQ(again["given"]["above"], 0);
      EXPECT_EQ(again["given"]["steps"], answer["steps"]);
    }
}

// What begins with other decisions costs no less.
TEST_F(QueryTest, GivenDecisionsCostMore) {
  const std::string spec = "'matmul f32 256x256x256' --target haswell ";
  for (const char* given : {"tile m 64", "tile n 16; tile m 4", "tile m 64; move out L2; tile k 128",
                            "tile m 64; ...; pack rhs L1", "tile m 64; tile ? 128; move out ?"}) {
    const nlohmann::json kernel = Ask(Cat(spec, "--given '", given, "'"));
    EXPECT_GE(kernel["given"]["above"], 0) << given;
    EXPECT_GE(kernel["given"]["cycles"], kernel["answer"]["cycles"]);
    const std::string text = given, first = text.substr(0, text.find(';'));
    EXPECT_TRUE(kernel["given"]["schedule"].get<std::string>().starts_with(first)) << given;
  }
}

// A hole has the value that is best: no other costs less.
TEST_F(QueryTest, HolesAreFilledIn) {
  const std::string spec = "'matmul f32 256x256x256' --target haswell --given ";
  const double open = Ask(spec + "'tile n 64; tile m ?; move out L2'")["given"]["cycles"];
  double least = open + 1;
  for (const int size : {1, 2, 4, 6, 8, 32, 64, 128}) {
    const nlohmann::json given = Ask(Cat(spec, "'tile n 64; tile m ", size, "; move out L2'"))["given"];
    least = std::min(least, given["cycles"].get<double>());
  }
  EXPECT_EQ(least, open);
  // The register tile is that of the answer, so any decisions before it cost what the best ones do.
  const nlohmann::json free = Ask(spec + "'...; move out VRF'");
  EXPECT_EQ(free["given"]["above"], 0);
}

// Decisions of a plan on one line, and names in it.
TEST_F(QueryTest, PlansHaveNamesAndSemicolons) {
  const std::string spec =
      "'kernel mlp(x: f32[32,64], w: f32[64,96]): return softmax(relu(matmul(x, w)))' --target haswell "
      "--given ";
  const nlohmann::json named = Ask(spec +
                                   "'schedule band = tile m 8; ...\ngroup v2 v3; contraction 0; band; move "
                                   "out VRF; microkernel; group out'");
  EXPECT_EQ(named["given"]["programs"][0]["steps"][0]["size"], 8) << named["given"].dump(1);
  EXPECT_EQ(named["given"]["groups"].size(), 2u);
  ExpectRefused("query " + spec + "'group v2 v3; contraction 0; tile m 8; tile m 9'",
                "--given:1:39: expected a decision that is in the space of 'matmul f32 8x64x96");
  ExpectRefused("query " + spec + "'schedule a = tile q 8\ngroup v2 v3; contraction 0; a'",
                "--given:1:19: expected a dim of matmul, got 'q'");
}

TEST_F(QueryTest, GraphsAndFamiliesAreAnswered) {
  const nlohmann::json graph =
      Ask("'kernel mlp(x: f32[32,64], w: f32[64,96]): return softmax(relu(matmul(x, w)))' --target haswell");
  ASSERT_FALSE(graph["answer"]["groups"].empty());
  EXPECT_EQ(graph["answer"]["groups"].back()["operations"].back(), "out");
  ASSERT_EQ(graph["answer"]["programs"].size(), 1u);
  EXPECT_FALSE(graph["answer"]["programs"][0]["steps"].empty());
  const nlohmann::json family = Ask("'matmul f32 1..9x64x64' --target haswell");
  ASSERT_FALSE(family["regions"].empty());
  for (const nlohmann::json& region : family["regions"]) EXPECT_GT(region["answer"]["cycles"], 0);
}

TEST_F(QueryTest, BadQuestionsAreRefused) {
  ExpectRefused("query 'matmul f32 8x8x8' --given 'tile m 0'",
                "--given:1:8: expected a positive number, got '0'");
  ExpectRefused("query 'matmul f32 8x8x8' --given 'tile m 4; tile m 16'",
                "--given:1:11: expected a decision");
  ExpectRefused("query 'matmul f32 8x8x8' --given 'schedule a = tile m 3\na; tile k 3'",
                "--given:2:4: expected a decision");
  ExpectRefused("query 'matmul f32 8x8x8' --given 'tile m 4' --schedule f",
                "--given: expected no --schedule beside it");
  ExpectRefused("query 'matmul f32 1..3x8x8' --given 'tile m 4'",
                "--given: expected a single kernel for a single target");
  ExpectRefused("query 'matmul f32 1..3x8x8' --best 3",
                "--best: expected a spec or a graph, got a family of sizes");
}

}  // namespace
}  // namespace kirsch
