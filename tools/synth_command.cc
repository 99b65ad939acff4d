// kirsch synth SPEC
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/lower.h"
#include "spec/cat.h"
#include "spec/schedule.h"
#include "tools/command.h"
#include "tools/family.h"
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

// Writes the code, or the JSON with standard output for itself, or both.
absl::StatusOr<int> Write(const Arguments& arguments, const std::optional<std::string>& code,
                          const nlohmann::ordered_json& json) {
  const bool to_file = !arguments.output.empty() && arguments.output != "-";
  if (code && (to_file || arguments.json != "-"))
    if (absl::Status written = WriteOutput(arguments.output, *code); !written.ok()) return written;
  if (!arguments.json.empty())
    if (absl::Status written = WriteOutput(arguments.json, json.dump(2) + "\n"); !written.ok())
      return written;
  return code ? 0 : 1;
}

nlohmann::ordered_json EmitJson(const Arguments& arguments, size_t bytes, int64_t scratch_bytes) {
  return {{"path", arguments.output}, {"bytes", bytes}, {"scratch_bytes", scratch_bytes}};
}

std::string EmitFamily(const Arguments& arguments, const FamilySynthesis& synthesis,
                       const std::vector<FamilyKernel>& kernels) {
  if (arguments.emit == "schedule") return RegionSchedules(synthesis);
  FamilyHeaderOptions options = FamilyHeaderOptionsFor(synthesis, arguments.header_mode);
  options.external = arguments.emit == "c";
  return PrintFamilyHeader(synthesis.family, kernels, synthesis.members.front().target, options);
}

absl::StatusOr<int> SynthFamily(const Arguments& arguments, const SpecFamily& family) {
  if (arguments.emit != "header" && arguments.emit != "c" && arguments.emit != "schedule")
    return absl::InvalidArgumentError(
        Cat("--emit: expected header, c or schedule for a family of sizes, got '", arguments.emit, "'"));
  absl::StatusOr<FamilySynthesis> synthesis = SolveFamily(arguments.solve, family);
  if (!synthesis.ok()) return synthesis.status();
  PrintFamilySummary(*synthesis);
  nlohmann::ordered_json json = FamilyJson(*synthesis);
  json["verify"] = json["emit"] = nullptr;
  if (!arguments.no_verify) {
    const VerifyReport report = VerifyFamily(*synthesis, arguments.header_mode);
    json["verify"] = ReportJson(report);
    PrintVerdict(report);
    if (!report.ok) return Write(arguments, std::nullopt, json);  // a wrong kernel is not handed out
  }
  const std::vector<FamilyKernel> kernels = LowerMembers(*synthesis);
  int64_t scratch_bytes = 0;
  for (const FamilyKernel& kernel : kernels)
    scratch_bytes = std::max(scratch_bytes, kernel.program.scratch_bytes);
  const std::string code = EmitFamily(arguments, *synthesis, kernels);
  json["emit"] = EmitJson(arguments, code.size(), scratch_bytes);
  return Write(arguments, code, json);
}

absl::StatusOr<int> SynthOne(const Arguments& arguments) {
  absl::StatusOr<Synthesis> synthesis = Solve(arguments.solve);
  if (!synthesis.ok()) return synthesis.status();
  PrintSummary(*synthesis);
  const HeaderOptions header_options = HeaderOptionsFor(*synthesis, arguments.header_mode);
  nlohmann::ordered_json json = SynthesisJson(*synthesis);
  json["verify"] = json["emit"] = nullptr;
  if (!arguments.no_verify) {
    const VerifyReport report = VerifySynthesis(*synthesis, header_options);
    json["verify"] = ReportJson(report);
    PrintVerdict(report);
    if (!report.ok) return Write(arguments, std::nullopt, json);  // a wrong kernel is not handed out
  }
  const LoopProgram program = Lower(synthesis->result.impl, synthesis->target, KernelName(synthesis->parsed));
  absl::StatusOr<std::string> code = Emit(arguments.emit, *synthesis, program, header_options);
  if (!code.ok()) return code.status();
  json["emit"] = EmitJson(arguments, code->size(), program.scratch_bytes);
  return Write(arguments, *code, json);
}

absl::StatusOr<int> Synth(Arguments arguments) {
  if (absl::Status outputs = CheckOutputs(arguments); !outputs.ok()) return outputs;
  absl::StatusOr<SpecFamily> family = ParseFamily(arguments.solve.spec);
  if (!family.ok()) return family.status();
  if (family->count() > 1) return SynthFamily(arguments, *family);
  arguments.solve.spec = family->text();
  return SynthOne(arguments);
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
