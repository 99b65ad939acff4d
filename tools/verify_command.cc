// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch verify SPEC`: makes kernels as synth does, and checks them, but writes none.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "synthesis/kernel_library.h"
#include "synthesis/solve.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/report_head.h"
#include "tools/requests.h"
#include "tools/synthesis_report.h"
#include "tools/target_option.h"
#include "tools/verdict.h"

namespace kirsch {
namespace {

struct VerifyArguments {
  RequestArguments request;
  std::string json;
};

// The report for people: a line for each engine, then the hot loops, then the verdict.
//   passed  interpreter: 5 runs, every element compared
//   passed  jit: 5 runs, every element compared
//   ok: largest error 0.54 of the bound
std::string Text(const VerifyReport& report) {
  // The words are those of the JSON report, so both stay the same.
  const nlohmann::ordered_json json = ReportJson(report);
  std::string text;
  for (const auto& engine : json["engines"])
    Append(&text, engine["outcome"].get<std::string>(), "  ", engine["name"].get<std::string>(), ": ",
           engine["text"].get<std::string>(), "\n");
  if (const std::string loops = HotLoopsText(report); !loops.empty()) Append(&text, loops, "\n");
  if (report.verdict == Verdict::kFailed) return text + "FAILED\n";
  if (report.verdict == Verdict::kUnverified) return text + "unverified: nothing has run\n";
  return Cat(text, report.verdict == Verdict::kVerified ? "ok" : "program checked, code not run", ": ",
             ErrorText(report), "\n");
}

// Writes the report. `json` is what the synthesis found, to which the verification is added.
absl::StatusOr<int> Report(const VerifyArguments& arguments, nlohmann::ordered_json json,
                           const VerifyReport& report) {
  if (arguments.json != "-") std::fputs(Text(report).c_str(), stdout);
  if (!arguments.json.empty()) {
    json["verify"] = ReportJson(report);
    KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, json));
  }
  return ExitCode(report);
}

// Checks the output, solves, verifies and reports. The header is in the default style.
absl::StatusOr<int> Verify(const VerifyArguments& arguments) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.json}, InputsOf(arguments.request)));
  KIRSCH_ASSIGN_OR_RETURN(const Requests requests, ReadRequests(arguments.request));
  const bool single = requests.single();  // it is in no file but its own
  KIRSCH_ASSIGN_OR_RETURN(
      const Library library,
      SolveLibrary(arguments.request.solve, single ? requests.kernels.front().name : requests.name,
                   requests.kernels, requests.targets));
  const ReportHead head = {"verify", NamesOfTargets(requests.targets)};
  return Report(arguments, WithHead(head, LibraryJson(library)),
                VerifyLibrary(library, {}, arguments.request.solve.observer));
}

}  // namespace

void AddVerifyCommand(const Command& app, const DbOptions& db, Run& run) {
  const Command command = app.AddCommand("verify", "Synthesize a kernel and check it against the reference");
  auto arguments = std::make_shared<VerifyArguments>();
  AddRequestOptions(command, db, arguments->request);
  command.BeginGroup(kOutputGroup);
  command.AddFile("--json", arguments->json, "Write the report as JSON to this file (-: standard output)");
  command.OnChosen([&run, arguments] { run = [arguments] { return Verify(*arguments); }; });
}

}  // namespace kirsch
