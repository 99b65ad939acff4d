// SPDX-License-Identifier: Apache-2.0
#include "tools/verdict.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "spec/text/cat.h"
#include "tools/output.h"

namespace kirsch {
namespace {

const char* OutcomeName(RungOutcome outcome) {
  switch (outcome) {
    case RungOutcome::kPassed:
      return "passed";
    case RungOutcome::kFailed:
      return "failed";
    case RungOutcome::kNotRun:
      return "not run";
  }
  return "";
}

// A kernel whose program was checked but whose code never ran is not called verified.
const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified:
      return "verified";
    case Verdict::kProgramChecked:
      return "program checked, code not run";
    case Verdict::kUnverified:
      return "unverified";
    case Verdict::kFailed:
      return "failed";
  }
  return "";
}

// "verified", or "unverified, in part (3 of 6 members; others: the host lacks avx512f)". Parts are members of
// a library. The reason is that of the first engine that runs machine code.
std::string VerdictText(const VerifyReport& report) {
  std::string text = VerdictName(report.verdict);
  if (report.verdict == Verdict::kVerified) return text;
  for (const RungReport& rung : report.rungs)
    if (rung.name != kInterpreterRung)
      return Cat(text, rung.outcome == RungOutcome::kPassed ? ", in part" : "", " (", rung.text, ")");
  return text;
}

}  // namespace

// A failure is a remark, so it stays one line with printable characters:
//   kirsch: verification failed: jit: out[0][3][7]: expected 12, got 13 ...
void PrintVerdict(const VerifyReport& report) {
  if (report.verdict == Verdict::kFailed) {
    PrintRemark(Cat("verification failed: ", report.first_mismatch));
    return;
  }
  std::string line = Cat(VerdictText(report), ": ");
  for (const RungReport& rung : report.rungs)
    Append(&line, &rung == &report.rungs.front() ? "" : ", ", rung.name, " ", OutcomeName(rung.outcome));
  const bool ran = std::ranges::any_of(
      report.rungs, [](const RungReport& rung) { return rung.outcome != RungOutcome::kNotRun; });
  std::fprintf(stderr, "%s%s\n", line.c_str(), ran ? Cat("; ", ErrorText(report)).c_str() : "");
}

std::string ErrorText(const VerifyReport& report) {
  return absl::StrFormat("largest error %.2g of the bound", report.error_share);
}

// Code that could not run is not an error, if its program was checked by the interpreter.
int ExitCode(const VerifyReport& report) {
  if (report.verdict == Verdict::kFailed) return 1;
  return report.verdict == Verdict::kUnverified ? 3 : 0;
}

// An engine without machine code, or whose code was not disassembled, has no part.
std::string HotLoopsText(const VerifyReport& report) {
  // "1 spill", "2 spills".
  const auto plural = [](int count, const char* what) {
    return Cat(count, " ", what, count == 1 ? "" : "s");
  };
  std::string text;
  for (const RungReport& rung : report.rungs)
    if (rung.loops)
      Append(&text, text.empty() ? "hot loops: " : "; ", rung.name, " ", rung.loops->loops, ", ",
             plural(rung.loops->spills, "spill"), ", ", plural(rung.loops->register_moves, "register move"));
  return text;
}

nlohmann::ordered_json ReportJson(const VerifyReport& report) {
  // Errors are shares of what is allowed, so they can be compared between kernels.
  nlohmann::ordered_json json = {{"verdict", VerdictName(report.verdict)},
                                 {"ok", report.ok},
                                 {"max_error", report.max_error},
                                 {"error_bound", report.error_bound},
                                 {"error_share", report.error_share},
                                 {"first_mismatch", report.first_mismatch},
                                 {"engines", nlohmann::ordered_json::array()}};
  for (const RungReport& rung : report.rungs) {
    nlohmann::ordered_json engine = {
        {"name", rung.name}, {"outcome", OutcomeName(rung.outcome)}, {"text", rung.text}};
    if (rung.loops)
      engine["hot_loops"] = {{"loops", rung.loops->loops},
                             {"spills", rung.loops->spills},
                             {"register_moves", rung.loops->register_moves}};
    json["engines"].push_back(std::move(engine));
  }
  return json;
}

}  // namespace kirsch
