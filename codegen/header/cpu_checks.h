// SPDX-License-Identifier: Apache-2.0
// Prints C code that asks the CPU which instructions it has. A header may be compiled on one machine and run
// on another, so it asks at run time. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_CPU_CHECKS_H_
#define KIRSCH_CODEGEN_HEADER_CPU_CHECKS_H_

#include <string>
#include <vector>

namespace kirsch {

// True if the system has to be asked for one of the features. CpuCondition is false until it has been.
// KIRSCH_PERMIT() asks; CpuCheckDefinitions defines it then.
bool NeedPermission(const std::vector<std::string>& features);

// Returns an #error for compilers that are too old to know one of these features; empty if all compilers do.
std::string CompilerCheck(const std::vector<std::string>& features);

// Returns definitions of what CpuCondition uses, for these features. GCC and Clang have a builtin for it.
// Three cases ask CPUID instead, once: MSVC, Clang for Windows (where the builtin needs a library), and
// compilers whose builtin lacks one of the names. `name`: the prefix of functions' names. The includes and
// KIRSCH_TARGET must stand before it.
std::string CpuCheckDefinitions(const std::vector<std::string>& features, const std::string& name);

// Returns the #undef lines for these definitions.
std::string CpuCheckEnd(const std::vector<std::string>& features);

// Returns a C expression that is not 0 if the CPU and the operating system support all of them:
//   KIRSCH_CPU_AVX2 && KIRSCH_CPU_FMA
std::string CpuCondition(const std::vector<std::string>& features);

// Returns an expression for #if: true if the compiler was told that it may use all of them:
//   defined(__AVX512F__) && defined(__AVX512VL__)
std::string CompilerCondition(const std::vector<std::string>& features);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_CPU_CHECKS_H_
