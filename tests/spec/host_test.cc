// SPDX-License-Identifier: Apache-2.0
#include "spec/target/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "spec/target/target_json.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Target& Named(std::string_view name) {
  for (const Target& target : NamedTargets())
    if (target.name == name) return target;
  ADD_FAILURE() << "no target " << name;
  return NamedTargets().front();
}

// A machine that has just what the named target has.
Host HostLike(std::string_view name) {
  Host host;
  host.vendor = Named(name).cpu.starts_with("znver") ? "AuthenticAMD" : "GenuineIntel";
  host.features = Named(name).features;
  return host;
}

TEST(HostTest, KnownCpuIsItsNamedTarget) {
  for (const Target& named : NamedTargets()) {
    absl::StatusOr<Target> target = HostTarget(HostLike(named.name), named.cpu);
    ASSERT_TRUE(target.ok()) << target.status();
    Target expected = named;
    expected.name = "host";
    expected.cores = 1;
    EXPECT_TRUE(*target == expected) << PrintTarget(*target);
  }
}

TEST(HostTest, UnknownCpuIsTheBestOfItsVendorThatItCanRun) {
  EXPECT_EQ(HostTarget(HostLike("znver5"), "znver99")->cpu, "znver5");
  EXPECT_EQ(HostTarget(HostLike("znver3"), "")->cpu, "znver3");
  EXPECT_EQ(HostTarget(HostLike("haswell"), "alderlake")->cpu, "haswell");
  EXPECT_EQ(HostTarget(HostLike("skylake-avx512"), "icelake-server")->cpu, "skylake-avx512");
  Host other = HostLike("skylake-avx512");
  other.vendor = "SomeoneElse";
  EXPECT_EQ(HostTarget(other, "")->cpu, "skylake-avx512");
}

TEST(HostTest, MissingFeaturesAreDroppedWithWhatNeedsThem) {
  Host host = HostLike("haswell");
  absl::StatusOr<Target> target = HostTarget(host, "znver4");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->features, host.features);
  ASSERT_EQ(target->vectors.size(), 1u);
  EXPECT_EQ(target->vectors[0].bytes, 32);
  EXPECT_EQ(target->vectors[0].registers, 16);
  EXPECT_FALSE(target->vectors[0].masks);
  EXPECT_TRUE(ParseTarget(PrintTarget(*target), "host").ok());
}

TEST(HostTest, CodeForAvx2SeesTheSameMachineWithoutTheRest) {
  for (const Target& named : NamedTargets()) {
    const absl::StatusOr<TargetFile> found = FindTarget(named.name + "-avx2", "");
    ASSERT_TRUE(found.ok()) << found.status();
    const Target& target = found->target;
    EXPECT_EQ(target.name, named.name + "-avx2");
    EXPECT_EQ(target.cpu, named.cpu);
    EXPECT_TRUE(target.memory == named.memory) << named.name;
    EXPECT_THAT(target.features, ::testing::IsSubsetOf({"avx2", "fma", "f16c", "bmi", "bmi2"}));
    EXPECT_FALSE(target.matrix.has_value());
    ASSERT_FALSE(target.vectors.empty());
    for (const VectorUnit& unit : target.vectors) {
      EXPECT_LE(unit.bytes, 32);
      EXPECT_LE(unit.registers, 16);
      EXPECT_FALSE(unit.masks);
    }
  }
  EXPECT_TRUE(ForAvx2(Named("haswell")) == Named("haswell")) << "it has no more than AVX2";
  EXPECT_THAT(std::string(FindTarget("zn-avx2", "").status().message()),
              ::testing::HasSubstr("expected one of"));
}

TEST(HostTest, MachineWithoutAvx2IsRefused) {
  EXPECT_EQ(HostTarget(Host(), "").status().message(),
            "target host: this CPU lacks avx2, fma, which Kirsch needs");
}

TEST(HostTest, CachesCoresAndClockAreTheMachines) {
  Host host = HostLike("znver4");
  host.cores = 3;
  host.ghz = 5.5;
  host.caches = {{1, 65536, 4, 2}, {2, 64 << 20, 0, 0}, {7, 1, 1, 1}};
  const Target target = *HostTarget(host, "znver4");
  EXPECT_EQ(target.cores, 3);
  EXPECT_EQ(target.ghz, 5.5);
  EXPECT_EQ(target.at(Level::kL1).bytes, 65536);
  EXPECT_EQ(target.at(Level::kL1).ways, 4);
  EXPECT_EQ(target.at(Level::kL1).threads_per_cache, 2);
  EXPECT_EQ(target.at(Level::kL2).bytes, 64 << 20);
  EXPECT_EQ(target.at(Level::kL2).ways, Named("znver4").at(Level::kL2).ways);
  EXPECT_EQ(target.at(Level::kL3).bytes, 64 << 20) << "never smaller than the cache before it";
  EXPECT_TRUE(ParseTarget(PrintTarget(target), "host").ok());
}

// The kernel's own list says which features are usable; it has other names for a few.
TEST(HostTest, FeaturesAgreeWithTheKernels) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string flags;
  while (std::getline(cpuinfo, flags) && !flags.starts_with("flags")) {
  }
  if (flags.empty()) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  flags += ' ';
  const auto kernel_has = [&](const std::string& name) {
    return flags.find(" " + name + " ") != std::string::npos;
  };
  const std::pair<const char*, const char*> names[] = {{"fma", "fma"},
                                                       {"f16c", "f16c"},
                                                       {"avx2", "avx2"},
                                                       {"bmi", "bmi1"},
                                                       {"bmi2", "bmi2"},
                                                       {"avxvnni", "avx_vnni"},
                                                       {"avx512f", "avx512f"},
                                                       {"avx512cd", "avx512cd"},
                                                       {"avx512dq", "avx512dq"},
                                                       {"avx512bw", "avx512bw"},
                                                       {"avx512vl", "avx512vl"},
                                                       {"avx512vnni", "avx512_vnni"},
                                                       {"avx512bf16", "avx512_bf16"}};
  const std::vector<std::string> features = ReadHost().features;
  for (const auto& [ours, kernels] : names)
    EXPECT_EQ(std::find(features.begin(), features.end(), ours) != features.end(), kernel_has(kernels))
        << ours;
}

TEST(HostTest, SignatureTellsApartWhatIsMeasuredApart) {
  Host host = HostLike("znver3");
  host.family = 25, host.model = 1, host.stepping = 1;
  host.caches = {{1, 32 << 10, 8, 1}, {2, 512 << 10, 8, 1}, {3, 32 << 20, 16, 8}};
  EXPECT_EQ(Signature(host), "AuthenticAMD-25-1-1-L1-32K-L2-512K-L3-32768K");
  host.hypervisor = true;
  EXPECT_EQ(Signature(host), "AuthenticAMD-25-1-1-L1-32K-L2-512K-L3-32768K-vm");
  host.cores = 64;  // a machine with more of the same cores
  EXPECT_EQ(Signature(host), "AuthenticAMD-25-1-1-L1-32K-L2-512K-L3-32768K-vm");
}

// The directory that KIRSCH_CONFIG names, and what is in it.
class HostFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_ + "/targets");
    setenv("KIRSCH_CONFIG", directory_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(directory_);
    setenv("KIRSCH_CONFIG", "none", 1);
  }
  void Write(const std::string& text) { ASSERT_TRUE(WriteFile(HostFile(), text).ok()); }

  // Of this process alone: another one may run another of these tests.
  const std::string directory_ = Cat(::testing::TempDir(), "kirsch-host-", getpid());
};

TEST_F(HostFileTest, IsWhereTheEnvironmentSays) {
  EXPECT_TRUE(HostFile().starts_with(directory_)) << HostFile();
  EXPECT_TRUE(HostFile().ends_with(Cat("/targets/", Signature(ReadHost()), ".json"))) << HostFile();
  setenv("KIRSCH_CONFIG", "none", 1);
  EXPECT_EQ(HostFile(), "");
}

TEST_F(HostFileTest, HostHasTheConstantsOfTheFile) {
  if (!HostTarget(ReadHost(), "").ok()) GTEST_SKIP() << "this CPU can't run Kirsch's kernels";
  EXPECT_THAT(FindTarget("host", "znver3")->note, ::testing::HasSubstr("not calibrated: kirsch target"));
  Write(R"({"loop_cycles": 7.5, "calibration": {"date": "2026-11-22", "keys": {}}})");
  const absl::StatusOr<TargetFile> host = FindTarget("host", "znver3");
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_EQ(host->target.loop_cycles, 7.5);
  EXPECT_EQ(host->target.name, "host");
  EXPECT_EQ(host->note, "host: calibrated 2026-11-22");
  EXPECT_THAT(host->warnings, IsEmpty());
}

TEST_F(HostFileTest, WhatIsWrongWithTheFileIsSaid) {
  Write("{\"loop_cycles\": \"fast\"}");
  EXPECT_THAT(FindTarget("host", "").status().message(), ::testing::HasSubstr(".json:1:17: expected "));
  Write(R"({"features": ["avx2", "fma", "teleport"]})");
  EXPECT_THAT(FindTarget("host", "").status().message(), ::testing::HasSubstr("teleport"));
}

TEST(HostTest, ReadsThisMachine) {
  const Host host = ReadHost();
  EXPECT_THAT(host.vendor, ::testing::SizeIs(12));
  EXPECT_FALSE(host.brand.empty());
  EXPECT_GE(host.cores, 1);
  for (const HostCache& cache : host.caches) {
    EXPECT_GE(cache.bytes, 1024);
    EXPECT_GE(cache.threads_per_cache, 1);
  }
}

}  // namespace
}  // namespace kirsch
