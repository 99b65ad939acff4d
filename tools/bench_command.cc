// kirsch bench SPEC | --suite FILE | -f FILE
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/entries.h"
#include "bench/peers.h"
#include "bench/plot.h"
#include "bench/run.h"
#include "bench/run_graph.h"
#include "bench/suite.h"
#include "bench/table.h"
#include "codegen/host_cpu.h"
#include "codegen/jit.h"
#include "codegen/lower.h"
#include "memo/hash_memo.h"
#include "spec/cat.h"
#include "spec/file.h"
#include "tools/command.h"
#include "tools/graph_bench.h"
#include "tools/kernel.h"
#include "tools/option_checks.h"
#include "tools/output.h"
#include "tools/solve.h"
#include "tools/target_option.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

struct Arguments {
  SolveArguments solve;
  std::string suite;
  std::string file, kernel;
  std::vector<std::string> peers;  // empty: the usual ones
  std::string json, plot;
};

const std::vector<std::string> kMatmulPeers = {"openblas", "blis", "onednn", "libxsmm", "eigen"};
const std::vector<std::string> kGraphPeers = {"onednn", "openblas", "loops"};

// F(4x4,3x3) is about ten times as far off as a sum of products.
constexpr double kWinogradTolerance = 32;

absl::StatusOr<std::vector<BenchEntry>> ReadSuite(const std::string& path) {
  absl::StatusOr<Suite> suite = LoadSuite(path);
  if (!suite.ok()) return suite.status();
  std::vector<BenchEntry> entries;
  for (const SuiteSpec& spec : suite->specs) {
    absl::StatusOr<std::vector<BenchEntry>> read = ReadEntries(spec.text, "spec");
    if (!read.ok())
      return absl::InvalidArgumentError(
          Cat(path, ":", spec.line, ":", spec.column, ": ", std::string(read.status().message())));
    std::move(read->begin(), read->end(), std::back_inserter(entries));
  }
  return entries;
}

// What to bench: matmuls, or graphs.
absl::StatusOr<std::vector<BenchEntry>> ReadWork(const Arguments& arguments) {
  const bool spec = !arguments.solve.spec.empty(), suite = !arguments.suite.empty(),
             file = !arguments.file.empty();
  if (spec + suite + file != 1)
    return absl::InvalidArgumentError("bench: expected either SPEC or --suite FILE or -f FILE");
  if (!arguments.kernel.empty() && !file) return absl::InvalidArgumentError("bench: --kernel is of -f FILE");
  absl::StatusOr<std::string> text = file ? ReadFile(arguments.file) : arguments.solve.spec;
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<BenchEntry>> entries =
      suite ? ReadSuite(arguments.suite)
            : ReadEntries(*text, file ? arguments.file : "spec", arguments.kernel);
  if (!entries.ok()) return entries;
  if (absl::Status alike = MakeAlike(&*entries); !alike.ok())
    return absl::Status(alike.code(), Cat("bench: ", std::string(alike.message())));
  return entries;
}

// The items of a request, and the machine code they point to.
struct Kernels {
  std::vector<BenchItem> items;
  std::vector<std::unique_ptr<JitKernel>> code;
};

absl::Status AddKernel(const SolveArguments& arguments, const ParsedSpec& parsed, const Target& target,
                       Kernels* kernels) {
  absl::StatusOr<Synthesis> synthesis = Solve(arguments, parsed, target, std::make_shared<HashMemo>());
  if (!synthesis.ok()) return synthesis.status();
  PrintSummary(*synthesis);
  BenchItem item{synthesis->parsed.text, synthesis->parsed.spec};
  const LoopProgram program = Lower(synthesis->result.impl, synthesis->target, KernelName(synthesis->parsed));
  if (const absl::Status runs = CanRun(program, target); runs.ok()) {
    absl::StatusOr<std::unique_ptr<JitKernel>> kernel = JitCompile(program, synthesis->target);
    if (!kernel.ok()) return kernel.status();
    item.kernel = {(*kernel)->function(), static_cast<size_t>(program.scratch_bytes)};
    if (program.packing) {
      item.kernel.pack = (*kernel)->pack();
      item.kernel.packed_operand = program.packing->operand;
      item.kernel.packed_bytes = static_cast<size_t>(program.packing->bytes);
    }
    kernels->code.push_back(*std::move(kernel));
  } else {
    PrintRemark(std::string(runs.message()));
  }
  kernels->items.push_back(std::move(item));
  return absl::OkStatus();
}

absl::StatusOr<Kernels> MakeKernels(const Arguments& arguments, const std::vector<BenchEntry>& entries) {
  absl::StatusOr<Target> target = LoadTarget(arguments.solve.target);
  if (!target.ok()) return target.status();
  Kernels kernels;
  for (const BenchEntry& entry : entries) {
    if (absl::Status status = AddKernel(arguments.solve, *entry.matmul, *target, &kernels); !status.ok())
      return status;
  }
  return kernels;
}

absl::Status Write(const Arguments& arguments, const BenchReport& report) {
  if (arguments.json != "-") std::fputs(FormatTable(report).c_str(), stdout);
  if (!arguments.json.empty())
    if (absl::Status written = WriteJson(arguments.json, ToJson(report)); !written.ok()) return written;
  return arguments.plot.empty() ? absl::OkStatus() : WriteOutput(arguments.plot, PlotSvg(report));
}

// What graphs and matmuls share.
BenchOptions OptionsOf(const Arguments& arguments, const std::vector<std::string>& usual,
                       TerminalLine& line) {
  BenchOptions options;
  options.peers = arguments.peers.empty() ? usual : arguments.peers;
  options.threads = arguments.solve.threads;
  options.cold = arguments.solve.cold;
  options.progress = [&line](std::string_view what) { line.Show(what); };
  return options;
}

absl::StatusOr<BenchReport> BenchMatmuls(const Arguments& arguments, const std::vector<BenchEntry>& entries,
                                         TerminalLine& line) {
  BenchRequest request{OptionsOf(arguments, kMatmulPeers, line), {}};
  for (const std::string& peer : request.peers)  // before the search, which takes a while
    if (absl::Status known = FindPeer(peer, {}).status(); !known.ok()) return known;
  const absl::StatusOr<Kernels> kernels = MakeKernels(arguments, entries);
  if (!kernels.ok()) return kernels.status();
  request.items = kernels->items;
  return RunBench(request);
}

absl::StatusOr<BenchReport> BenchGraphs(const Arguments& arguments, const std::vector<BenchEntry>& entries,
                                        TerminalLine& line) {
  SolveArguments parts = arguments.solve;
  parts.fuse = false;
  GraphBenchRequest request{OptionsOf(arguments, kGraphPeers, line),
                            {},
                            GraphKernels(arguments.solve),
                            GraphKernels(parts),
                            arguments.solve.allow_winograd ? kWinogradTolerance : 1};
  for (const BenchEntry& entry : entries) request.items.push_back({entry.text, *entry.graph});
  return RunGraphBench(request);
}

absl::StatusOr<int> Bench(const Arguments& arguments) {
  if (absl::Status outputs = CheckOutputs({arguments.json, arguments.plot}); !outputs.ok()) return outputs;
  const absl::StatusOr<std::vector<BenchEntry>> entries = ReadWork(arguments);
  if (!entries.ok()) return entries.status();
  TerminalLine line;
  const absl::StatusOr<BenchReport> report =
      (entries->front().graph ? BenchGraphs : BenchMatmuls)(arguments, *entries, line);
  line.Erase();
  if (!report.ok()) return report.status();
  if (absl::Status written = Write(arguments, *report); !written.ok()) return written;
  const bool wrong = std::any_of(report->results.begin(), report->results.end(),
                                 [](const BenchResult& result) { return result.ours() && !result.correct; });
  return wrong ? 1 : 0;
}

}  // namespace

void AddBenchCommand(CLI::App& app, const DbOptions& db, Run& run) {
  CLI::App* command = app.add_subcommand("bench", "Measure kernels beside other libraries'");
  auto arguments = std::make_shared<Arguments>();
  AddSolveOptions(*command, db, arguments->solve)->required(false);
  command
      ->add_option(
          "--suite", arguments->suite,
          "A file of specs: {\"name\": ..., \"specs\": [SPEC, ...]}; a kernel in the kernel language is an "
          "array of its lines")
      ->check(NotEmpty("a file"));
  command->add_option("-f,--file", arguments->file, "A file of kernels")->check(NotEmpty("a file"));
  command->add_option("--kernel", arguments->kernel, "The only one of the file's kernels that is wanted")
      ->check(NotEmpty("a name"));
  command
      ->add_option("--against", arguments->peers,
                   "Names among openblas blis onednn onednn:noamx libxsmm eigen mkl, or cblas:/path/lib.so, "
                   "comma-separated; for graphs also loops and parts (our own kernels, one operation after "
                   "the other), "
                   "and no libxsmm and eigen")
      ->delimiter(',')
      ->allow_extra_args(false);  // what follows the list is SPEC
  command->add_option("--json", arguments->json, "Write the report as JSON to this file (-: standard output)")
      ->check(NotEmpty("a file"));
  command->add_option("--plot", arguments->plot, "Draw the report to this SVG file")
      ->check(NotEmpty("a file"));
  command->callback([&run, arguments] { run = [arguments] { return Bench(*arguments); }; });
}

}  // namespace kirsch
