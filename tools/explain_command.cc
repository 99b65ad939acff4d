// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch explain SPEC`: prints why a program is the way it is. docs/explain.md says how to read it. The
// explanation is made in synthesis/explain; this adds JSON, a page, and what was measured.
#include <cstdio>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/explain/best_programs.h"
#include "synthesis/explain/explained.h"
#include "synthesis/family.h"
#include "tools/command.h"
#include "tools/explain_json.h"
#include "tools/explain_page.h"
#include "tools/measured.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/report_head.h"
#include "tools/requests.h"
#include "tools/tuning.h"

namespace kirsch {
namespace {

struct ExplainArguments {
  RequestArguments request;
  int best = 0;            // so many of the cheapest programs; 0: why the best one is the way it is
  bool twins = false;      // list programs that differ in anything
  std::string json, html;  // files
  std::string measured;    // a bench report
};

// An error if a report was given but has nothing of any of the kernels: most likely it is the wrong file.
absl::Status CheckMeasured(const ExplainArguments& arguments, const std::vector<ExplainedKernel>& kernels,
                           const std::vector<MeasuredRate>& measured) {
  if (arguments.measured.empty()) return absl::OkStatus();
  for (const ExplainedKernel& kernel : kernels)
    if (IsMeasured(kernel, measured)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat(arguments.measured, ": expected results of ", Quoted(NameOf(kernels.front())), ", got ",
          measured.empty() ? "none" : Cat("those of ", Quoted(measured.front().spec))));
}

// Writes what was found: the page, the JSON, and the text, unless one of the others takes standard output.
absl::Status Write(const ExplainArguments& arguments, const std::vector<ExplainedKernel>& kernels,
                   const std::vector<MeasuredRate>& measured) {
  KIRSCH_RETURN_IF_ERROR(CheckMeasured(arguments, kernels, measured));
  if (!arguments.html.empty())
    KIRSCH_RETURN_IF_ERROR(WriteOutput(arguments.html, ExplainPage(kernels, measured)));
  if (!arguments.json.empty()) {
    const ReportHead head = {"explain", kernels.front().synthesis->target().name};
    KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, WithHead(head, ExplainJson(kernels))));
  }
  // Standard output has one document.
  if (arguments.json == "-" || arguments.html == "-") return absl::OkStatus();
  return WriteOutput("-", Join(kernels, "\n", ExplainText));
}

// The command. Steps: the options, which are refused before any search if they contradict each other; what
// was measured; the requests; for each kernel a search, its explanation, and with --best a ranking; the
// output.
absl::StatusOr<int> RunExplain(const ExplainArguments& arguments) {
  std::vector<std::string> inputs = InputsOf(arguments.request);
  inputs.push_back(arguments.measured);
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.json, arguments.html}, inputs));
  if (arguments.twins && arguments.best == 0)
    return absl::InvalidArgumentError("--twins: expected --best, which lists them");
  if (!arguments.measured.empty() && arguments.html.empty())
    return absl::InvalidArgumentError("--measured: expected --html, which shows it");
  // A report that can't be read is an error before the search, too.
  std::vector<MeasuredRate> measured;
  if (!arguments.measured.empty()) {
    KIRSCH_ASSIGN_OR_RETURN(measured, ReadMeasured(arguments.measured));
  }
  KIRSCH_ASSIGN_OR_RETURN(Requests requests, ReadRequests(arguments.request));
  if (requests.targets.size() > 1)
    return absl::InvalidArgumentError("--target: expected one target to explain");
  SolveArguments solve = arguments.request.solve;
  solve.explain = true;
  std::deque<FamilySynthesis> solved;  // explanations point into them, and a deque doesn't move them
  std::vector<ExplainedKernel> explained;
  ProgressLine line;
  // Each kernel has a memo and a time budget of its own.
  for (const KernelRequest& request : requests.kernels) {
    SearchBudget budget(solve.time_budget);
    const auto memo = std::make_shared<HashMemo>();
    KIRSCH_ASSIGN_OR_RETURN(FamilySynthesis synthesis,
                            SolveFamily(solve, request, requests.targets.front(), memo, budget));
    solved.push_back(std::move(synthesis));
    explained.push_back(ExplainKernel(solved.back()));
    // Ranking goes on with the memo of the search.
    if (arguments.best == 0) continue;
    line.Show(Cat("looking for the ", arguments.best, " best programs of ", request.name));
    // Without --twins, programs are listed that differ in an outer choice; with it, all that differ in code.
    const RankOptions rank{arguments.best, arguments.twins ? Distinct::kCode : Distinct::kOuterChoice};
    KIRSCH_ASSIGN_OR_RETURN(KBestResult best, BestPrograms(solve, solved.back(), *memo, rank));
    std::fprintf(stderr, "%zu programs in %.3f s; the search took %.3f s\n", best.programs.size(),
                 best.seconds, EffortOf(solved.back()).seconds);
    explained.back().best = std::move(best);
  }
  line.Erase();
  KIRSCH_RETURN_IF_ERROR(Write(arguments, explained, measured));
  return 0;
}

}  // namespace

void AddExplainCommand(const Command& app, const DbOptions& db, Run& run) {
  const Command command = app.AddCommand("explain", "Print why the program is the way it is");
  auto arguments = std::make_shared<ExplainArguments>();
  // Programs that were tuned before can be explained, but nothing is tuned here.
  AddRequestOptions(command, db, arguments->request);
  AddTunedOption(command, arguments->request.solve);
  command.BeginGroup(kOutputGroup);
  command
      .Add("--best", arguments->best,
           "Print instead the so many cheapest programs that differ in an outer choice (loops, "
           "copies, registers), "
           "and where each first departs from the best")
      .InRange(1, 1000);
  command.AddFlag("--twins", arguments->twins,
                  "List with --best all that differ in code, if only in a size or a remainder");
  command.AddFile("--json", arguments->json, "Write it as JSON to this file (-: standard output), too");
  command.AddFile("--html", arguments->html, "Write it as a page for a browser to this file, too");
  command.BeginGroup(kCheckGroup);
  command.AddFile("--measured", arguments->measured,
                  "Show what this report of bench --json measured on that page, too");
  command.AddToFooter(
      "\n\n"
      "Each node: cycles of one run with what is below it; its share of the whole, with and without what is "
      "below; how\n"
      "often it runs each time its parent does. Bytes held, and those in from a level and back to it, are of "
      "one run:\n"
      "those that cross from it to what is closer to the core, or back. Of a register tile, what its loop "
      "does in a trip.\n"
      "In the end what all the program brings in from each level, and back.");
  command.OnChosen([&run, arguments] { run = [arguments] { return RunExplain(*arguments); }; });
}

}  // namespace kirsch
