// SPDX-License-Identifier: Apache-2.0
// The machine we run on: what it has, and the target that describes it.
#ifndef KIRSCH_SPEC_TARGET_HOST_H_
#define KIRSCH_SPEC_TARGET_HOST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"

namespace kirsch {

// One data or unified cache as the kernel reports it.
struct HostCache {
  int level = 0;
  int64_t bytes = 0;
  int ways = 0;
  int threads_per_cache = 0;  // CPUs that share one instance
};

// What the machine says of itself. What it doesn't say is 0 or empty.
struct Host {
  std::string vendor;  // CPUID's, e.g. "AuthenticAMD"
  std::string brand;   // e.g. "AMD EPYC 9654 96-Core Processor"
  int family = 0;
  int model = 0;
  int stepping = 0;
  bool hypervisor = false;  // a virtual machine, as CPUID says
  std::vector<std::string>
      features;    // of those Kirsch may use, LLVM's names; usable, i.e. enabled by the OS too
  int cores = 1;   // CPUs this process may run on
  double ghz = 0;  // highest clock, where the kernel knows it
  std::vector<HostCache> caches;
};

// Asks CPUID and the kernel; for tiles (AMX), where the CPU has them, also for permission.
Host ReadHost();

// Asks Linux to let this process, all of its threads, use tiles. False where it doesn't.
bool PermitTiles();

// Those of the features that may not be used without permission, which this process does not get, are left
// out.
void DropForbidden(std::vector<std::string>* features);

// What measured constants are kept under: two machines that differ in it are measured apart. A file name:
// "AuthenticAMD-25-1-1-L1-32K-L2-512K-L3-32768K-vm".
std::string Signature(const Host& host);

// The named target whose constants HostTarget takes.
std::string NearestTarget(const Host& host, std::string_view llvm_cpu);

// A target called "host". Cycle constants are those of the nearest named target: the one for `llvm_cpu`
// (LLVM's name of the CPU; may be empty), else of those whose features `host` has the one with most, the same
// vendor's first. Features that `host` lacks are dropped, and vector units that need them (in a virtual
// machine, a CPU may have less than its name says). Caches, cores and clock are the machine's where it knows
// them. FailedPrecondition if the machine has no AVX2 and FMA.
absl::StatusOr<Target> HostTarget(const Host& host, std::string_view llvm_cpu);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_HOST_H_
