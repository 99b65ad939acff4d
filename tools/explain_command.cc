// kirsch explain SPEC
#include <cstdio>
#include <memory>
#include <string>
#include <variant>

#include "absl/strings/str_format.h"
#include "memo/hash_memo.h"
#include "search/explain.h"
#include "spec/text/cat.h"
#include "spec/text/printer.h"
#include "spec/text/schedule.h"
#include "tools/command.h"
#include "tools/family.h"
#include "tools/output.h"
#include "tools/requests.h"
#include "tools/solve.h"

namespace kirsch {
namespace {

std::string Amount(double bytes) {
  if (bytes < 10240) return absl::StrFormat("%.0f B", bytes);
  if (bytes < 10240.0 * 1024) return absl::StrFormat("%.0f KiB", bytes / 1024);
  return absl::StrFormat("%.1f MiB", bytes / (1024 * 1024));
}

// "L2 16 KiB, RAM 4 MiB" of amounts by level; nothing if all are zero.
template <typename Amounts>
std::string ByLevel(const Amounts& amounts) {
  std::string text;
  for (size_t level = 0; level < amounts.size(); ++level)
    if (amounts[level] > 0)
      Append(&text, text.empty() ? "" : ", ", kLevelNames[level], " ",
             Amount(static_cast<double>(amounts[level])));
  return text;
}

// What stands below a node's line.
std::string Details(const ExplainedNode& node) {
  std::string text;
  const auto add = [&](const std::string& what, const std::string& detail) {
    if (!detail.empty()) Append(&text, text.empty() ? "" : "; ", what, detail);
  };
  add("", PrintSpec(node.impl->spec));
  add("moves ", ByLevel(node.bytes_moved));
  add("holds ", ByLevel(node.bytes_held));
  add("bound by ", std::string(node.bottleneck));
  if (node.runner_up.kind != RewriteKind::kNone)
    add("second best: ", absl::StrFormat("%s, %+.2f%%", PrintDecision(node.impl->spec.op, node.runner_up),
                                         100 * (ToCycles(node.runner_up_cost) / ToCycles(node.cost) - 1)));
  return text;
}

std::string Text(const Synthesis& synthesis, const Explanation& explanation) {
  const double total = ToCycles(explanation.nodes[0].cost);
  std::string text = absl::StrFormat("%12s %7s %7s %8s  program\n", "cycles", "share", "own", "trips");
  for (const ExplainedNode& node : explanation.nodes) {
    const std::string indent(static_cast<size_t>(2 * node.depth), ' ');
    absl::StrAppendFormat(&text, "%12.0f %6.1f%% %6.1f%% %8d  %s%s\n%39s%s# %s\n", ToCycles(node.cost),
                          100 * node.weight * ToCycles(node.cost) / total,
                          100 * node.weight * ToCycles(node.own) / total, node.trips, indent,
                          PrintDecision(node.impl->spec.op, node.impl->decision), "", indent, Details(node));
  }
  absl::StrAppendFormat(
      &text,
      "%s on %s: %.0f cycles, %.1f GFLOP/s at %g GHz; %.1f%% of the peak rate; no program costs less "
      "than %.0f by the cost model's closed form, %.0f by the search (%s)\n",
      synthesis.parsed.text, synthesis.target.name, total, PredictedGflops(synthesis), synthesis.target.ghz,
      100 * explanation.peak_cycles / total, ToCycles(explanation.bound), ToCycles(synthesis.result.bound),
      std::string(Name(synthesis.result.stop)));
  return text;
}

std::string Explained(const Synthesis& synthesis) {
  const CostModel model(synthesis.target);
  return Text(synthesis, Explain(synthesis.result.impl, model, *synthesis.memo));
}

std::string ExplainedMember(const Member& member) {
  const GraphSynthesis* const graph = std::get_if<GraphSynthesis>(&member);
  return graph != nullptr ? ExplainedGraph(*graph) : Explained(std::get<Synthesis>(member));
}

// Of a family the regions, and why the program of each one's largest member is the way it is.
std::string ExplainedFamily(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1) return ExplainedMember(synthesis.members.front());
  std::string text = synthesis.is_graph() ? Cat(synthesis.request.text(), "\n") : "";
  Append(&text, RegionTable(synthesis.regions));
  for (const Region& region : synthesis.regions.list)
    Append(&text, "\n", ExplainedMember(synthesis.members[static_cast<size_t>(region.largest())]));
  return text;
}

absl::StatusOr<int> RunExplain(const RequestArguments& arguments) {
  absl::StatusOr<Requests> requests = ReadRequests(arguments);
  if (!requests.ok()) return requests.status();
  if (requests->targets.size() > 1)
    return absl::InvalidArgumentError("--target: expected one target to explain");
  SolveArguments solve = arguments.solve;
  solve.explain = true;
  std::string all;
  for (const KernelRequest& request : requests->kernels) {
    SearchBudget budget(arguments.solve.time_budget);
    const absl::StatusOr<FamilySynthesis> synthesis = SolveFamily(
        solve, request, requests->targets.front(), std::make_shared<HashMemo>(), budget);
    if (!synthesis.ok()) return synthesis.status();
    Append(&all, all.empty() ? "" : "\n", ExplainedFamily(*synthesis));
  }
  if (absl::Status written = WriteOutput("-", all); !written.ok()) return written;
  return 0;
}

}  // namespace

void AddExplainCommand(CLI::App& app, const DbOptions& db, Run& run) {
  CLI::App* command = app.add_subcommand("explain", "Print why the program is the way it is");
  auto arguments = std::make_shared<RequestArguments>();
  AddRequestOptions(*command, db, *arguments);
  command->footer(
      command->get_footer() +
      "\n\n"
      "Each node: cycles of one run with what is below it; its share of the whole, with and without what is "
      "below; how\n"
      "often it runs each time its parent does. Bytes moved and held are of one run; moved from or to the "
      "level named.");
  command->callback([&run, arguments] { run = [arguments] { return RunExplain(*arguments); }; });
}

}  // namespace kirsch
