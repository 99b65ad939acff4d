// kirsch explain SPEC
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "spec/text/cat.h"
#include "tools/best_programs.h"
#include "tools/command.h"
#include "tools/explained.h"
#include "tools/family.h"
#include "tools/option_checks.h"
#include "tools/output.h"
#include "tools/requests.h"

namespace kirsch {
namespace {

struct ExplainArguments {
  RequestArguments request;
  int best = 0;  // so many of the cheapest programs; 0: why the best one is the way it is
  std::string json;
};

// What was found.
absl::Status Write(const ExplainArguments& arguments, const std::vector<ExplainedKernel>& kernels) {
  if (!arguments.json.empty())
    if (absl::Status status = WriteJson(arguments.json, ExplainJson(kernels)); !status.ok()) return status;
  if (arguments.json == "-") return absl::OkStatus();
  std::string all;
  for (const ExplainedKernel& kernel : kernels) Append(&all, all.empty() ? "" : "\n", ExplainText(kernel));
  return WriteOutput("-", all);
}

absl::StatusOr<int> RunExplain(const ExplainArguments& arguments) {
  if (absl::Status status = CheckOutputs({arguments.json}); !status.ok()) return status;
  absl::StatusOr<Requests> requests = ReadRequests(arguments.request);
  if (!requests.ok()) return requests.status();
  if (requests->targets.size() > 1)
    return absl::InvalidArgumentError("--target: expected one target to explain");
  SolveArguments solve = arguments.request.solve;
  solve.explain = true;
  std::deque<FamilySynthesis> solved;  // which stay where they are
  std::vector<ExplainedKernel> explained;
  for (const KernelRequest& request : requests->kernels) {
    SearchBudget budget(solve.time_budget);
    absl::StatusOr<FamilySynthesis> synthesis =
        SolveFamily(solve, request, requests->targets.front(), std::make_shared<HashMemo>(), budget);
    if (!synthesis.ok()) return synthesis.status();
    solved.push_back(*std::move(synthesis));
    explained.push_back(ExplainKernel(solved.back()));
    if (arguments.best == 0) continue;
    absl::StatusOr<KBestResult> best = BestPrograms(solved.back(), arguments.best);
    if (!best.ok()) return best.status();
    explained.back().best = *std::move(best);
  }
  if (absl::Status written = Write(arguments, explained); !written.ok()) return written;
  return 0;
}

}  // namespace

void AddExplainCommand(CLI::App& app, const DbOptions& db, Run& run) {
  CLI::App* command = app.add_subcommand("explain", "Print why the program is the way it is");
  auto arguments = std::make_shared<ExplainArguments>();
  AddRequestOptions(*command, db, arguments->request);
  command
      ->add_option(
          "--best", arguments->best,
          "Of a spec, print instead the so many cheapest programs that differ in code, and where each "
          "first departs from the best")
      ->check(CLI::Range(1, 100'000));
  command->add_option("--json", arguments->json, "Write it as JSON to this file (-: standard output), too")
      ->check(NotEmpty("a file"));
  command->footer(
      command->get_footer() +
      "\n\n"
      "Each node: cycles of one run with what is below it; its share of the whole, with and without what is "
      "below; how\n"
      "often it runs each time its parent does. Bytes held, and those in from a level and back to it, are of "
      "one run:\n"
      "those that cross from it to what is closer to the core, or back. Of a register tile, what its loop "
      "does in a trip.\n"
      "In the end what all the program brings in from each level, and back.");
  command->callback([&run, arguments] { run = [arguments] { return RunExplain(*arguments); }; });
}

}  // namespace kirsch
