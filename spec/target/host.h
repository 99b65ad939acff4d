// SPDX-License-Identifier: Apache-2.0
// Describes the machine that the program runs on: what it has, and the target that stands for it.
//
// Nothing here is timed, so the same machine always gives the same target. ReadHost asks the CPU and the
// kernel; HostTarget is a pure function of the answers, so that tests can make up machines.
#ifndef KIRSCH_SPEC_TARGET_HOST_H_
#define KIRSCH_SPEC_TARGET_HOST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"

namespace kirsch {

// One data or unified cache, as the kernel reports it in sysfs. 0: the kernel does not say.
struct HostCache {
  int level = 0;
  int64_t bytes = 0;
  int ways = 0;
  int threads_per_cache = 0;  // CPUs that share one instance
};

// The machine's answers. What it doesn't say is 0 or empty.
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

// Asks CPUID and the kernel. If the CPU has tiles (AMX), it asks for the permission to use them, too. This
// never fails: an answer that is missing stays 0 or empty.
Host ReadHost();

// Asks Linux to let this process, all of its threads, use tiles. False if it refuses, or does not know the
// request. May be called again.
bool PermitTiles();

// Removes the features of tiles from `features` if this process does not get the permission to use them.
// Other features need none.
void DropForbidden(std::vector<std::string>* features);

// The name under which measured constants are kept; two machines that differ in it are measured apart. It has
// the CPU's family, model and stepping, its caches, and whether it is a virtual machine, whose costs are
// others. It is the name of a file: "AuthenticAMD-25-1-1-L1-32K-L2-512K-L3-32768K-vm".
std::string Signature(const Host& host);

// The name of the target whose constants HostTarget takes, for messages.
std::string NearestTarget(const Host& host, std::string_view llvm_cpu);

// Returns a target called "host".
// Its cycle constants are those of the nearest named target. That is the one for `llvm_cpu`, LLVM's name of
// the CPU, which may be empty. If there is none, it is the one with most features of those that need no
// feature which `host` lacks; targets of the same vendor come first.
// Features that `host` lacks are dropped, and so are vector units that need them: in a virtual machine, a CPU
// may have less than its name says. Caches, cores and clock are the machine's where it knows them.
// FailedPrecondition if the machine has no AVX2 and FMA.
absl::StatusOr<Target> HostTarget(const Host& host, std::string_view llvm_cpu);

// Returns the same machine as code for AVX2 sees it (x86-64-v3): without later features and vector units that
// need them, and with vectors of 16 bytes.
Target ForAvx2(Target target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_HOST_H_
