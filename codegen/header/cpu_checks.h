// SPDX-License-Identifier: Apache-2.0
// C code that asks the CPU which instructions it has. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_CPU_CHECKS_H_
#define KIRSCH_CODEGEN_HEADER_CPU_CHECKS_H_

#include <string>
#include <vector>

namespace kirsch {

// Does the system have to be asked for one of the features? CpuCondition says no until it has been:
// KIRSCH_PERMIT(), which CpuCheckDefinitions defines then, asks.
bool NeedPermission(const std::vector<std::string>& features);

// An error for compilers that are too old to know one of these features; empty if none is.
std::string CompilerCheck(const std::vector<std::string>& features);

// Definitions of what CpuCondition uses, for these features: GCC's and Clang's builtin; or CPUID, asked once,
// with MSVC, with Clang for Windows (where the builtin needs a library), and with compilers whose builtin
// lacks one of the names. `name`: what functions' names begin with. Before it stand the includes and
// KIRSCH_TARGET.
std::string CpuCheckDefinitions(const std::vector<std::string>& features, const std::string& name);

// The #undef lines.
std::string CpuCheckEnd(const std::vector<std::string>& features);

// A C expression: not 0 if the CPU and the operating system support all of them.
std::string CpuCondition(const std::vector<std::string>& features);

// For #if: the compiler was told that it may use all of them.
std::string CompilerCondition(const std::vector<std::string>& features);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_CPU_CHECKS_H_
