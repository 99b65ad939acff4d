// SPDX-License-Identifier: Apache-2.0
// Peers took kernels that the CPU can't run, and died; one that is named by its path, and isn't there, was
// left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/contenders/peers.h"
#include "bench/harness/roster.h"
#include "bench/machine/core_types.h"
#include "bench/results/report.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Takes the kernels that a setting names, as OpenBLAS does.
class Chooser : public Contender {
 public:
  absl::StatusOr<ContenderInfo> Load() override {
    const char* const core = std::getenv("CHOOSER_CORE");
    return ContenderInfo{"chooser 1",
                         core == nullptr ? "Haswell" : core,
                         {"run"},
                         {"CHOOSER_CORE=Haswell", "CHOOSER_CORE=SkylakeX", "CHOOSER_CORE=Cooperlake"}};
  }
  absl::Status Prepare(const Workload&, size_t, size_t) override { return absl::OkStatus(); }
  void Run() override { std::raise(SIGILL); }
};

std::vector<std::string> NamesOf(const std::vector<Entrant>& entrants) {
  std::vector<std::string> names;
  for (const Entrant& entrant : entrants) names.push_back(entrant.name());
  return names;
}

TEST(ForeignPeer, IsNotEntered) {
  const Peer peer{"chooser", {[] { return std::make_unique<Chooser>(); }}};
  const WorkerOptions options{{}, {0}, {}, false};
  BenchReport report;
  EXPECT_THAT(NamesOf(EnterPeer(peer, options, {"avx2", "fma"}, report)), ElementsAre("chooser 1/Haswell"));
  EXPECT_THAT(report.not_on_this_cpu, ElementsAre("chooser 1/SkylakeX", "chooser 1/Cooperlake"));
  EXPECT_THAT(report.missing, IsEmpty());
  EXPECT_THAT(FormatTable(report), HasSubstr("not on this CPU: chooser 1/SkylakeX, chooser 1/Cooperlake\n"));
  BenchReport newer;
  EXPECT_EQ(EnterPeer(peer, options, {"avx2", "fma", "avx512bw", "avx512bf16"}, newer).size(), 3u);
  EXPECT_THAT(newer.not_on_this_cpu, IsEmpty());
}

TEST(ForeignPeer, CoreTypesNeedFeatures) {
  for (const char* core : {"SkylakeX", "skx", "skylake-avx512", "Cooperlake", "zen4", "cpx"})
    EXPECT_FALSE(RunsCoreType(core, {"avx2", "fma"})) << core;
  for (const char* core : {"SkylakeX", "skx", "skylake-avx512", "Haswell", "zen3", ""})
    EXPECT_TRUE(RunsCoreType(core, {"avx2", "fma", "avx512bw"})) << core;
}

// Held to AVX2, peers have the kernels that they would have on a CPU without AVX-512.
TEST(ForeignPeer, MayBeHeldToLessThanTheCpuHas) {
  const std::vector<std::string> newer = {"avx2", "avx512bf16", "avx512bw", "fma", "amx_tile"};
  EXPECT_THAT(FeaturesOf("avx2", newer), ElementsAre("avx2", "fma"));
  EXPECT_FALSE(RunsCoreType("avx512_core_bf16", FeaturesOf("avx2", newer)));
  EXPECT_FALSE(RunsCoreType("of the CPU", FeaturesOf("avx2", newer)));
  EXPECT_TRUE(RunsCoreType("avx2", FeaturesOf("avx2", newer)));
  BenchReport report;
  report.peers_isa = "avx2";
  const Peer peer{"chooser", {[] { return std::make_unique<Chooser>(); }}};
  EXPECT_EQ(EnterPeer(peer, {{}, {0}, {}, false}, FeaturesOf("avx2", newer), report).size(), 1u);
  EXPECT_THAT(FormatTable(report), HasSubstr("beyond what peers were held to: chooser 1/SkylakeX, "));
}

using NamedPeer = testing::CliTest;

TEST_F(NamedPeer, HasToBeThere) {
  ExpectRefused("bench 'matmul f32 4x4x4' --no-db --against cblas:/nonexistent.so",
                "--against: '/nonexistent.so': No such file or directory");
  ExpectRefused("bench 'softmax f32 4x4' --no-db --against loops,cblas:/nonexistent.so", "'/nonexistent.so'");
  ASSERT_TRUE(WriteFile(Path("text.so"), "no library").ok());
  const testing::Outcome outcome =
      Run(Cat("bench 'matmul f32 4x4x4' --no-db --target haswell --against cblas:", Path("text.so")));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(Cat("kirsch: --against: ", Path("text.so"), ": ")));
}

// pip puts MKL there.
TEST_F(NamedPeer, MklIsLookedForInTheActiveEnvironment) {
  for (const char* name : {"libmkl_rt.so.2", "libmkl_rt.so.3"}) {
    std::filesystem::create_directories(Path("venv/lib"));
    const std::string library = Path(Cat("venv/lib/", name));
    ASSERT_TRUE(WriteFile(library, "no library").ok());
    const testing::Outcome outcome = testing::RunKirsch(
        Cat("VIRTUAL_ENV=", Path("venv")), "bench 'matmul f32 4x4x4' --no-db --target haswell --against mkl",
        directory_.string());
    std::filesystem::remove(library);
    if (outcome.out.find("missing: mkl") == std::string::npos) GTEST_SKIP() << "the system has MKL";
    EXPECT_THAT(outcome.out, HasSubstr(Cat("missing: mkl: ", library, ": "))) << outcome.err;
  }
}

}  // namespace
}  // namespace kirsch
