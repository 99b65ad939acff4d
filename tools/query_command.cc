// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch query SPEC`: prints what the program would be like, as JSON, without making code.
// docs/query.md says how to read it.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "memo/hash_memo.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "synthesis/explain/answer_json.h"
#include "synthesis/family.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/report_head.h"
#include "tools/requests.h"
#include "tools/synthesis_report.h"

namespace kirsch {
namespace {

using nlohmann::ordered_json;

struct QueryArguments {
  RequestArguments request;
  int best = 0;            // so many alternatives
  std::string given;       // decisions that the program begins with
  std::string json = "-";  // a file
};

// Asks for one kernel: once as it is best, and, if decisions are given, once with these.
class KernelQuery {
 public:
  KernelQuery(const QueryArguments& arguments, const KernelRequest& request, const Target& target)
      : arguments_(arguments), request_(request), target_(target), memo_(std::make_shared<HashMemo>()) {}

  absl::StatusOr<ordered_json> Ask() const {
    const SolveArguments& solve = arguments_.request.solve;
    SolveArguments free = solve;
    free.schedule = {};
    KIRSCH_ASSIGN_OR_RETURN(const FamilySynthesis best, Solve(free));
    ordered_json json = {{"name", request_.name}, {"kernel", request_.text()}};
    AddAnswers(best, &json);
    if (arguments_.best > 0) KIRSCH_RETURN_IF_ERROR(AddAlternatives(free, best, &json));
    SolveArguments given = solve;
    if (!arguments_.given.empty()) given.schedule = {"--given", arguments_.given};
    if (given.schedule.empty()) return json;
    KIRSCH_ASSIGN_OR_RETURN(const FamilySynthesis pinned, Solve(given));
    json["given"] = AnswerJson(pinned, 0);
    json["given"]["above"] = pinned.members.front().cycles / best.members.front().cycles - 1;
    return json;
  }

 private:
  absl::StatusOr<FamilySynthesis> Solve(const SolveArguments& solve) const {
    SearchBudget budget(solve.time_budget);
    return SolveFamily(solve, request_, target_, memo_, budget);
  }

  // Of a family an answer for each region, that of its last member.
  static void AddAnswers(const FamilySynthesis& solved, ordered_json* json) {
    if (solved.members.size() == 1) {
      (*json)["answer"] = AnswerJson(solved, 0);
      return;
    }
    for (const Region& region : solved.regions.list) {
      (*json)["regions"].push_back(RegionJson(solved.regions, region));
      (*json)["regions"].back()["answer"] = AnswerJson(solved, region.last());
    }
  }

  absl::Status AddAlternatives(const SolveArguments& solve, const FamilySynthesis& solved,
                               ordered_json* json) const {
    KIRSCH_ASSIGN_OR_RETURN(
        const KBestResult best,
        BestPrograms(solve, solved, *memo_, {arguments_.best + 1, Distinct::kOuterChoice}));
    (*json)["alternatives"] = AlternativesJson(best, target_);
    // The values that a knob has in any of these programs, ascending.
    std::map<std::string, std::set<ordered_json>> options;
    const auto add = [&](const ordered_json& answer) {
      if (!answer.contains("knobs")) return;
      for (const auto& [knob, value] : answer["knobs"].items()) options[knob].insert(value);
    };
    add((*json)["answer"]);
    for (const ordered_json& answer : (*json)["alternatives"]) add(answer);
    if (!options.empty()) (*json)["knob_options"] = options;
    return absl::OkStatus();
  }

  const QueryArguments& arguments_;
  const KernelRequest& request_;
  const Target& target_;
  const std::shared_ptr<HashMemo> memo_;  // of all searches for the kernel
};

absl::StatusOr<int> RunQuery(const QueryArguments& arguments) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.json}, InputsOf(arguments.request)));
  if (!arguments.given.empty() && !arguments.request.solve.schedule.empty())
    return absl::InvalidArgumentError("--given: expected no --schedule beside it");
  KIRSCH_ASSIGN_OR_RETURN(const Requests requests, ReadRequests(arguments.request));
  if (requests.targets.size() > 1)
    return absl::InvalidArgumentError("--target: expected one target to ask about");
  const bool pinned = !arguments.given.empty() || !arguments.request.solve.schedule.empty();
  if (pinned && (requests.kernels.size() > 1 || requests.kernels.front().count() > 1))
    return arguments.given.empty()
               ? NotPinned()
               : absl::InvalidArgumentError("--given: expected a single kernel for a single target");
  ordered_json json;
  for (const KernelRequest& request : requests.kernels) {
    KIRSCH_ASSIGN_OR_RETURN(ordered_json answer,
                            KernelQuery(arguments, request, requests.targets.front()).Ask());
    json["kernels"].push_back(std::move(answer));
  }
  KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, WithHead({"query", requests.targets.front().name}, json)));
  return 0;
}

}  // namespace

void AddQueryCommand(const Command& app, const DbOptions& db, Run& run) {
  const Command command =
      app.AddCommand("query", "Print what the program would be like, as JSON, without making code");
  auto arguments = std::make_shared<QueryArguments>();
  AddRequestOptions(command, db, arguments->request);
  command.BeginGroup(kSearchGroup);
  command
      .Add("--given", arguments->given,
           "Ask also for the best program with these decisions, and what it costs more: 'tile m ?; pack rhs "
           "L2; "
           "...; move out VRF vectors16'")
      .Check(NotEmpty("decisions"));
  command.BeginGroup(kOutputGroup);
  command
      .Add("--best", arguments->best,
           "So many other programs, too, the cheapest of those that differ in an outer choice")
      .InRange(1, 1000);
  command.AddFile("--json", arguments->json, "Write it to this file instead of standard output");
  command.OnChosen([&run, arguments] { run = [arguments] { return RunQuery(*arguments); }; });
}

}  // namespace kirsch
