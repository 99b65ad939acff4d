// SPDX-License-Identifier: Apache-2.0
// Says what verification found, in the words of synth and verify, as JSON, and as an exit code.
#ifndef KIRSCH_TOOLS_VERDICT_H_
#define KIRSCH_TOOLS_VERDICT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "codegen/verify/verify.h"

namespace kirsch {

// One line for people, on standard error: what was checked, or the first mismatch.
//   verified: interpreter passed, jit passed, header passed; largest error 0.54 of the bound
void PrintVerdict(const VerifyReport& report);

// "largest error 0.54 of the bound".
std::string ErrorText(const VerifyReport& report);

// The exit code of a command that writes or checks a kernel: 0 if it or its program was checked, 1 if that
// failed, 3 if nothing of it has run.
int ExitCode(const VerifyReport& report);

// What the disassembler found; empty: nothing.
//   hot loops: jit 2, 0 spills, 1 register move; header 2, 0 spills, 0 register moves
std::string HotLoopsText(const VerifyReport& report);

//   {verdict, ok, max_error, error_bound, error_share (of the bound), first_mismatch,
//    engines: [{name, outcome, text, and of machine code hot_loops: {loops, spills, register_moves}}, ...]}
nlohmann::ordered_json ReportJson(const VerifyReport& report);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_VERDICT_H_
