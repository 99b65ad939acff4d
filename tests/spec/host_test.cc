#include "spec/target/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "spec/target/target_json.h"
#include "spec/target/targets.h"

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
    absl::StatusOr<Target> target = TargetOf(HostLike(named.name), named.cpu);
    ASSERT_TRUE(target.ok()) << target.status();
    Target expected = named;
    expected.name = "host";
    expected.cores = 1;
    EXPECT_TRUE(*target == expected) << PrintTarget(*target);
  }
}

TEST(HostTest, UnknownCpuIsTheBestOfItsVendorThatItCanRun) {
  EXPECT_EQ(TargetOf(HostLike("znver5"), "znver99")->cpu, "znver5");
  EXPECT_EQ(TargetOf(HostLike("znver3"), "")->cpu, "znver3");
  EXPECT_EQ(TargetOf(HostLike("haswell"), "alderlake")->cpu, "haswell");
  EXPECT_EQ(TargetOf(HostLike("skylake-avx512"), "icelake-server")->cpu, "skylake-avx512");
  Host other = HostLike("skylake-avx512");
  other.vendor = "SomeoneElse";
  EXPECT_EQ(TargetOf(other, "")->cpu, "skylake-avx512");
}

TEST(HostTest, MissingFeaturesAreDroppedWithWhatNeedsThem) {
  Host host = HostLike("haswell");
  absl::StatusOr<Target> target = TargetOf(host, "znver4");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->features, host.features);
  ASSERT_EQ(target->vectors.size(), 1u);
  EXPECT_EQ(target->vectors[0].bytes, 32);
  EXPECT_EQ(target->vectors[0].registers, 16);
  EXPECT_FALSE(target->vectors[0].masks);
  EXPECT_TRUE(ParseTarget(PrintTarget(*target), "host").ok());
}

TEST(HostTest, MachineWithoutAvx2IsRefused) {
  EXPECT_EQ(TargetOf(Host(), "").status().message(),
            "target host: this CPU lacks avx2, fma, which Kirsch needs");
}

TEST(HostTest, CachesCoresAndClockAreTheMachines) {
  Host host = HostLike("znver4");
  host.cores = 3;
  host.ghz = 5.5;
  host.caches = {{1, 65536, 4, 2}, {2, 64 << 20, 0, 0}, {7, 1, 1, 1}};
  const Target target = *TargetOf(host, "znver4");
  EXPECT_EQ(target.cores, 3);
  EXPECT_EQ(target.ghz, 5.5);
  EXPECT_EQ(target.at(Level::kL1).bytes, 65536);
  EXPECT_EQ(target.at(Level::kL1).ways, 4);
  EXPECT_EQ(target.at(Level::kL1).sharers, 2);
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

TEST(HostTest, ReadsThisMachine) {
  const Host host = ReadHost();
  EXPECT_THAT(host.vendor, ::testing::SizeIs(12));
  EXPECT_FALSE(host.brand.empty());
  EXPECT_GE(host.cores, 1);
  for (const HostCache& cache : host.caches) {
    EXPECT_GE(cache.bytes, 1024);
    EXPECT_GE(cache.sharers, 1);
  }
}

}  // namespace
}  // namespace kirsch
