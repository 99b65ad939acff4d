// Checking and naming the kernel of a synthesis: what synth and verify share.
#ifndef KIRSCH_TOOLS_KERNEL_H_
#define KIRSCH_TOOLS_KERNEL_H_

#include <nlohmann/json.hpp>
#include <string>

#include "codegen/header.h"
#include "codegen/verify.h"
#include "tools/solve.h"

namespace kirsch {

// The C identifier for a spec: "matmul_f32_64x64x64_rhs_col".
std::string KernelName(const ParsedSpec& parsed);

// What the header says about the kernel and how it is to be printed.
HeaderOptions HeaderOptionsFor(const Synthesis& synthesis, HeaderMode mode);

// Climbs the verification ladder, with objects for `abi`.
VerifyReport VerifySynthesis(const Synthesis& synthesis, const HeaderOptions& header_options,
                             Abi abi = Abi::kSystemV);

// One line for people, on standard error: what was checked, or the first mismatch.
void PrintVerdict(const VerifyReport& report);

// What a command that writes or checks the kernel exits with: 0 if it or its program was checked, 1 if that
// failed, 3 if nothing of it has run.
int ExitCode(const VerifyReport& report);

// What the disassembler found: "hot loops: jit 2, 0 spills, 1 register move; header ..."; empty: nothing.
std::string HotLoopsText(const VerifyReport& report);

// {verdict, ok, max_error, error_bound, first_mismatch, engines: [{name, outcome, text, and of machine code
// hot_loops: {loops, spills, register_moves}}, ...]}
nlohmann::ordered_json ReportJson(const VerifyReport& report);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_KERNEL_H_
