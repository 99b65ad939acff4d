// SPDX-License-Identifier: Apache-2.0
// Makes the target of a host: pure functions of what the host says of itself.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "spec/target/host.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Features = std::vector<std::string>;

// The features of `wanted` that `have` lacks, in the order of `wanted`.
Features Lacking(const Features& have, const Features& wanted) {
  Features lacking;
  for (const std::string& feature : wanted)
    if (std::ranges::find(have, feature) == have.end()) lacking.push_back(feature);
  return lacking;
}

// The target whose constants come nearest (HostTarget's comment has the rule). A name that LLVM knows
// decides. Else ranks do: first whether the vendor is the same, then the number of features. A target that
// needs a feature which the host lacks would have vector units that the host has not.
Target Nearest(const Host& host, std::string_view llvm_cpu) {
  Target best = DefaultTarget();
  std::pair<bool, size_t> best_rank;
  for (const Target& target : NamedTargets()) {
    if (target.cpu == llvm_cpu) return target;
    if (!Lacking(host.features, target.features).empty()) continue;
    const bool amd = absl::StartsWith(target.cpu, "znver");  // every other named target is Intel's
    const std::pair<bool, size_t> rank = {amd == (host.vendor == "AuthenticAMD"), target.features.size()};
    if (rank < best_rank) continue;  // of equals the last: names of one line of CPUs sort by age
    best = target;
    best_rank = rank;
  }
  return best;
}

// Drops what `available` doesn't allow: features, the matrix unit, vector units.
void Restrict(const Features& available, Target* target) {
  for (const std::string& feature : Lacking(available, target->features))
    target->features.erase(std::ranges::find(target->features, feature));
  if (!target->HasFeature(kTileFeature)) target->matrix.reset();
  for (VectorUnit& unit : target->vectors) {
    // A unit of 16 or 32 bytes that needs AVX-512 has a form without it: AVX2's masked loads and stores, and
    // 16 registers.
    if (unit.bytes == 64 || Lacking(available, FeaturesOf(unit)).empty()) continue;
    unit.masks = false;  // the same unit, as AVX2 sees it
    unit.registers = std::min(unit.registers, 16);
  }
  std::erase_if(target->vectors,
                [&](const VectorUnit& unit) { return !Lacking(available, FeaturesOf(unit)).empty(); });
}

// The machine's sizes replace the named target's, whose costs of a line stay.
void SetCaches(const std::vector<HostCache>& caches, Target* target) {
  for (const HostCache& cache : caches) {
    // A size below 1 KiB is a mistake of the system, or none; target files have that limit, too.
    if (cache.level < 1 || cache.level > 3 || cache.bytes < 1024) continue;
    MemoryLevel& level = target->memory[static_cast<size_t>(Index(Level::kL1) + cache.level - 1)];
    level.bytes = cache.bytes;
    if (cache.ways > 0) level.ways = cache.ways;
    if (cache.threads_per_cache > 0) level.threads_per_cache = cache.threads_per_cache;
  }
  // A cache the machine doesn't tell of is at least as large as the one before it.
  for (Level level : {Level::kL2, Level::kL3}) {
    const auto index = static_cast<size_t>(Index(level));
    target->memory[index].bytes = std::max(target->memory[index].bytes, target->memory[index - 1].bytes);
  }
}

}  // namespace

std::string Signature(const Host& host) {
  std::string text = Cat(host.vendor, "-", host.family, "-", host.model, "-", host.stepping);
  for (const HostCache& cache : host.caches) Append(&text, "-L", cache.level, "-", cache.bytes / 1024, "K");
  return Cat(text, host.hypervisor ? "-vm" : "");
}

std::string NearestTarget(const Host& host, std::string_view llvm_cpu) {
  return Nearest(host, llvm_cpu).name;
}

Target ForAvx2(Target target) {
  Restrict({"avx2", "fma", "f16c", "bmi", "bmi2"}, &target);
  // Where AVX-512 has masks for what is less than its narrowest vectors, AVX2 has still narrower ones.
  if (!target.vectors.empty() && target.vectors.back().bytes > 16) {
    target.vectors.push_back(target.vectors.back());
    target.vectors.back().bytes = 16;
  }
  return target;
}

absl::StatusOr<Target> HostTarget(const Host& host, std::string_view llvm_cpu) {
  if (const Features lacking = Lacking(host.features, {"avx2", "fma"}); !lacking.empty())
    return absl::FailedPreconditionError(
        Cat("target host: this CPU lacks ", Join(lacking, ", "), ", which Kirsch needs"));
  Target target = Nearest(host, llvm_cpu);
  target.name = "host";
  Restrict(host.features, &target);
  SetCaches(host.caches, &target);
  target.cores = host.cores;
  if (host.ghz > 0) target.ghz = host.ghz;
  return target;
}

}  // namespace kirsch
