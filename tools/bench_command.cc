// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch bench SPEC | --suite FILE | -f FILE`: measures our kernels beside other libraries'. The
// measuring itself is in bench/; this reads options, makes our kernels, and writes reports.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "bench/contenders/peers.h"
#include "bench/harness/expected_result.h"
#include "bench/harness/run.h"
#include "bench/machine/core_types.h"
#include "bench/results/baseline.h"
#include "bench/results/report.h"
#include "bench/workload/entries.h"
#include "bench/workload/workload.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/cold_operands.h"
#include "synthesis/solve.h"
#include "tools/bench_programs.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/report_head.h"
#include "tools/solve_options.h"
#include "tools/target_option.h"
#include "tools/tuning.h"

namespace kirsch {
namespace {

// The options of the command. `solve` says how our kernels are made.
struct BenchArguments {
  SolveOptions solve;
  std::string suite;               // a file of specs; empty: none
  std::string file, kernel;        // a file of kernels, and the only one wanted; empty: none, all
  std::vector<std::string> peers;  // empty: the usual ones
  std::string peers_isa;           // empty: they are not held
  std::string baseline;            // an earlier report to compare with; empty: none
  std::string rotate;              // sets of weights, or kAllSets; empty: one
  std::string json, svg;           // files to write; empty: none
};

constexpr char kAllSets[] = "*";  // --rotate without a number

// The libraries that are held against ours, unless --against names others. Those that are absent are
// reported.
const std::vector<std::string> kMatmulPeers = {"openblas", "blis", "onednn", "libxsmm", "eigen"};
const std::vector<std::string> kGraphPeers = {"onednn", "openblas", "loops"};

// The files that the command reads: none of them may be written over.
std::vector<std::string> InputsOf(const BenchArguments& arguments) {
  std::vector<std::string> files = InputsOf(arguments.solve);
  files.insert(files.end(), {arguments.suite, arguments.file, arguments.baseline});
  for (const std::string& peer : arguments.peers) files.push_back(CblasPath(peer));
  return files;
}

// The weights of which --rotate takes more than the last cache holds, as --cold would name them.
std::string NamesOfWeights(const KernelMember& kernel) {
  std::vector<std::string> names;
  if (const auto* const graph = std::get_if<Graph>(&kernel)) {
    for (size_t weights : Weights(*graph)) names.push_back(graph->at(static_cast<int>(weights)).text);
  } else {
    const auto& parsed = std::get<ParsedSpec>(kernel);
    for (size_t weights : Weights(parsed.spec))
      for (const Parameter& parameter : parsed.parameters)
        if (parameter.operand == static_cast<int>(weights)) names.push_back(parameter.name);
  }
  return Join(names, ",");
}

// Reads what to bench: all matmuls, or all graphs, as their peers differ. If some are graphs, MakeAlike makes
// all of them graphs. Each entry also says which of its operands are evicted before a call, and which are in
// RAM for other reasons.
absl::StatusOr<std::vector<BenchEntry>> ReadEntriesToBench(const BenchArguments& arguments) {
  const bool spec = !arguments.solve.spec.empty(), suite = !arguments.suite.empty(),
             file = !arguments.file.empty();
  if (spec + suite + file != 1)
    return absl::InvalidArgumentError("bench: expected either SPEC or --suite FILE or -f FILE");
  if (!arguments.kernel.empty() && !file) return absl::InvalidArgumentError("bench: --kernel is of -f FILE");
  KIRSCH_ASSIGN_OR_RETURN(std::string text, file ? ReadFile(arguments.file) : arguments.solve.spec);
  KIRSCH_ASSIGN_OR_RETURN(std::vector<BenchEntry> entries,
                          suite ? ReadSuite(arguments.suite)
                                : ReadEntries(text, file ? arguments.file : "spec", arguments.kernel));
  if (absl::Status alike = MakeAlike(&entries); !alike.ok())
    return absl::Status(alike.code(), Cat("bench: ", std::string(alike.message())));
  for (BenchEntry& entry : entries) {
    KIRSCH_RETURN_IF_ERROR(CheckCold(arguments.solve.cold, entry.kernel()));
    entry.evicted = ColdOperands(arguments.solve.cold, entry.kernel()).in_ram();
    if (arguments.rotate == kAllSets && arguments.solve.cold.empty())
      entry.in_ram = NamesOfWeights(entry.kernel());
  }
  return entries;
}

// Says how each kernel of ours is made. They are made when they are first measured. Returns the programs of
// those that count as ours.
//   kirsch         the program, compiled by the JIT
//   header:gcc     the same program in our header, compiled by gcc
//   parts          another program: one operation after the other
std::shared_ptr<BenchPrograms> SetMakers(const BenchArguments& arguments, const Target& target,
                                         BenchRequest* request) {
  const auto programs = std::make_shared<BenchPrograms>(arguments.solve, target, request->entries.size());
  request->ours = [programs](const BenchEntry& entry) { return programs->Jit(entry); };
  for (const std::string& peer : request->peers)
    if (IsHeaderPeer(peer))
      request->made[peer] = [programs, compiler = peer.substr(kHeaderPeers.size())](const BenchEntry& entry) {
        return programs->Header(entry, compiler);
      };
  SolveArguments parts = arguments.solve;  // one operation after the other, by the prediction alone
  parts.fuse = parts.tuned = false;
  parts.tune.clear();
  const auto of_parts = std::make_shared<BenchPrograms>(parts, target, request->entries.size());
  request->made[kPartsPeer] = [of_parts](const BenchEntry& entry) { return of_parts->Jit(entry); };
  return programs;
}

// Writes the report: a table, JSON and a drawing, whichever are asked for. JSON on standard output leaves no
// room for the table.
absl::Status Write(const BenchArguments& arguments, const Target& target, const BenchReport& report,
                   const std::vector<RateChange>& changes) {
  // The table is for people, the JSON for programs; both have the comparison, if there is one.
  std::string text = FormatTable(report);
  nlohmann::json json = ToJson(report);
  if (!changes.empty()) {
    text += FormatChanges(changes, arguments.baseline);
    json["baseline"] = ToJson(changes, arguments.baseline);
  }
  if (arguments.json != "-") std::fputs(text.c_str(), stdout);
  if (!arguments.json.empty())
    KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, WithHead({"bench", target.name, true}, json)));
  return arguments.svg.empty() ? absl::OkStatus() : WriteOutput(arguments.svg, PlotSvg(report));
}

// How many sets of weights --rotate asks for. InvalidArgument if it is no number in range.
//   no --rotate   1: all calls have the same weights
//   --rotate      kBeyondCaches: so many that the last cache does not hold them
//   --rotate=8    8
absl::StatusOr<int> SetsOf(const BenchArguments& arguments) {
  if (arguments.rotate.empty()) return 1;
  if (arguments.rotate == kAllSets) return kBeyondCaches;
  int sets = 0;
  if (absl::SimpleAtoi(arguments.rotate, &sets) && sets >= 2 && sets <= kMostSets) return sets;
  return absl::InvalidArgumentError(
      Cat("--rotate: expected 2 to ", kMostSets, " sets, got ", Quoted(arguments.rotate)));
}

// Measures the entries, with progress for people. `baseline`: what the report will be compared with; null:
// nothing.
absl::StatusOr<BenchReport> BenchEntries(const BenchArguments& arguments, const Target& target,
                                         std::vector<BenchEntry> entries, const Baseline* baseline) {
  KIRSCH_ASSIGN_OR_RETURN(const int sets, SetsOf(arguments));
  // All entries are of one kind (ReadEntriesToBench), so the first one tells.
  const bool graphs = entries.front().graph.has_value();
  ProgressLine line;
  BenchRequest request;
  request.entries = std::move(entries);
  request.peers = !arguments.peers.empty() ? arguments.peers : graphs ? kGraphPeers : kMatmulPeers;
  const auto programs = SetMakers(arguments, target, &request);
  request.threads = arguments.solve.threads;
  request.sets = sets;
  // Rotating sets of weights takes the place of evictions.
  request.cold = !arguments.solve.cold.empty() && request.sets == 1;
  if (request.cold && arguments.solve.cold != kAllCold) request.cold_operands = arguments.solve.cold;
  // Hold peers to the instructions that were asked for.
  if (!arguments.peers_isa.empty()) {
    request.peers_isa = arguments.peers_isa;
    request.features = FeaturesOf(request.peers_isa, std::move(request.features));
  }
  request.tolerance = arguments.solve.allow_winograd ? kWinogradTolerance : 1;
  request.progress = [&line](std::string_view what) { line.Show(what); };
  // Measuring takes a while: find out first whether the comparison will be possible.
  if (baseline != nullptr) {
    // This says what the report will begin with, without measuring.
    const absl::StatusOr<BenchReport> begun = StartReport(request);
    std::vector<std::string> specs;
    for (const BenchEntry& entry : request.entries) specs.push_back(entry.text);
    absl::Status status = begun.status();
    if (status.ok()) status = CheckComparable(*baseline, *begun, specs);
    if (!status.ok()) return status;
  }
  absl::StatusOr<BenchReport> report = RunBench(request);
  line.Erase();
  if (!report.ok()) return report;
  // Our programs were solved while they were measured, so their predictions are known now.
  for (BenchResult& result : report->results)
    if (result.ours()) result.predicted_gflops = programs->PredictedGflops(request.entries[result.item]);
  return report;
}

// The command: read everything, measure, compare, write. Exit codes: 0; 1 if a result of ours is wrong; 3 if
// a kernel of ours is slower than in the baseline.
absl::StatusOr<int> Bench(const BenchArguments& arguments) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.json, arguments.svg}, InputsOf(arguments)));
  KIRSCH_ASSIGN_OR_RETURN(std::vector<BenchEntry> entries, ReadEntriesToBench(arguments));
  // Programs are predicted for the target, but measured here.
  KIRSCH_ASSIGN_OR_RETURN(const Target target, LoadTarget(arguments.solve.target));
  // A baseline that can't be read is an error before anything is measured.
  std::optional<Baseline> baseline;
  if (!arguments.baseline.empty()) {
    KIRSCH_ASSIGN_OR_RETURN(baseline, ReadBaseline(arguments.baseline));
  }
  KIRSCH_ASSIGN_OR_RETURN(const BenchReport report, BenchEntries(arguments, target, std::move(entries),
                                                                 baseline ? &*baseline : nullptr));
  absl::StatusOr<std::vector<RateChange>> changes = std::vector<RateChange>();
  if (baseline) changes = ChangesSince(*baseline, report);
  // What was measured is not lost beside an error.
  if (absl::Status written =
          Write(arguments, target, report, changes.ok() ? *changes : std::vector<RateChange>());
      !written.ok())
    return written;
  if (!changes.ok()) return changes.status();
  // A wrong result matters more than a slow one.
  if (std::ranges::any_of(report.results,
                          [](const BenchResult& result) { return result.ours() && !result.correct; }))
    return 1;
  return std::ranges::any_of(*changes, &RateChange::slower) ? 3 : 0;
}

}  // namespace

void AddBenchCommand(const Command& app, const DbOptions& db, Run& run) {
  const Command command = app.AddCommand("bench", "Measure kernels beside other libraries'");
  auto arguments = std::make_shared<BenchArguments>();
  command.BeginGroup(kWhatGroup);
  // A SPEC is one of three ways to say what is benched, so it is optional.
  AddSolveOptions(command, db, arguments->solve).Required(false);
  AddTuneOptions(command, arguments->solve);
  command.BeginGroup(kWhatGroup);
  command.AddFile(
      "--suite", arguments->suite,
      "A file of specs: {\"name\": ..., \"specs\": [SPEC, ...]}; a kernel in the kernel language is an "
      "array of its lines");
  command.AddFile("-f,--file", arguments->file, "A file of kernels");
  command.Add("--kernel", arguments->kernel, "The only one of the file's kernels that is wanted")
      .Check(NotEmpty("a name"));
  command.BeginGroup(kCheckGroup);
  command
      .Add("--against", arguments->peers,
           "Names among openblas blis onednn onednn:noamx libxsmm eigen mkl, cblas:/path/lib.so, or "
           "header:gcc and header:clang (our header compiled by that compiler at -O2), "
           "comma-separated; for graphs also loops and parts (our own kernels, one operation after "
           "the other), and no libxsmm and eigen")
      .SplitAt(',')
      .OneValueEach();  // what follows the list is SPEC
  command
      .Add("--peers-isa", arguments->peers_isa,
           "Hold peers to kernels for these instructions (avx2), as beside --target haswell; a library "
           "that does not say what its kernels need can't be held")
      .Check(WordOf({kPeersIsas.begin(), kPeersIsas.end()}));
  command.AddFile(
      "--baseline", arguments->baseline,
      "Compare with what bench --json wrote before to this file, spec by spec (exit code 3: one is "
      "slower by more than both spreads)");
  command.AddFlag(
      "--rotate{*}", arguments->rotate,
      "Calls take so many sets of weights (constants; else rhs, filters) in turn, as those of a "
      "network do, instead of --cold's evictions; so many that the last cache does not hold them");
  command.BeginGroup(kOutputGroup);
  command.AddFile("--json", arguments->json, "Write the report as JSON to this file (-: standard output)");
  const Option svg = command.AddFile("--svg", arguments->svg, "Draw the report to this SVG file");
  command.KeepOldName("--plot", svg);
  command.OnChosen([&run, arguments] { run = [arguments] { return Bench(*arguments); }; });
}

}  // namespace kirsch
