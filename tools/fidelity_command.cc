// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch fidelity [--suite FILE | SPECs...]`: measures how well predicted cycles agree with this
// machine's. There are three modes:
//   measure   draw programs of each problem, time them, and compare (the default, and --chosen)
//   --corpus  price programs that were measured earlier anew, for another model or target
//   --static  compare predictions with machine code and simulated caches; times nothing
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload/entries.h"
#include "fidelity/corpus_text.h"
#include "fidelity/fidelity.h"
#include "fidelity/price.h"
#include "fidelity/random_problems.h"
#include "fidelity/read_corpus.h"
#include "fidelity/static_report.h"
#include "spec/text/status_macros.h"
#include "synthesis/solve.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/report_head.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

// Programs drawn for each problem, and rounds in which all of them are timed.
constexpr int kPrograms = 30, kRounds = 9;
constexpr int kQuickPrograms = 12, kQuickRounds = 5;
constexpr int kTrafficPrograms = 20;          // of --static, whose traffic is simulated
constexpr int kPromising = 16, kRandom = 17;  // of each drawn problem; the latter with the chosen one
constexpr size_t kQuickStep = 3;              // of the usual suite, each third spec

struct FidelityArguments {
  std::vector<std::string> specs;
  std::string suite;                 // a file of specs; empty: the usual suite, unless there are SPECs
  std::vector<std::string> corpora;  // measured before
  std::string target = "host";
  int programs = 0;   // 0: the usual number
  uint64_t seed = 1;  // of all that is drawn by chance
  int threads = 1;
  bool cold = false, quick = false;
  int chosen = 0;             // so many drawn problems; 0: none
  bool check_static = false;  // --static
  int kernels = 240;          // of --static
  std::string json, svg;
};

// The suite that is part of the binary; a part of it with --quick.
absl::StatusOr<std::vector<BenchEntry>> UsualEntries(bool quick) {
  KIRSCH_ASSIGN_OR_RETURN(const Suite suite, ParseSuite(UsualSuite(), "fidelity.json"));
  absl::StatusOr<std::vector<BenchEntry>> all = MakeEntries(suite, "fidelity.json");
  if (!all.ok() || !quick) return all;
  std::vector<BenchEntry> some;
  for (size_t i = 0; i < all->size(); i += kQuickStep) some.push_back(std::move((*all)[i]));
  return some;
}

// The problems to draw programs of:
//   SPECs            these
//   --suite FILE     those of the file
//   --chosen         problems that are drawn, too
//   none of them     the usual suite, or a third of it with --quick
absl::StatusOr<std::vector<BenchEntry>> ReadProblems(const FidelityArguments& arguments) {
  if (!arguments.specs.empty() && !arguments.suite.empty())
    return absl::InvalidArgumentError("fidelity: expected either SPECs or --suite FILE");
  if (arguments.chosen > 0 && (!arguments.specs.empty() || !arguments.suite.empty()))
    return absl::InvalidArgumentError("fidelity: --chosen draws its own problems");
  if (!arguments.suite.empty()) return ReadSuite(arguments.suite);
  if (arguments.specs.empty() && arguments.chosen == 0) return UsualEntries(arguments.quick);
  std::vector<BenchEntry> entries;
  for (const std::string& text :
       arguments.chosen > 0 ? DrawProblems(arguments.chosen, arguments.seed) : arguments.specs) {
    KIRSCH_ASSIGN_OR_RETURN(std::vector<BenchEntry> read, ReadEntries(text, "spec"));
    if (read.size() == 1) read.front().text = text;  // from which --corpus makes it again
    std::move(read.begin(), read.end(), std::back_inserter(entries));
  }
  return entries;
}

// Draws and times programs of each problem. Ctrl-C ends it with what has been measured.
absl::StatusOr<Corpus> Measure(const FidelityArguments& arguments, const Target& target,
                               const std::vector<BenchEntry>& entries) {
  const CostModel model(target);
  InterruptGuard guard;
  ProgressLine line;
  FidelityOptions options;
  options.draw.programs = arguments.programs > 0 ? arguments.programs
                          : arguments.chosen > 0 ? kRandom
                          : arguments.quick      ? kQuickPrograms
                                                 : kPrograms;
  // With --chosen, the most promising programs are timed beside those that are drawn by chance.
  options.draw.promising = arguments.chosen > 0 ? kPromising : 0;
  options.draw.seed = arguments.seed;
  options.draw.threads = arguments.threads;
  options.draw.residency = arguments.cold ? Residency::kCold : Residency::kWarm;
  options.rounds = arguments.quick ? kQuickRounds : kRounds;
  options.stop = [&guard] { return guard.interrupted().load(); };
  options.progress = [&line](std::string_view what) { line.Show(what); };
  absl::StatusOr<Corpus> corpus = MeasureCorpus(entries, model, options);
  line.Erase();
  return corpus;
}

// Prices programs that were measured before with the target's model. So a change of the model can be judged
// by old measurements.
absl::StatusOr<Corpus> PriceAgain(const FidelityArguments& arguments, const Target& target) {
  if (!arguments.specs.empty() || !arguments.suite.empty() || arguments.chosen > 0)
    return absl::InvalidArgumentError("fidelity: expected either --corpus FILE or what to measure");
  // Several files count as one corpus.
  KIRSCH_ASSIGN_OR_RETURN(const Corpus measured, ReadCorpora(arguments.corpora));
  InterruptGuard guard;
  ProgressLine line;
  PriceOptions options;
  options.stop = [&guard] { return guard.interrupted().load(); };
  options.progress = [&line](std::string_view what) { line.Show(what); };
  absl::StatusOr<Corpus> corpus = PriceCorpus(measured, CostModel(target), options);
  line.Erase();
  return corpus;
}

// Measures, or prices again what was measured. If the target has no instruction for the sums of some problem,
// all are refused before any is measured.
absl::StatusOr<Corpus> MeasureOrPrice(const FidelityArguments& arguments, const Target& target) {
  if (!arguments.corpora.empty()) return PriceAgain(arguments, target);
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<BenchEntry> entries, ReadProblems(arguments));
  for (const BenchEntry& entry : entries)
    if (entry.matmul) KIRSCH_RETURN_IF_ERROR(CheckSums(entry.matmul->spec, target));
  return Measure(arguments, target, entries);
}

// Compares what is predicted before there is code with the code: register tiles with machine code and LLVM's
// analyser, traffic with simulated caches.
absl::StatusOr<int> CheckStatic(const FidelityArguments& arguments, const Target& target) {
  if (!arguments.specs.empty() || !arguments.suite.empty() || !arguments.corpora.empty() ||
      !arguments.svg.empty() || arguments.chosen > 0)
    return absl::InvalidArgumentError("fidelity: --static draws its own kernels, and has no drawing");
  InterruptGuard guard;
  ProgressLine line;
  // 1. Register tiles: predictions beside machine code and LLVM's analyser.
  TileCheckOptions options;
  options.kernels = arguments.kernels;
  options.seed = arguments.seed;
  options.stop = [&guard] { return guard.interrupted().load(); };
  options.progress = [&line](std::string_view what) { line.Show(what); };
  KIRSCH_ASSIGN_OR_RETURN(std::vector<TileCheck> tiles, CheckTiles(target, options));
  // 2. Traffic: predictions beside simulated caches.
  line.Show("simulating caches");
  KIRSCH_ASSIGN_OR_RETURN(std::vector<TrafficCheck> traffics,
                          CheckTraffics(target, kTrafficPrograms, arguments.seed));
  line.Erase();
  const StaticReport report{std::move(tiles), std::move(traffics)};
  if (arguments.json != "-") std::fputs(FormatTable(report).c_str(), stdout);
  if (arguments.json.empty()) return 0;
  KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, WithHead({"fidelity", target.name}, ToJson(report))));
  return 0;
}

// The command. Exit code 1: some program computed a wrong result.
absl::StatusOr<int> Fidelity(const FidelityArguments& arguments) {
  std::vector<std::string> inputs = TargetFilesIn(arguments.target);
  inputs.push_back(arguments.suite);
  inputs.insert(inputs.end(), arguments.corpora.begin(), arguments.corpora.end());
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.json, arguments.svg}, inputs));
  KIRSCH_ASSIGN_OR_RETURN(const Target target, LoadTarget(arguments.target));
  if (arguments.check_static) return CheckStatic(arguments, target);
  KIRSCH_ASSIGN_OR_RETURN(const Corpus corpus, MeasureOrPrice(arguments, target));
  // Ctrl-C before the first result leaves nothing to report.
  if (corpus.specs.empty()) return absl::CancelledError("fidelity: nothing has been measured yet");
  if (arguments.json != "-") std::fputs(FormatTable(corpus, arguments.seed).c_str(), stdout);
  if (!arguments.json.empty()) {
    // A corpus that is only priced anew was not timed today, so its report has no date.
    const ReportHead head = {"fidelity", target.name, arguments.corpora.empty()};
    KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, WithHead(head, ToJson(corpus, arguments.seed))));
  }
  if (!arguments.svg.empty()) KIRSCH_RETURN_IF_ERROR(WriteOutput(arguments.svg, ScatterSvg(corpus)));
  return corpus.wrong.empty() ? 0 : 1;
}

}  // namespace

void AddFidelityCommand(const Command& app, Run& run) {
  const Command command =
      app.AddCommand("fidelity", "Measure how well predicted cycles agree with this machine's");
  auto arguments = std::make_shared<FidelityArguments>();
  command.BeginGroup(kWhatGroup);
  command.Add("SPECS", arguments->specs,
              "What to draw programs of, e.g. 'matmul f32 64x64x64'; else a suite of all kinds");
  command.AddFile("--suite", arguments->suite, "A file of specs, as for bench");
  command
      .AddFile("--corpus", arguments->corpora,
               "Measure nothing: price the programs of this file of an earlier --json anew; may be repeated")
      .OneValueEach();
  command
      .AddFlag("--chosen{100}", arguments->chosen,
               "Draw so many problems of all kinds (100) instead, and hold what the model chooses against "
               "the most promising programs that differ, and others drawn")
      .InRange(1, 100000);
  command.Add("--programs", arguments->programs, "Programs drawn for each spec").InRange(1, 1000);
  command.Add("--seed", arguments->seed, "Of the draws, and of the random split");
  command.AddFlag("--quick", arguments->quick, "Fewer programs and rounds, and a third of the usual suite");
  command.BeginGroup(kTargetGroup);
  command.Add("--target", arguments->target, "A known target, host (the default), or a target file");
  command.Add("--threads", arguments->threads, "Threads the kernels are for").InRange(1, 255);
  command.AddFlag("--cold", arguments->cold, "The operands come from RAM, not from the caches");
  // --static has options of its own. It takes none that say what to measure.
  command.BeginGroup(kCheckGroup);
  command.AddFlag(
      "--static", arguments->check_static,
      "Instead, hold what is predicted of register tiles and of traffic against machine code, LLVM's "
      "analyser and simulated caches");
  command.Add("--kernels", arguments->kernels, "Register tiles that --static draws").InRange(1, 100000);
  command.BeginGroup(kOutputGroup);
  command.AddFile("--json", arguments->json,
                  "Write what was found as JSON to this file (-: standard output)");
  command.AddFile("--svg", arguments->svg, "Draw measured over predicted cycles to this SVG file");
  command.OnChosen([&run, arguments] { run = [arguments] { return Fidelity(*arguments); }; });
}

}  // namespace kirsch
