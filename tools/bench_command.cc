// kirsch bench SPEC | --suite FILE | -f FILE
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/graph_text.h"
#include "bench/peers.h"
#include "bench/plot.h"
#include "bench/run.h"
#include "bench/run_graph.h"
#include "bench/suite.h"
#include "bench/table.h"
#include "codegen/host_cpu.h"
#include "codegen/jit.h"
#include "codegen/lower.h"
#include "spec/cat.h"
#include "spec/family.h"
#include "spec/graph_family.h"
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

// What to bench: matmuls, as they were written and well-formed, or graphs.
struct Work {
  std::vector<std::string> specs;
  std::vector<GraphItem> graphs;
};

absl::Status AddText(const std::string& text, Work* work) {
  const absl::Status single = absl::InvalidArgumentError(
      "bench: expected a single spec, got a family of sizes (--suite takes a list of specs)");
  if (IsGraphText(text)) {
    if (IsShorthandFamily(text)) return single;
    absl::StatusOr<GraphItem> item = ReadGraph(text);
    if (!item.ok()) return item.status();
    work->graphs.push_back(*std::move(item));
  } else {
    const absl::StatusOr<SpecFamily> family = ParseFamily(text);
    if (!family.ok()) return family.status();
    if (family->count() > 1) return single;
    work->specs.push_back(family->text());
  }
  return work->specs.empty() || work->graphs.empty()
             ? absl::OkStatus()
             : absl::InvalidArgumentError("bench: expected either matmuls or graphs, as the entry before");
}

absl::StatusOr<Work> ReadSuite(const std::string& path) {
  absl::StatusOr<Suite> suite = LoadSuite(path);
  if (!suite.ok()) return suite.status();
  Work work;
  for (const SuiteSpec& spec : suite->specs)
    if (absl::Status added = AddText(spec.text, &work); !added.ok())
      return absl::InvalidArgumentError(
          Cat(path, ":", spec.line, ":", spec.column, ": ", std::string(added.message())));
  return work;
}

absl::StatusOr<Work> ReadWork(const Arguments& arguments) {
  const bool spec = !arguments.solve.spec.empty(), suite = !arguments.suite.empty(),
             file = !arguments.file.empty();
  if (spec + suite + file != 1)
    return absl::InvalidArgumentError("bench: expected either SPEC or --suite FILE or -f FILE");
  if (!arguments.kernel.empty() && !file) return absl::InvalidArgumentError("bench: --kernel is of -f FILE");
  if (suite) return ReadSuite(arguments.suite);
  Work work;
  if (spec) {
    if (absl::Status added = AddText(arguments.solve.spec, &work); !added.ok()) return added;
    return work;
  }
  absl::StatusOr<std::vector<GraphItem>> graphs = ReadGraphs(arguments.file, arguments.kernel);
  if (!graphs.ok()) return graphs.status();
  work.graphs = *std::move(graphs);
  return work;
}

// The items of a request, and the machine code they point to.
struct Kernels {
  std::vector<BenchItem> items;
  std::vector<std::unique_ptr<JitKernel>> code;
};

absl::Status AddKernel(const SolveArguments& arguments, const Target& target, Kernels* kernels) {
  absl::StatusOr<Synthesis> synthesis = Solve(arguments, target);
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

absl::StatusOr<Kernels> MakeKernels(const Arguments& arguments, const std::vector<std::string>& specs) {
  absl::StatusOr<Target> target = LoadTarget(arguments.solve.target);
  if (!target.ok()) return target.status();
  Kernels kernels;
  for (const std::string& spec : specs) {
    SolveArguments solve = arguments.solve;
    solve.spec = spec;
    if (absl::Status status = AddKernel(solve, *target, &kernels); !status.ok()) return status;
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

absl::StatusOr<BenchReport> BenchMatmuls(const Arguments& arguments, const std::vector<std::string>& specs,
                                         TerminalLine& line) {
  BenchRequest request{OptionsOf(arguments, kMatmulPeers, line), {}};
  for (const std::string& peer : request.peers)  // before the search, which takes a while
    if (absl::Status known = FindPeer(peer, {}).status(); !known.ok()) return known;
  const absl::StatusOr<Kernels> kernels = MakeKernels(arguments, specs);
  if (!kernels.ok()) return kernels.status();
  request.items = kernels->items;
  return RunBench(request);
}

absl::StatusOr<int> Bench(const Arguments& arguments) {
  if (absl::Status outputs = CheckOutputs({arguments.json, arguments.plot}); !outputs.ok()) return outputs;
  absl::StatusOr<Work> work = ReadWork(arguments);
  if (!work.ok()) return work.status();
  if (arguments.solve.allow_winograd && work->graphs.empty()) return NoGraph(work->specs.front());
  const double tolerance = arguments.solve.allow_winograd ? kWinogradTolerance : 1;
  TerminalLine line;
  SolveArguments parts = arguments.solve;
  parts.fuse = false;
  absl::StatusOr<BenchReport> report =
      work->graphs.empty() ? BenchMatmuls(arguments, work->specs, line)
                           : RunGraphBench({OptionsOf(arguments, kGraphPeers, line), std::move(work->graphs),
                                            GraphKernels(arguments.solve), GraphKernels(parts), tolerance});
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
  command->add_option("-f,--file", arguments->file, "A file of kernels in the kernel language")
      ->check(NotEmpty("a file"));
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
