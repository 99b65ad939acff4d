// SPDX-License-Identifier: Apache-2.0
// Says which CPU this process runs on, as LLVM knows it, so that code is run only where it can be.
#ifndef KIRSCH_CODEGEN_LLVM_HOST_CPU_H_
#define KIRSCH_CODEGEN_LLVM_HOST_CPU_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "codegen/loop/loop_program.h"
#include "spec/target.h"

namespace kirsch {

// A CPU by name and features.
struct HostCpu {
  std::string name;                   // LLVM's name, e.g. "znver4"
  std::vector<std::string> features;  // those the CPU and the operating system support, LLVM's names, sorted
};

// Returns this host's CPU. It is asked once, at the first call. Thread-safe.
const HostCpu& DetectHostCpu();

// Returns the first of `features` that is not among `available`, which is sorted; empty if all are.
std::string FirstMissing(const std::vector<std::string>& features, const std::vector<std::string>& available);

// Returns the first of `features` that this host lacks; empty if it has them all.
std::string MissingOnHost(const std::vector<std::string>& features);

// Returns OK if this host has what the code requires, which may be less than `target` has. Else it is
// FAILED_PRECONDITION: "this CPU can't run the code for skylake-avx512: it lacks avx512f".
absl::Status CanRun(const LoopProgram& program, const Target& target);

// True if LLVM has an x86-64 CPU of this name.
bool KnowsCpu(const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_HOST_CPU_H_
