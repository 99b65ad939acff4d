// kirsch synth SPEC
#include <unistd.h>

#include <map>
#include <memory>
#include <string>

#include "codegen/emit.h"
#include "codegen/lower.h"
#include "spec/schedule.h"
#include "tools/command.h"
#include "tools/kernel.h"
#include "tools/output.h"
#include "tools/solve.h"

namespace kirsch {
namespace {

struct Arguments {
  SolveArguments solve;
  std::string emit = "header";
  HeaderMode header_mode = HeaderMode::kAttributes;
  std::string output;  // empty: standard output, unless the JSON goes there
  std::string json;
  bool no_verify = false;
};

absl::StatusOr<std::string> Emit(const std::string& form, const Synthesis& synthesis,
                                 const LoopProgram& program, HeaderOptions header_options) {
  const EmitOptions options{synthesis.parsed.swapped};
  if (form == "ll") return EmitLlvmIr(program, synthesis.target, options);
  if (form == "asm") return EmitAssembly(program, synthesis.target, options);
  if (form == "obj") return EmitObject(program, synthesis.target, options);
  if (form == "schedule") return PrintSchedule(synthesis.result.impl);
  header_options.external = form == "c";
  return PrintHeader(program, synthesis.target, header_options);
}

// Finds out before the search, which may take a while, that its result has nowhere to go.
absl::Status CheckOutputs(const Arguments& arguments) {
  if (arguments.emit == "obj" && arguments.output.empty() && arguments.json != "-" && isatty(STDOUT_FILENO))
    return absl::InvalidArgumentError("--emit obj: expected -o FILE, as standard output is a terminal");
  absl::Status status = CheckOutput(arguments.output);
  if (status.ok()) status = CheckOutput(arguments.json);
  return status;
}

absl::StatusOr<int> Synth(const Arguments& arguments) {
  if (absl::Status outputs = CheckOutputs(arguments); !outputs.ok()) return outputs;
  absl::StatusOr<Synthesis> synthesis = Solve(arguments.solve);
  if (!synthesis.ok()) return synthesis.status();
  PrintSummary(*synthesis);
  const HeaderOptions header_options = HeaderOptionsFor(*synthesis, arguments.header_mode);
  nlohmann::ordered_json json = SynthesisJson(*synthesis);
  json["verify"] = nullptr;
  bool right = true;
  if (!arguments.no_verify) {
    const VerifyReport report = VerifySynthesis(*synthesis, header_options);
    json["verify"] = ReportJson(report);
    right = report.ok;
    PrintVerdict(report);
  }
  json["emit"] = nullptr;
  if (right) {  // a wrong kernel is not handed out
    const LoopProgram program =
        Lower(synthesis->result.impl, synthesis->target, KernelName(synthesis->parsed));
    absl::StatusOr<std::string> code = Emit(arguments.emit, *synthesis, program, header_options);
    if (!code.ok()) return code.status();
    json["emit"] = {
        {"path", arguments.output}, {"bytes", code->size()}, {"scratch_bytes", program.scratch_bytes}};
    const bool to_file = !arguments.output.empty() && arguments.output != "-";
    if (to_file || arguments.json != "-")
      if (absl::Status written = WriteOutput(arguments.output, *code); !written.ok()) return written;
  }
  if (!arguments.json.empty())
    if (absl::Status written = WriteOutput(arguments.json, json.dump(2) + "\n"); !written.ok())
      return written;
  return right ? 0 : 1;
}

}  // namespace

void AddSynthCommand(CLI::App& app, const DbOptions& db, Run& run) {
  CLI::App* command = app.add_subcommand("synth", "Synthesize a kernel and write it");
  auto arguments = std::make_shared<Arguments>();
  AddSolveOptions(*command, db, arguments->solve);
  command->add_option("--emit", arguments->emit, "header (the default), c, ll, asm, obj or schedule")
      ->check(CLI::IsMember({"header", "c", "ll", "asm", "obj", "schedule"}));
  const std::map<std::string, HeaderMode> modes = {
      {"attributes", HeaderMode::kAttributes}, {"macros", HeaderMode::kMacros}, {"bare", HeaderMode::kBare}};
  command->add_option("--header-mode", arguments->header_mode, "attributes (the default), macros or bare")
      ->transform(CLI::CheckedTransformer(modes).description(""));
  command->add_option("-o,--output", arguments->output, "The file (default: standard output)");
  command->add_option("--json", arguments->json, "Write a report as JSON to this file (-: standard output)");
  command->add_flag("--no-verify", arguments->no_verify, "Write the kernel unchecked");
  command->callback([&run, arguments] { run = [arguments] { return Synth(*arguments); }; });
}

}  // namespace kirsch
