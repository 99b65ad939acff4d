// kirsch bench SPEC | --suite FILE
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/peers.h"
#include "bench/plot.h"
#include "bench/run.h"
#include "bench/suite.h"
#include "bench/table.h"
#include "codegen/jit.h"
#include "codegen/lower.h"
#include "spec/cat.h"
#include "spec/family.h"
#include "spec/host.h"
#include "tools/command.h"
#include "tools/kernel.h"
#include "tools/output.h"
#include "tools/solve.h"
#include "tools/target_option.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

struct Arguments {
  SolveArguments solve;
  std::string suite;
  std::vector<std::string> peers = {"openblas", "blis", "onednn", "libxsmm", "eigen"};
  std::string json, plot;
};

// The specs to bench as they were written, all of them well-formed.
absl::StatusOr<std::vector<std::string>> SpecsOf(const Arguments& arguments) {
  if (arguments.suite.empty() == arguments.solve.spec.empty())
    return absl::InvalidArgumentError("bench: expected either SPEC or --suite FILE");
  if (arguments.suite.empty()) {
    const absl::StatusOr<SpecFamily> family = ParseFamily(arguments.solve.spec);
    if (family.ok() && family->count() > 1)
      return absl::InvalidArgumentError(
          "bench: expected a single spec, got a family of sizes (--suite takes a list of specs)");
    return std::vector<std::string>{family.ok() ? family->text() : arguments.solve.spec};
  }
  absl::StatusOr<Suite> suite = LoadSuite(arguments.suite);
  if (!suite.ok()) return suite.status();
  std::vector<std::string> specs;
  for (const SuiteSpec& spec : suite->specs) {
    if (const absl::Status parsed = ParseSpec(spec.text).status(); !parsed.ok())
      return absl::InvalidArgumentError(
          Cat(arguments.suite, ":", spec.line, ":", spec.column, ": ", std::string(parsed.message())));
    specs.push_back(spec.text);
  }
  return specs;
}

// The items of a request, and the machine code they point to.
struct Kernels {
  std::vector<BenchItem> items;
  std::vector<std::unique_ptr<JitKernel>> code;
};

absl::Status AddKernel(const SolveArguments& arguments, const Target& target, bool runs_here,
                       Kernels* kernels) {
  absl::StatusOr<Synthesis> synthesis = Solve(arguments, target);
  if (!synthesis.ok()) return synthesis.status();
  PrintSummary(*synthesis);
  BenchItem item{synthesis->parsed.text, synthesis->parsed.spec};
  if (runs_here) {
    const LoopProgram program =
        Lower(synthesis->result.impl, synthesis->target, KernelName(synthesis->parsed));
    absl::StatusOr<std::unique_ptr<JitKernel>> kernel = JitCompile(program, synthesis->target);
    if (!kernel.ok()) return kernel.status();
    item.kernel = {(*kernel)->function(), static_cast<size_t>(program.scratch_bytes)};
    if (program.packing) {
      item.kernel.pack = (*kernel)->pack();
      item.kernel.packed_operand = program.packing->operand;
      item.kernel.packed_bytes = static_cast<size_t>(program.packing->bytes);
    }
    kernels->code.push_back(*std::move(kernel));
  }
  kernels->items.push_back(std::move(item));
  return absl::OkStatus();
}

absl::StatusOr<Kernels> MakeKernels(const Arguments& arguments) {
  absl::StatusOr<std::vector<std::string>> specs = SpecsOf(arguments);
  if (!specs.ok()) return specs.status();
  absl::StatusOr<Target> target = LoadTarget(arguments.solve.target);
  if (!target.ok()) return target.status();
  const absl::Status supported = Supports(ReadHost(), *target);
  if (!supported.ok()) std::fprintf(stderr, "kirsch: %s\n", std::string(supported.message()).c_str());
  Kernels kernels;
  for (const std::string& spec : *specs) {
    SolveArguments solve = arguments.solve;
    solve.spec = spec;
    if (absl::Status status = AddKernel(solve, *target, supported.ok(), &kernels); !status.ok())
      return status;
  }
  return kernels;
}

absl::Status Write(const Arguments& arguments, const BenchReport& report) {
  if (arguments.json != "-") std::fputs(FormatTable(report).c_str(), stdout);
  if (!arguments.json.empty())
    if (absl::Status written = WriteOutput(arguments.json, ToJson(report).dump(2) + "\n"); !written.ok())
      return written;
  return arguments.plot.empty() ? absl::OkStatus() : WriteOutput(arguments.plot, PlotSvg(report));
}

absl::StatusOr<int> Bench(const Arguments& arguments) {
  for (const std::string& peer : arguments.peers)  // before the search, which takes a while
    if (absl::Status known = FindPeer(peer, {}).status(); !known.ok()) return known;
  absl::StatusOr<Kernels> kernels = MakeKernels(arguments);
  if (!kernels.ok()) return kernels.status();
  BenchRequest request;
  request.items = kernels->items;
  request.peers = arguments.peers;
  request.threads = arguments.solve.threads;
  request.cold = arguments.solve.cold;
  TerminalLine line;
  request.progress = [&line](std::string_view what) { line.Show(what); };
  absl::StatusOr<BenchReport> report = RunBench(request);
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
  command->add_option("--suite", arguments->suite,
                      "A file of specs: {\"name\": ..., \"specs\": [SPEC, ...]}");
  command
      ->add_option("--against", arguments->peers,
                   "Names among openblas blis onednn onednn:noamx libxsmm eigen mkl, or cblas:/path/lib.so, "
                   "comma-separated")
      ->delimiter(',')
      ->allow_extra_args(false);  // what follows the list is SPEC
  command->add_option("--json", arguments->json,
                      "Write the report as JSON to this file (-: standard output)");
  command->add_option("--plot", arguments->plot, "Draw the report to this SVG file");
  command->callback([&run, arguments] { run = [arguments] { return Bench(*arguments); }; });
}

}  // namespace kirsch
