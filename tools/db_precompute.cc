// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch db precompute FAMILY`: solves a family of specs ahead of time, into a table. It may run as one
// process, or as several under mpirun. search/table/precompute.h does the work.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "search/table/answer.h"
#include "search/table/precompute.h"
#include "spec/language/family.h"
#include "spec/language/graph_shorthand.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "synthesis/cold_operands.h"
#include "synthesis/solve.h"
#include "tools/db_command.h"
#include "tools/interrupt.h"
#include "tools/mpi_processes.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/report_head.h"
#include "tools/solve_options.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

// Specs in a family, at most: more would not fit into memory, and nobody could wait for them.
constexpr int64_t kMostRoots = int64_t{1} << 24;

struct PrecomputeArguments {
  std::string family;
  std::string target = "host";
  int threads = 1;         // that the kernels are for
  int search_threads = 0;  // of this process; 0: all cores
  bool every_size = false;
  std::string cold;
  std::string json;
};

// The specs to solve: of each member every place that its operands may have, as a query looks at all places.
// A family has its usual sizes, unless every size is asked for. InvalidArgument for graphs and for options
// that can't be.
absl::StatusOr<std::vector<Spec>> FindRoots(const PrecomputeArguments& arguments, const Target& target) {
  // A convolution may be both a graph and a family of specs; then it is a family.
  if (IsGraphShorthand(arguments.family) && !ParseFamily(arguments.family).ok())
    return absl::InvalidArgumentError(
        "FAMILY: expected a family of specs; what a graph needs is kept as its kernels are made");
  KIRSCH_ASSIGN_OR_RETURN(SpecFamily family, ParseFamily(arguments.family));
  const FamilySizes which = arguments.every_size ? FamilySizes::kEverySize : FamilySizes::kUsual;
  const std::vector<VaryingSize> sizes = family.varying_sizes(which);
  const int64_t count = CountMembers(sizes);
  if (count > kMostRoots)
    return absl::InvalidArgumentError(
        Cat("expected a family of at most ", kMostRoots, " specs, got ", count));
  // The first member stands for all: they differ in sizes only.
  KIRSCH_RETURN_IF_ERROR(CheckCold(arguments.cold, family.member(0, which)));
  KIRSCH_RETURN_IF_ERROR(CheckSums(family.member(0, which).spec, target));
  std::vector<Spec> roots;
  for (int64_t i = 0; i < count; ++i) {
    const ParsedSpec parsed = family.MemberOf(ValuesOf(sizes, i));
    Spec root = parsed.spec;
    root.threads = static_cast<uint8_t>(arguments.threads);
    const std::vector<Spec> placements = Placements(root, ColdOperands(arguments.cold, parsed), target);
    roots.insert(roots.end(), placements.begin(), placements.end());
  }
  return roots;
}

// The table of this process. Rank 0 has the file. The others have a table in memory, and send what they find
// to rank 0.
absl::StatusOr<std::shared_ptr<Table>> TableOfRank(const DbOptions& db, const Target& target,
                                                   const ProcessGroup& processes) {
  if (processes.rank() != 0) return std::make_shared<Table>();
  absl::StatusOr<std::shared_ptr<Table>> table = OpenTable(db, target, /*remarks=*/false);
  if (table.ok() && (*table == nullptr || !(*table)->file()->writable()))
    return absl::InvalidArgumentError("db precompute: expected a table to write to (--db FILE)");
  return table;
}

// Time to go is estimated from the share of the work that is done.
//   12 of 4096 specs solved (3 known before), 940 entries, 31 s, about 980 s to go
std::string ProgressText(const PrecomputeProgress& progress) {
  const double left = progress.share_done > 0 ? progress.seconds * (1 / progress.share_done - 1) : 0;
  return absl::StrFormat("%d of %d specs solved (%d known before), %d entries, %.0f s, about %.0f s to go",
                         progress.known + progress.solved, progress.roots, progress.known, progress.entries,
                         progress.seconds, left);
}

// Says on standard error what was done, and writes the JSON report if it is asked for.
absl::Status Report(const PrecomputeArguments& arguments, const PrecomputeProgress& progress,
                    const Table& table) {
  const int64_t left = progress.roots - progress.known - progress.solved;
  std::fprintf(stderr,
               "%lld specs: %lld known before, %lld solved in %.1f s, %lld left; %lld new entries in '%s'\n",
               static_cast<long long>(progress.roots), static_cast<long long>(progress.known),
               static_cast<long long>(progress.solved), progress.seconds, static_cast<long long>(left),
               static_cast<long long>(progress.entries), table.file()->path().c_str());
  if (arguments.json.empty()) return absl::OkStatus();
  const nlohmann::ordered_json json = {{"family", arguments.family}, {"file", table.file()->path()},
                                       {"roots", progress.roots},    {"known", progress.known},
                                       {"solved", progress.solved},  {"new_entries", progress.entries},
                                       {"seconds", progress.seconds}};
  return WriteJson(arguments.json, WithHead({"db precompute", table.file()->identity().target_name}, json));
}

// The command, on each rank. All ranks read the same arguments, and so find the same roots in the same order.
//   rank 0                                      other ranks
//   open the table, tell the others to go       wait for it
//   solve its share of a round                  solve theirs, and send what they found
//   commit the round, show progress             go on with the next round
//   report
absl::StatusOr<int> PrecomputeFamily(const PrecomputeArguments& arguments, const DbOptions& db) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.json}, InputsOf(TableChoice{"", arguments.target}, db)));
  KIRSCH_ASSIGN_OR_RETURN(Target target, LoadTarget(arguments.target));
  KIRSCH_ASSIGN_OR_RETURN(std::vector<Spec> roots, FindRoots(arguments, target));
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<ProcessGroup> processes, ProcessesOfThisJob());
  absl::StatusOr<std::shared_ptr<Table>> table = TableOfRank(db, target, *processes);
  // All processes end together if rank 0 has no table to write to.
  const std::string go = processes->Broadcast(table.ok() ? "go" : "");
  if (!table.ok()) return table.status();
  // Rank 0 says why; the others only end with its exit code.
  if (go.empty()) return 2;

  // Only rank 0 shows progress. The processes share the cores of the machine.
  InterruptGuard guard;
  ProgressLine line(processes->rank() == 0);
  PrecomputeOptions options;
  options.workers = arguments.search_threads > 0 ? arguments.search_threads
                                                 : std::max(1, ReadHost().cores / processes->size());
  options.cancel = &guard.interrupted();
  options.progress = [&line](const PrecomputeProgress& progress) { line.Show(ProgressText(progress)); };
  absl::StatusOr<PrecomputeProgress> result =
      Precompute(roots, CostModel(target), **table, *processes, options);
  line.Erase();
  if (!result.ok()) return result.status();
  if (processes->rank() == 0) KIRSCH_RETURN_IF_ERROR(Report(arguments, *result, **table));
  return 0;
}

}  // namespace

void AddDbPrecompute(const Command& db_command, const DbOptions& db, Run& run) {
  const Command command = db_command.AddCommand("precompute", "Solve a family of specs ahead of time");
  auto arguments = std::make_shared<PrecomputeArguments>();
  command.Add("FAMILY", arguments->family, "E.g. 'matmul f32 1..64x4096x4096': any size may be a range")
      .Required();
  command.BeginGroup(kWhatGroup);
  command.AddFlag("--every-size", arguments->every_size,
                  "All sizes in each range, not only those that tiles usually have");
  command.BeginGroup(kTargetGroup);
  command.Add("--target", arguments->target, "A known target, host (the default), or a target file");
  const Option threads =
      command.Add("--threads", arguments->threads, "Threads the kernels are for").InRange(1, 255);
  command.KeepOldName("--kernel-threads", threads);
  AddColdOption(command, arguments->cold);
  // These threads search. They may be more than those that a kernel can be for.
  command.BeginGroup(kSearchGroup);
  command
      .Add("--search-threads", arguments->search_threads,
           "Threads that search, in each process; default: all cores")
      .InRange(1, 1024);
  command.BeginGroup(kOutputGroup);
  command.AddFile("--json", arguments->json, "Write a report as JSON to this file (-: standard output)");
  command.AddToFooter(
      "Interrupted, it goes on from there when run again. Under mpirun, all processes share the work, and "
      "the first writes the table.");
  command.OnChosen(
      [&run, &db, arguments] { run = [&db, arguments] { return PrecomputeFamily(*arguments, db); }; });
}

}  // namespace kirsch
