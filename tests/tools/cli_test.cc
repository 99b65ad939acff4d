// SPDX-License-Identifier: Apache-2.0
// The command line as a script sees it: exit codes, one line on bad input, the promised JSON keys, files that
// are whole or not there. KIRSCH_BINARY is the path of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using testing::CliTest;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using ::testing::StartsWith;

TEST_F(CliTest, ExplainsTheKBest) {
  const Outcome outcome =
      Run("explain 'matmul f32 20x30x40' --target haswell --best 5 --json " + Path("best.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("first departs from the best"));
  const nlohmann::json report = nlohmann::json::parse(*ReadFile(Path("best.json")))["kernels"][0];
  ASSERT_EQ(report["best"]["programs"].size(), 5u);
  EXPECT_FALSE(report["best"]["programs"][0].contains("departs"));
  EXPECT_TRUE(report["best"]["complete"]);
  double last = report["programs"][0]["cost_cycles"];
  EXPECT_EQ(report["best"]["programs"][0]["cost_cycles"], last);
  for (const nlohmann::json& program : report["best"]["programs"]) {
    EXPECT_GE(program["cost_cycles"], last);
    last = program["cost_cycles"];
  }
  EXPECT_FALSE(report["best"]["programs"][1]["departs"]["instead"].empty());
  const Outcome plans =
      Run("explain 'softmax f32 4x1024' --target haswell --best 2 --json " + Path("plans.json"));
  ASSERT_EQ(plans.code, 0) << plans.err;
  EXPECT_THAT(plans.out, HasSubstr("group out, rows 0: "));
  const nlohmann::json graph = nlohmann::json::parse(*ReadFile(Path("plans.json")))["kernels"][0]["best"];
  ASSERT_EQ(graph["programs"].size(), 2u);
  EXPECT_GE(graph["programs"][1]["cost_cycles"], graph["programs"][0]["cost_cycles"]);
  EXPECT_EQ(graph["programs"][1]["departs"]["where"], "group out, rows 0");
  ExpectRefused("explain 'matmul f32 1..3x8x8' --best 3",
                "--best: expected a spec or a graph, got a family of sizes");
  ExpectRefused("explain 'matmul f32 4x4x4' --best 0", "--best");
}

TEST_F(CliTest, BadInputIsRefusedOnOneLine) {
  ASSERT_TRUE(WriteFile(Path("bad.json"), "{\"ghz\": }").ok());
  ASSERT_TRUE(WriteFile(Path("bad.schedule"), "tile m 0").ok());
  ExpectRefused("",
                "expected a command (synth, verify, bench, explain, query, import, fidelity, target, db or "
                "help), got ");
  ExpectRefused("bake", "target, db or help), got 'bake'");
  ExpectRefused("target bake", "expected a command (list, show, detect or calibrate), got 'bake'");
  ExpectRefused("synth 'matmul f32 4x4x4' ''", "unexpected argument nothing (a SPEC is one argument");
  ExpectRefused("synth", "expected either SPEC or -f FILE");
  ExpectRefused("explain", "expected either SPEC or -f FILE");
  ExpectRefused("synth 'matmul f32 4x0x4'", "spec:1:14: expected a size from 1 to 1048576, got '0'");
  ExpectRefused("synth 'matmul f32 4x4x4' --threads 0", "--threads");
  ExpectRefused("synth 'matmul f32 4x4x4' --search-threads 0", "--search-threads");
  ExpectRefused("synth matmul f32 4x4x4", "unexpected argument 'f32' (a SPEC is one argument: quote it)");
  ExpectRefused("synth 'matmul f32 4x4x4' --time-budget -1",
                "--time-budget: expected a number of seconds above 0, got '-1'");
  ExpectRefused("synth 'matmul f32 4x4x4' --emit wasm", "--emit");
  for (const char* mode : {"loud", "0", "''"})
    ExpectRefused(Cat("synth 'matmul f32 4x4x4' --header-mode ", mode),
                  "expected attributes|bare|macros, got ");
  ExpectRefused("synth 'matmul f32 4x4x4' --emit obj --abi 1", "--abi: expected sysv|win64, got '1' (see");
  for (const char* option : {"--schedule", "-o", "--json", "-f", "--kernel"})
    ExpectRefused(Cat("synth 'matmul f32 4x4x4' ", option, " ''"), ", got nothing");
  ExpectRefused("synth 'matmul f32 4x4x4' --frobnicate", "--frobnicate");
  ExpectRefused("verify 'matmul f32 4x4x4' --target vax", "target: expected one of haswell");
  ExpectRefused("explain 'matmul f32 4x4x4' --target " + Path("bad.json"),
                Path("bad.json") + ":1:9: malformed JSON: expected '[', '{', or a literal, got '}'");
  ExpectRefused("synth 'matmul f32 4x4x4' --schedule " + Path("bad.schedule"),
                Path("bad.schedule") + ":1:8: expected a positive number, got '0'");
  ASSERT_TRUE(WriteFile(Path("suite.json"), "{\"name\": \"s\", \"specs\": [\"matmul f32 0x1x1\"]}").ok());
  ExpectRefused("bench", "expected either SPEC or --suite FILE");
  ExpectRefused("bench --suite " + Path("none.json"), "none.json");
  ExpectRefused("bench --suite " + Path("suite.json"),
                Path("suite.json") + ":1:26: spec:1:12: expected a size from 1 to 1048576, got '0'");
  ExpectRefused("bench 'matmul f32 4x4x4' --against foo", "unknown peer 'foo'");
  ExpectRefused("bench --against openblas,foo 'matmul f32 4x4x4'", "unknown peer 'foo'");
  ExpectRefused("fidelity 'matmul f32 4x4'", "spec:1:12: expected sizes as MxKxN");
  ExpectRefused("fidelity 'matmul f32 4x4x4' --suite s.json", "expected either SPECs or --suite FILE");
  ExpectRefused("fidelity --static --svg s.svg", "--static draws its own kernels");
  ExpectRefused("fidelity --json " + Path("no/file"), "No such file or directory");
  ExpectRefused("target show", "NAME is required");
  ExpectRefused("target detect -o " + Path("no/file"), "No such file or directory");
}

TEST_F(CliTest, UnwritableOutputIsRefused) {
  const Outcome outcome = Run("synth 'matmul f32 4x4x4' --no-verify -o " + Path("no/file.h"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, EndsWith("no/file.h': No such file or directory\n"));
  // Known before the search, so that is all there is.
  EXPECT_THAT(outcome.err, StartsWith("kirsch: '"));
  const int status = std::system(Cat(KIRSCH_BINARY, " target list >/dev/full 2>/dev/null").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(CliTest, HelpAndVersionSucceed) {
  EXPECT_EQ(Run("--help").code, 0);
  EXPECT_EQ(Run("synth --help").code, 0);
  EXPECT_THAT(Run("--version").out, StartsWith("kirsch "));
}

TEST_F(CliTest, NoDbIsAcceptedEverywhere) {
  EXPECT_EQ(Run("--no-db target list").code, 0);
  EXPECT_EQ(Run("target list --no-db").code, 0);
  EXPECT_EQ(Run("target show znver4 --no-db").code, 0);
  EXPECT_EQ(Run("synth 'matmul f32 4x4x4' --no-verify --no-db --emit schedule").code, 0);
  EXPECT_EQ(Run("verify 'matmul f32 4x4x4' --no-db").code, 0);
  EXPECT_EQ(Run("explain 'matmul f32 4x4x4' --no-db").code, 0);
}

TEST_F(CliTest, ExplainSaysItAsJsonToo) {
  const std::string command = "explain 'matmul f32 20x30x40' --target skylake-avx512 --no-db --json ";
  const Outcome text = Run(command + Path("e.json"));
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("registers, no spills; "));
  const std::string written = *ReadFile(Path("e.json"));
  EXPECT_EQ(Run(command + "-").out, written) << "the same bytes whenever it is made";
  const nlohmann::json json = nlohmann::json::parse(written, nullptr, false);
  EXPECT_EQ(json["target"], "skylake-avx512");
  const nlohmann::json& program = json["kernels"][0]["programs"][0];
  EXPECT_EQ(program["spec"], "matmul f32 20x30x40");
  EXPECT_EQ(program["nodes"][0]["cycles"], program["cost_cycles"]);
  EXPECT_EQ(program["nodes"].back()["decision"], "microkernel");
  EXPECT_GT(program["nodes"].back()["tile"]["registers"], 0);
  EXPECT_TRUE(program["traffic"].is_object());
  const Outcome graph = Run("explain 'softmax f32 8x64' --no-db --json -");
  const nlohmann::json plan = nlohmann::json::parse(graph.out, nullptr, false)["kernels"][0]["programs"][0];
  EXPECT_GT(plan["stages"][0]["passes"].size(), 0);
  const Outcome family = Run("explain 'matmul f32 1..3x4x4' --no-db --json -");
  const nlohmann::json kernel = nlohmann::json::parse(family.out, nullptr, false)["kernels"][0];
  EXPECT_EQ(kernel["regions"].size(), kernel["programs"].size());
  ExpectRefused("explain 'matmul f32 4x4x4' --json " + Path("no/file"), "No such file or directory");
}

TEST_F(CliTest, DetectedTargetCanBeUsed) {
  ASSERT_EQ(Run("target detect -o " + Path("mine.json")).code, 0);
  const Outcome shown = Run("target show " + Path("mine.json"));
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.err, "");
  EXPECT_EQ(shown.out, *ReadFile(Path("mine.json")));
}

TEST_F(CliTest, SynthReports) {
  const Outcome outcome =
      Run(Cat("synth 'matmul f32 20x30x40 out=col' -o ", Path("k.h"), " --json ", Path("k.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("verified: interpreter passed, "));
  const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("k.json")), nullptr, false);
  EXPECT_EQ(json["spec"], "matmul f32 20x30x40 out=col");
  EXPECT_EQ(json["target"], "host");
  EXPECT_TRUE(json["version"].is_string());
  EXPECT_TRUE(json["search"]["seconds"].is_number());
  EXPECT_EQ(json["search"]["stop"], "optimal");
  for (const char* key : {"specs_solved", "memo_hits", "pruned", "bound_cycles"})
    EXPECT_TRUE(json["search"][key].is_number()) << key;
  EXPECT_GT(json["cost_cycles"], 0);
  EXPECT_GT(json["predicted_gflops"], 0);
  EXPECT_THAT(json["schedule"].get<std::string>(), HasSubstr("microkernel"));
  EXPECT_EQ(json["verify"]["ok"], true);
  EXPECT_LE(json["verify"]["max_error"], json["verify"]["error_bound"]);
  EXPECT_EQ(json["emit"]["path"], Path("k.h"));
  EXPECT_EQ(json["emit"]["bytes"], fs::file_size(Path("k.h")));
  EXPECT_TRUE(json["emit"]["scratch_bytes"].is_number());
}

TEST_F(CliTest, EmittedScheduleCanBePinned) {
  ASSERT_EQ(Run("synth 'matmul f32 33x34x35' --no-verify --emit schedule -o " + Path("s")).code, 0);
  const Outcome again =
      Run(Cat("synth 'matmul f32 33x34x35' --no-verify --emit schedule --schedule ", Path("s")));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, *ReadFile(Path("s")));
}

TEST_F(CliTest, EveryFormIsEmitted) {
  const std::pair<const char*, const char*> forms[] = {{"header", "#ifndef "},
                                                       {"c", "matmul_f32_8x8x8("},
                                                       {"ll", "define "},
                                                       {"asm", "matmul_f32_8x8x8:"},
                                                       {"obj",
                                                        "\x7f"
                                                        "ELF"},
                                                       {"schedule", "microkernel"},
                                                       {"program", "tile fma 8x8 v8"},
                                                       {"loops", "matmul_f32_8x8x8"}};
  for (const auto& [form, telling] : forms) {
    const Outcome outcome = Run(Cat("synth 'matmul f32 8x8x8' --target haswell --no-verify --emit ", form));
    EXPECT_EQ(outcome.code, 0) << form;
    EXPECT_THAT(outcome.out, HasSubstr(telling)) << form;
  }
}

// Of a family, the program of each region; of a graph, that of its plan.
TEST_F(CliTest, ProgramsAndLoopsAreForAllKinds) {
  for (const char* kernel : {"'matmul f32 1..20x16x24'", "'softmax f32 4x40'", "'softmax f32 1..4x40'",
                             "'matmul f32 4x40x16 const-rhs'"})
    for (const char* form : {"program", "loops"}) {
      const Outcome outcome = Run(Cat("synth ", kernel, " --target haswell --no-verify --emit ", form));
      EXPECT_EQ(outcome.code, 0) << kernel << outcome.err;
      EXPECT_NE(outcome.out, "") << kernel;
    }
  ExpectRefused("synth 'matmul f32 8x8x8' --emit program --uniform", "--uniform: expected code");
  ExpectRefused("synth 'matmul f32 8x8x8' --emit loops --abi win64", "--abi: expected --emit obj, asm or ll");
}

TEST_F(CliTest, ASearchIsTraced) {
  const Outcome outcome =
      Run("synth 'matmul f32 8x8x8' --target haswell --no-db --no-verify --emit schedule --trace " +
          Path("trace.jsonl"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::map<std::string, int> events;
  std::string won;
  std::istringstream lines(*ReadFile(Path("trace.jsonl")));
  nlohmann::json last;
  for (std::string line; std::getline(lines, line);) {
    last = nlohmann::json::parse(line);
    ++events[last["event"]];
    if (last["event"] == "won") won = last["decision"];
  }
  EXPECT_GT(events["asked"], 0);
  EXPECT_GT(events["pruned"], 0);
  EXPECT_THAT(outcome.out, StartsWith(won));  // the root is the last to be solved
  EXPECT_EQ(last["event"], "end");
  EXPECT_EQ(last["events"], events["asked"] + events["pruned"] + events["won"]);
  ExpectRefused("synth 'matmul f32 8x8x8' --trace /nowhere/trace.jsonl", "/nowhere/trace.jsonl");
}

TEST_F(CliTest, JsonOnStandardOutputIsAlone) {
  for (const char* command : {"synth", "verify"}) {
    const Outcome outcome = Run(Cat(command, " 'matmul f32 8x8x8' --json -"));
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(nlohmann::json::parse(outcome.out, nullptr, false)["verify"]["ok"], true) << outcome.out;
  }
}

TEST_F(CliTest, AFamilyIsSynthesizedAndVerified) {
  const std::pair<const char*, int> families[] = {{"matmul f32 1..20x16x24", 20},
                                                  {"matmul f32 1..4x9x15..18 out=col", 16},
                                                  {"matmul f32 1..3:4..5x7x8 rhs=col accumulate", 6}};
  for (const auto& [family, members] : families) {
    const Outcome outcome =
        Run(Cat("synth '", family, "' -o ", Path("family.h"), " --json ", Path("family.json")));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(Cat(family, " on host: ", members, " members")));
    EXPECT_THAT(outcome.err, HasSubstr("kernels  GFLOP/s, from - to  "));
    EXPECT_THAT(outcome.err, HasSubstr("verified: interpreter passed, jit passed, header passed"));
    EXPECT_THAT(*ReadFile(Path("family.h")),
                AnyOf(HasSubstr(Cat("kernels    ", members, ", one for each size")),
                      HasSubstr(", each for a range of sizes")));
    const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("family.json")), nullptr, false);
    EXPECT_EQ(json["spec"], family);
    EXPECT_EQ(json["members"], members);
    EXPECT_EQ(json["kernels"].size(), static_cast<size_t>(members));
    EXPECT_EQ(json["verify"]["ok"], true);
    EXPECT_EQ(json["emit"]["bytes"], fs::file_size(Path("family.h")));
    int covered = 0;
    for (const nlohmann::json& region : json["regions"]) {
      covered += region["kernels"].get<int>();
      EXPECT_TRUE(region["decision"].is_string());
      EXPECT_LE(region["m"][0], region["m"][1]);
      EXPECT_FALSE(region.contains("k"));
      EXPECT_THAT(region["schedule"].get<std::string>(), HasSubstr("microkernel"));
    }
    EXPECT_EQ(covered, members);
  }
}

// Which operands come from RAM, by the names that they have for users: of swapped ones, and of kernels with
// their own names, too.
TEST_F(CliTest, SomeOperandsAreCold) {
  const auto explained = [&](const std::string& options) {
    const Outcome outcome = Run("explain --target haswell --no-db " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string spec = "'matmul f32 4x64x900' ";
  EXPECT_EQ(explained(spec + "--cold"), explained(spec + "--cold=out,rhs,lhs"));
  EXPECT_NE(explained(spec + "--cold"), explained(spec + "--cold=rhs"));
  EXPECT_NE(explained(spec), explained(spec + "--cold=rhs"));
  EXPECT_THAT(explained("'matmul f32 4x64x900 out=col' --cold=rhs"), HasSubstr("lhs=col rhs=col@L1"));
  ASSERT_TRUE(
      WriteFile(Path("k.kirsch"), "kernel mine(x: f32[4,64], w: f32[64,900]):\n return matmul(x, w)\n").ok());
  EXPECT_THAT(explained("-f " + Path("k.kirsch") + " --cold=w"), HasSubstr("lhs=row@L1 out=row@L1"));
  EXPECT_EQ(Run("verify 'softmax f32 3x70' --cold=x").code, 0);
  const std::string synth = "synth " + spec + "--cold=rhs --target haswell --no-verify --no-db";
  EXPECT_THAT(Run(synth).out, HasSubstr("operands taken to be in RAM when it starts: rhs"));
  ExpectRefused("explain " + spec + "--cold=rhs,w",
                "--cold:1:5: expected one of the operands lhs, rhs, out, got 'w'");
  ExpectRefused("bench " + spec + "--cold=arg1",
                "--cold:1:1: expected one of the operands lhs, rhs, out, got 'arg1'");
  ExpectRefused("explain -f " + Path("k.kirsch") + " --cold=lhs",
                "--cold:1:1: expected one of the operands x, w, out, got 'lhs'");
}

TEST_F(CliTest, AFamilyForThreadsOrAnotherCpu) {
  EXPECT_EQ(Run("synth 'matmul f32 1..6x64x64' --threads 2 -o " + Path("k.h")).code, 0);
  EXPECT_EQ(Run("synth 'matmul f32 1..6x64x64' --target haswell -o " + Path("k.h")).code, 0);
  EXPECT_EQ(Run("synth 'matmul f32 1..6x64x64' --header-mode bare -o " + Path("k.h")).code, 0);
}

TEST_F(CliTest, OtherCommandsOfAFamily) {
  const Outcome verify = Run("verify 'matmul f32 1..3x5x6..7'");
  EXPECT_EQ(verify.code, 0);
  EXPECT_THAT(verify.out, HasSubstr("passed  header: 6 of 6 members, through the public functions\n"));
  EXPECT_EQ(Run("verify 'matmul bf16*bf16->f32 3x2..40x8'").code, 0);
  const Outcome explain = Run("explain 'matmul f32 1..20x16x24'");
  EXPECT_EQ(explain.code, 0);
  EXPECT_THAT(explain.out, StartsWith("m            kernels"));
  EXPECT_THAT(explain.out, HasSubstr("no program costs less"));
  const Outcome schedules =
      Run("synth 'matmul f32 1..20x16x24' --target skylake-avx512 --no-verify --emit schedule");
  EXPECT_EQ(schedules.code, 0);
  EXPECT_THAT(schedules.out, StartsWith("# m 1..20: 20 kernels, "));
  EXPECT_EQ(Run("synth 'matmul f32 1..3x4x4' --no-verify --emit c").code, 0);
  const Outcome json = Run("verify 'matmul f32 1..3x4x4' --json -");
  EXPECT_EQ(nlohmann::json::parse(json.out, nullptr, false)["verify"]["ok"], true) << json.out;
}

TEST_F(CliTest, AConstantOperandIsPackedAhead) {
  const std::string spec = "'matmul f32 300x301x302 rhs=col const-rhs'";
  const Outcome outcome = Run(Cat("synth ", spec, " -o ", Path("k.h"), " --json ", Path("k.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("verified: interpreter passed, jit passed, header passed"));
  const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("k.json")), nullptr, false);
  const nlohmann::json& packing = json["packing"];
  EXPECT_GT(packing["pack_cycles"], 0);
  const double saved = packing["unpacked_cycles"].get<double>() - json["cost_cycles"].get<double>();
  ASSERT_GT(saved, 0);
  EXPECT_EQ(packing["pays_from_call"], std::ceil(packing["pack_cycles"].get<double>() / saved));
  EXPECT_GE(json["emit"]["packed_bytes"], 301 * 302 * 4);
  EXPECT_THAT(*ReadFile(Path("k.h")),
              HasSubstr(Cat("pays from ", packing["pays_from_call"].get<int>(), " call")));

  const Outcome unpacked = Run("synth 'matmul f32 300x301x302 rhs=col' --no-verify --json -");
  const nlohmann::json without = nlohmann::json::parse(unpacked.out, nullptr, false);
  EXPECT_FALSE(without.contains("packing"));
  EXPECT_EQ(without["cost_cycles"], packing["unpacked_cycles"]);

  EXPECT_EQ(Run(Cat("synth ", spec, " --emit schedule --no-verify -o ", Path("k.schedule"))).code, 0);
  const Outcome pinned = Run(Cat("verify ", spec, " --json - --schedule ", Path("k.schedule")));
  EXPECT_EQ(nlohmann::json::parse(pinned.out, nullptr, false)["cost_cycles"], json["cost_cycles"]);
  EXPECT_THAT(Run(Cat("explain ", spec)).out, HasSubstr("pack rhs "));
  EXPECT_EQ(Run(Cat("verify ", spec, " --threads 2")).code, 0);
}

TEST_F(CliTest, AFamilyTakesAnOperandThatIsPackedOnce) {
  const std::string spec = "'matmul f32 1..40x64x512 const-rhs mixture=1:0.9,40:0.1'";
  const Outcome outcome =
      Run(Cat("synth ", spec, " --target haswell -o ", Path("k.h"), " --json ", Path("k.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("k.json")), nullptr, false);
  const nlohmann::json& copy = json["shared_copy"];
  EXPECT_EQ(copy["mixture"], "1:0.9,40:0.1");
  EXPECT_THAT(outcome.err, HasSubstr(Cat("packed once: ", copy["layout"].get<std::string>(), "; ")));
  EXPECT_THAT(outcome.err, HasSubstr("above each size's own copy, for 1:0.9,40:0.1\n"));
  EXPECT_GE(json["emit"]["packed_bytes"], 64 * 512 * 4);
  // What the mixture costs more than its sizes do alone.
  double all = 0, own = 0;
  for (const auto& [rows, share] : {std::pair(1, 0.9), std::pair(40, 0.1)}) {
    all += share * json["kernels"][static_cast<size_t>(rows - 1)]["cost_cycles"].get<double>();
    const Outcome alone =
        Run(Cat("synth 'matmul f32 ", rows, "x64x512 const-rhs' --target haswell --no-verify --json -"));
    own += share * nlohmann::json::parse(alone.out, nullptr, false)["cost_cycles"].get<double>();
  }
  EXPECT_GE(copy["loss"], 0);
  EXPECT_LE(own, all);
  // Programs for any size may divide rows as no program for one size does, and cost a little less.
  constexpr double kLess = 0.005;
  EXPECT_LE((1 + copy["loss"].get<double>()) * own, all * (1 + kLess));
  EXPECT_LE(all, 1.03 * (1 + copy["loss"].get<double>()) * own);  // regions lose that much at most

  EXPECT_EQ(
      Run("synth 'matmul bf16*bf16->f32 1..9x30x40 const-rhs' --target haswell,znver4 -o " + Path("k.h"))
          .code,
      0);
  EXPECT_EQ(Run("synth 'matmul f32 1..9x30x40 const-rhs out=col' --threads 2 -o " + Path("k.h")).code, 0);
  EXPECT_THAT(Run("explain 'matmul f32 1..5x30x40 const-rhs'").out,
              HasSubstr("for calls of size n 1/n as often"));
  ExpectRefused("synth 'matmul f32 3x8x1..8 const-rhs'",
                "SPEC: expected a single size that varies, and none of");
  ASSERT_TRUE(WriteFile(Path("two.kirsch"), "matmul f32 4x4x4\nb = matmul f32 3x8x1..8 const-rhs\n").ok());
  ExpectRefused("synth -f " + Path("two.kirsch"), "b: expected a single size that varies, and none of");
  ASSERT_TRUE(
      WriteFile(Path("blocks.kirsch"), "matmul f32 4x4x4\nmatmul f32 4x4x64 column-blocks=32\n").ok());
  ExpectRefused("synth -f " + Path("blocks.kirsch") + " --threads 2", "--threads: expected 1");
  ExpectRefused("synth 'matmul f32 1..3x8x8 const-rhs' --tuned",
                "SPEC: expected a single size where programs are");
  ExpectRefused("synth 'matmul f32 1..3x8x8 const-rhs mixture=4:1'",
                "spec:1:39: expected one of the sizes that m");
}

TEST_F(CliTest, WhatAFamilyCannotBeIsRefused) {
  ASSERT_TRUE(WriteFile(Path("s"), "microkernel").ok());
  ExpectRefused("synth 'matmul f32 4..3x4x4'", "spec:1:15: expected the last size of a range from 4 to");
  // More sizes than there may be programs: those that members can't share programs for.
  ExpectRefused("synth 'matmul f32 1..4097:4x4x4'",
                "SPEC: expected at most 4096 sizes where each has a program of its own, got 4097");
  ExpectRefused("explain 'matmul f32 1..4097x4x4' --target haswell",
                "SPEC: expected at most 4096 sizes where each has a program of its own, got 4097");
  ExpectRefused("synth 'layernorm f32 4x1..4097'",
                "SPEC: expected at most 4096 sizes where each has a program of its own, got 4097");
  ASSERT_TRUE(WriteFile(Path("large.kirsch"), "a = matmul f32 4x4x4\nb = matmul f32 1..65:4x4x1..64\n").ok());
  ExpectRefused("synth -f " + Path("large.kirsch"),
                "b: expected at most 4096 sizes where each has a program of its own, got 4160");
  ExpectRefused("synth 'matmul f32 1..3x4x4' --emit asm --abi win64", "--abi: expected sysv for a family");
  ExpectRefused("synth 'matmul f32 1..3x4x4' --declarations " + Path("d.h"),
                "--declarations: expected --emit obj, asm or ll, got header");
  ExpectRefused("verify 'matmul f32 1..3x4x4' --schedule " + Path("s"),
                "--schedule: expected a single kernel");
  ExpectRefused("bench 'matmul f32 1..3x4x4 ldc=9 epilogue=relu'",
                "bench: expected a matmul of dense operands");
  EXPECT_EQ(Run("synth 'matmul f32 3..3x4x4' --no-verify --emit asm").code, 0);  // a family of one
}

TEST_F(CliTest, AFileOfKernelsForSeveralTargets) {
  ASSERT_TRUE(
      WriteFile(Path("ops.kirsch"), "# ours\nsquare = matmul f32 16x17x18\nmatmul f32 1..2x8x8\n").ok());
  const Outcome outcome =
      Run(Cat("synth -f ", Path("ops.kirsch"), " --target haswell,host --prefix my_ --namespace a::b -o ",
              Path("ops.h"), " --json ", Path("ops.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("matmul f32 16x17x18 on haswell: "));
  EXPECT_THAT(outcome.err, HasSubstr("matmul f32 1..2x8x8 on host: 2 members"));
  EXPECT_THAT(outcome.err, HasSubstr("verified: interpreter passed, jit passed, header passed"));
  const std::string header = *ReadFile(Path("ops.h"));
  for (const char* text :
       {"#ifndef KIRSCH_A_B_MY_OPS_H_\n", "namespace a::b {", "void my_square(",
        "int my_matmul_f32_1to2x8x8(", "#ifdef MY_OPS_SELF_TEST\n", "int my_square_supported(void)"})
    EXPECT_THAT(header, HasSubstr(text));
  const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("ops.json")), nullptr, false);
  EXPECT_EQ(json["name"], "my_ops");
  ASSERT_EQ(json["kernels"].size(), 4u);
  EXPECT_EQ(json["kernels"][0]["name"], "my_square");
  EXPECT_EQ(json["kernels"][0]["target"], "haswell");
  EXPECT_GT(json["kernels"][0]["cost_cycles"], 0);
  EXPECT_EQ(json["kernels"][3]["target"], "host");
  EXPECT_EQ(json["kernels"][3]["members"], 2);
  EXPECT_EQ(json["verify"]["ok"], true);
  EXPECT_EQ(json["emit"]["bytes"], fs::file_size(Path("ops.h")));

  const Outcome verify = Run(Cat("verify -f ", Path("ops.kirsch")));
  EXPECT_EQ(verify.code, 0);
  EXPECT_THAT(verify.out, HasSubstr("passed  header: 3 of 3 members, through the public functions\n"));
  const Outcome c = Run(Cat("synth -f ", Path("ops.kirsch"), " --no-verify --emit c"));
  EXPECT_THAT(c.out, HasSubstr("\nvoid square("));
}

TEST_F(CliTest, GraphsAreSynthesizedAndVerified) {
  ASSERT_TRUE(WriteFile(Path("mixed.kirsch"),
                        "small = matmul f32 4x5x6\n"
                        "kernel mlp(x: f32[6,8], w: f32[8,20], v: f32[20,5]) -> f32[6,5]:\n"
                        "  return matmul(gelu(matmul(x, w)), v)\n"
                        "rows = softmax f32 3x40\n")
                  .ok());
  const Outcome outcome = Run(Cat("synth -f ", Path("mixed.kirsch"), " --target haswell -o ", Path("mixed.h"),
                                  " --json ", Path("mixed.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("mlp on haswell: "));
  const std::string header = *ReadFile(Path("mixed.h"));
  for (const char* text :
       {"void mlp(const float* __restrict x, const float* __restrict w, const float* __restrict v, "
        "float* __restrict out",
        "void rows(", "void small(", "//   v4 = gelu(v3)"})
    EXPECT_THAT(header, HasSubstr(text));
  const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("mixed.json")), nullptr, false);
  ASSERT_EQ(json["kernels"].size(), 3u);
  EXPECT_EQ(json["kernels"][1]["name"], "mlp");
  EXPECT_EQ(json["verify"]["ok"], true);
  const Outcome explained = Run(Cat("explain -f ", Path("mixed.kirsch"), " --kernel mlp --target haswell"));
  EXPECT_THAT(explained.out, HasSubstr("nest: batch 1, 6 rows by "));
  EXPECT_EQ(Run("verify 'conv2d f32 1x3x6x7 filters=4 kernel=3x3 pad=1' --target haswell").code, 0);
  ExpectRefused(Cat("verify -f ", Path("mixed.kirsch"), " --kernel none"), "--kernel: expected a kernel of ");
  ExpectRefused("verify 'matmul f32 4x4x4' --kernel x", "--kernel: expected -f FILE beside it");
  ExpectRefused("synth 'softmax f32 3x'", "spec:1:15: expected a size from 1 to 1048576, got nothing");
}

// What is printed is followed, by hand or from the table; what isn't in the space is refused with its place.
TEST_F(CliTest, SchedulesOfGraphsAreFollowed) {
  ASSERT_TRUE(WriteFile(Path("mlp.kirsch"),
                        "kernel mlp(x: f32[9,20], w: f32[20,30], v: f32[30,8]):\n"
                        " return softmax(matmul(relu(matmul(x, w)), v))\n")
                  .ok());
  const std::string synth = Cat("synth -f ", Path("mlp.kirsch"), " --target haswell --no-verify");
  ASSERT_EQ(Run(Cat(synth, " --no-db --emit schedule -o ", Path("s"))).code, 0);
  ASSERT_EQ(Run(Cat(synth, " --no-db --emit obj -o ", Path("searched.o"))).code, 0);
  ASSERT_EQ(Run(Cat(synth, " --no-db --emit obj -o ", Path("followed.o"), " --schedule ", Path("s"))).code,
            0);
  EXPECT_EQ(*ReadFile(Path("followed.o")), *ReadFile(Path("searched.o")));
  const std::string with_table = Cat(synth, " --emit obj --db ", Path("t.db"), " -o ");
  EXPECT_THAT(Run(with_table + Path("first.o")).err, HasSubstr("; optimal, "));
  EXPECT_THAT(Run(with_table + Path("second.o")).err,
              AllOf(HasSubstr("; from the table, "), HasSubstr("; 0 specs in ")));
  EXPECT_EQ(*ReadFile(Path("second.o")), *ReadFile(Path("searched.o")));
  EXPECT_THAT(Run(Cat("db stats ", Path("t.db"))).out, HasSubstr(" groups of 1 graphs"));
  ASSERT_TRUE(WriteFile(Path("wrong"), "group v3 v4 v5 out\n  matmul tile=10 keep=L2\n").ok());
  ExpectRefused(Cat(synth, " --no-db --schedule ", Path("wrong")),
                Path("wrong") + ":2:3: expected a tile of no more rows than there are");
  ExpectRefused(Cat(synth, " --no-db --schedule ", Path("none")), "none");
}

TEST_F(CliTest, WinogradIsSaidWhereItIsUsed) {
  const std::string spec = "'conv2d f32 1x32x28x28 filters=32 kernel=3x3 pad=1 layout=nhwc' --target haswell";
  const Outcome outcome =
      Run(Cat("synth ", spec, " --allow-winograd -o ", Path("w.h"), " --json ", Path("w.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("; by Winograd's algorithm, F("));
  EXPECT_THAT(*ReadFile(Path("w.h")), HasSubstr("// out: by Winograd's algorithm, F("));
  const nlohmann::json json = nlohmann::json::parse(*ReadFile(Path("w.json")), nullptr, false);
  EXPECT_EQ(json["winograd"].size(), 1u);
  EXPECT_THAT(Run("explain " + spec + " --allow-winograd").out,
              HasSubstr("out: by Winograd's algorithm, F("));
  EXPECT_THAT(Run("verify " + spec + " --allow-winograd").err, HasSubstr("; by Winograd's algorithm, F("));
  EXPECT_THAT(Run("explain " + spec).out, Not(HasSubstr("Winograd")));
  // Allowed is what may be; most kernels have no use for it.
  for (const char* other : {"conv2d f32 1x32x30x30 filters=32 kernel=3x3 layout=nhwc", "matmul f32 4x4x4",
                            "conv2d bf16*bf16->f32 1x4x9x9 filters=4 kernel=3x3 layout=nhwc"})
    EXPECT_EQ(Run(Cat("explain '", other, "' --target haswell --allow-winograd")).code, 0) << other;
}

// The self-test of a header knows all types; the header goes through it here.
TEST_F(CliTest, AFileOfKernelsOfAllTypesIsVerified) {
  ASSERT_TRUE(
      WriteFile(Path("types.kirsch"),
                "x1 = matmul bf16*bf16->f32 17x33x20\nx2 = matmul bf16 5x300x40 accumulate\n"
                "x3 = matmul f32*bf16->f32 3x50x17 rhs=col\nx4 = matmul f16*f16->f32 9x31x33\n"
                "x5 = matmul u8*s8->s32 9x31x33\nx6 = matmul s8*s8->s32 9x31x33 accumulate\n"
                "x7 = matmul u8*s8->s16 2x30000x16 accumulate\nx8 = matmul s32 9x31x33\n"
                "x9 = matmul f32*f8_e4m3->f32 9x31x33\nx10 = matmul bf16*f8_e5m2->f32 3x50x17 rhs=col\n"
                "kernel x11(x: f32[4,32], w: f8_e4m3[32,17]):\n  return matmul(x, cast(w, f32))\n")
          .ok());
  const Outcome outcome = Run(Cat("verify -f ", Path("types.kirsch"), " --target haswell"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(CliTest, WhatAFileCannotHaveIsRefused) {
  ASSERT_TRUE(WriteFile(Path("bad.kirsch"), "\na = matmul f32 4x0x4").ok());
  ASSERT_TRUE(WriteFile(Path("two.kirsch"), "a = matmul f32 4x4x4\nb = matmul f32 4x4x5").ok());
  ExpectRefused("synth -f " + Path("bad.kirsch"), Path("bad.kirsch") + ":2:18: expected a size from 1 to");
  ExpectRefused("verify -f " + Path("none.kirsch"), "none.kirsch");
  ExpectRefused("verify 'matmul f32 4x4x4' -f " + Path("two.kirsch"), "expected either SPEC or -f FILE");
  ExpectRefused(Cat("synth -f ", Path("two.kirsch"), " --emit asm"),
                "--emit: expected header or c for several kernels or targets, got 'asm'");
  ExpectRefused("synth 'softmax f32 4x4' --emit asm --abi win64", "--abi: expected sysv for a graph");
  ExpectRefused("synth 'matmul f32 4x4x4' --target haswell,vax", "target: expected one of haswell");
  ExpectRefused("synth 'matmul f32 4x4x4' --target haswell,haswell",
                "--target: expected different targets, got 'haswell' twice");
  ExpectRefused("synth 'matmul f32 4x4x4' --target haswell,znver4 --header-mode macros",
                "--header-mode: expected attributes for several targets");
  ExpectRefused("synth 'matmul f32 4x4x4' --prefix 1a", "--prefix: expected letters, digits");
  ExpectRefused("synth 'matmul f32 4x4x4' --namespace a:b", "--namespace: expected names with :: between");
  ExpectRefused("synth 'matmul f32 4x4x4' --namespace a --emit c",
                "--namespace: expected --emit header, got c");
  ExpectRefused("synth 'matmul f32 4x4x4' --namespace a --header-mode bare", "--namespace: expected another");
  ExpectRefused("synth 'matmul f32 4x4x4' --abi win64", "--abi: expected --emit obj, asm or ll, got header");
}

TEST_F(CliTest, ObjectsForWindowsAreVerified) {
  const Outcome outcome =
      Run("synth 'matmul f32 40x30x20' --prefix my_ --emit obj --abi win64 -o " + Path("k.obj"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("jit passed"));
  EXPECT_THAT(*ReadFile(Path("k.obj")), StartsWith("\x64\x86"));
  EXPECT_THAT(*ReadFile(Path("k.obj")), HasSubstr("my_matmul_f32_40x30x20"));
}

// What can run is decided by what the code needs. No CPU has the feature, and nothing uses it.
TEST_F(CliTest, ATargetWithMoreThanTheCodeNeedsIsVerified) {
  std::string target = Run("target show haswell").out;
  const size_t features = target.find("\"fma\"");
  ASSERT_NE(features, std::string::npos);
  target.insert(features, "\"no-such-feature\", ");
  ASSERT_TRUE(WriteFile(Path("more.json"), target).ok());
  for (const char* spec :
       {"matmul f32 4x4x4", "softmax f32 3x4", "matmul f32 1..2x4x4", "softmax f32 1..2x4"}) {
    const Outcome outcome = Run(Cat("verify '", spec, "' --json - --target ", Path("more.json")));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(json["verify"]["verdict"], "verified") << outcome.out;
    EXPECT_EQ(json["verify"]["engines"].back()["outcome"], "passed") << outcome.out;
    EXPECT_TRUE(json["verify"]["engines"].back().contains("hot_loops")) << outcome.out;
  }
  for (const char* bench : {"'matmul f32 4x4x4' --against openblas", "'softmax f32 3x4' --against loops"}) {
    const Outcome outcome = Run(Cat("bench ", bench, " --target ", Path("more.json")));
    EXPECT_THAT(outcome.out, HasSubstr("\n  kirsch ")) << outcome.err;
  }
}

// One of the targets whose vectors this CPU lacks.
TEST_F(CliTest, WhatOnlyTheInterpreterHasRunIsSaidToBe) {
  const std::vector<std::string> host = ReadHost().features;
  if (std::find(host.begin(), host.end(), "avx512f") != host.end()) GTEST_SKIP() << "this CPU has AVX-512";
  for (const char* command : {"synth", "verify"})
    for (const char* spec : {"softmax f32 3x64", "matmul f32 3x4x64"}) {
      const Outcome checked = Run(Cat(command, " '", spec, "' --target skylake-avx512"));
      EXPECT_EQ(checked.code, 0) << checked.err;
      EXPECT_THAT(checked.err + checked.out, HasSubstr("program checked, code not run"));
    }
}

}  // namespace
}  // namespace kirsch
