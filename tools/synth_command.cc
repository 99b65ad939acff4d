// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch synth SPEC`: makes kernels, verifies them, and writes them. The steps are those of synthesis/;
// this reads options, and decides what is written where.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "codegen/llvm/emit.h"
#include "codegen/loop/loop_text.h"
#include "spec/language/contraction_graph.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/explain/linalg_text.h"
#include "synthesis/explain/transform_script.h"
#include "synthesis/kernel_library.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/repeated_command.h"
#include "tools/report_head.h"
#include "tools/requests.h"
#include "tools/search_trace.h"
#include "tools/synthesis_report.h"
#include "tools/target_option.h"
#include "tools/tuning.h"
#include "tools/verdict.h"

namespace kirsch {
namespace {

struct SynthArguments {
  RequestArguments request;
  std::string emit = "header";  // a word of --emit
  HeaderMode header_mode = HeaderMode::kAttributes;
  std::string name_space;    // of a header's functions in C++; empty: none
  Abi abi = Abi::kSystemV;   // of an object
  std::string output;        // empty: standard output, unless the JSON goes there
  std::string declarations;  // a header for an object; empty: none
  std::string json;
  std::string trace;     // a file; empty: none
  bool uniform = false;  // functions take memory and threads, needed or not
  bool no_verify = false;
  std::string command;  // that makes the same again, for the head of the file

  // The three kinds of output:
  //   header, c                  C, for any number of kernels and targets
  //   ll, asm, obj               code compiled here, of one kernel for one target
  //   schedule, program, loops   the steps that lead to code, of one kernel for one target
  bool emits_c() const { return emit == "header" || emit == "c"; }
  bool emits_text() const {
    return emit == "schedule" || emit == "program" || emit == "loops" || emit == "transform";
  }
  bool emits_code() const { return !emits_c() && !emits_text(); }
  // What functions take even if their code needs none of it.
  EntryParameters always() const {
    const bool threads = uniform && request.solve.threads > 1;
    return {uniform, threads, threads};
  }
};

// The form of code for a word of --emit: "ll", "asm" or "obj".
CodeForm FormOf(const std::string& emit) {
  if (emit == "ll") return CodeForm::kLlvmIr;
  return emit == "asm" ? CodeForm::kAssembly : CodeForm::kObject;
}

// Checks before the search, which may take a while, that its result has somewhere to go. An object is bytes,
// which no terminal should get.
absl::Status CheckOutputFiles(const SynthArguments& arguments) {
  if (arguments.emit == "obj" && arguments.output.empty() && arguments.json != "-" && isatty(STDOUT_FILENO))
    return absl::InvalidArgumentError("--emit obj: expected -o FILE, as standard output is a terminal");
  return CheckOutputs({arguments.output, arguments.declarations, arguments.json, arguments.trace},
                      InputsOf(arguments.request));
}

// Writes the code and the JSON, whichever are asked for. If the JSON goes to standard output, the code goes
// there only by a file of its own. Returns `exit_code`.
absl::StatusOr<int> Write(const SynthArguments& arguments, const std::optional<std::string>& code,
                          const nlohmann::ordered_json& json, int exit_code) {
  // Standard output has one document: the JSON, if it is to go there.
  const bool to_file = !arguments.output.empty() && arguments.output != "-";
  if (code && (to_file || arguments.json != "-"))
    KIRSCH_RETURN_IF_ERROR(WriteOutput(arguments.output, *code));
  if (!arguments.json.empty()) KIRSCH_RETURN_IF_ERROR(WriteJson(arguments.json, json));
  return exit_code;
}

// What was written, for the report. Bytes of memory and phases are the most that any of the programs needs:
// so much a caller must provide.
nlohmann::ordered_json EmitJson(const SynthArguments& arguments, size_t bytes,
                                absl::Span<const LoopProgram* const> programs) {
  int64_t scratch_bytes = 0, packed_bytes = 0, shared_bytes = 0;
  int phases = 1;
  for (const LoopProgram* program : programs) {
    scratch_bytes = std::max(scratch_bytes, program->scratch_bytes);
    shared_bytes = std::max(shared_bytes, program->shared_bytes);
    phases = std::max(phases, program->phases);
    if (program->packing) packed_bytes = std::max(packed_bytes, program->packing->bytes);
  }
  return {{"path", arguments.output},     {"bytes", bytes},   {"scratch_bytes", scratch_bytes},
          {"packed_bytes", packed_bytes}, {"phases", phases}, {"shared_bytes", shared_bytes}};
}

// A text of one of the steps from decisions to code: the decisions, the program that they make, or its loops.
absl::StatusOr<std::string> EmitText(const std::string& emit, const FamilySynthesis& kernel,
                                     const HeaderFunction& function) {
  if (emit == "program") return RegionShapes(kernel);
  if (emit == "transform") {
    const Synthesis& only = kernel.members.front();
    const auto* const impl = std::get_if<Impl>(&only.program);
    return impl != nullptr ? TransformScript(*impl, only.target)
                           : TransformScript(std::get<Plan>(only.program), only.target);
  }
  if (emit == "schedule")
    return kernel.members.size() == 1 ? PrintSchedule(kernel.members.front().program)
                                      : RegionPrograms(kernel);
  return Join(function.variants.front().programs, "\n", LoopText);
}

// What --emit asks for, as bytes. Code and texts are of one kernel for one target (CheckForm); C may have any
// number.
absl::StatusOr<std::string> Emit(const SynthArguments& arguments, const Library& library,
                                 const HeaderFile& file) {
  if (arguments.emits_code()) {
    ProgressLine line;
    line.Show("compiling the code");
    return EmitFunction(file.functions.front(), FormOf(arguments.emit), arguments.abi);
  }
  if (arguments.emits_text())
    return EmitText(arguments.emit, library.kernels.front().variants.front(), file.functions.front());
  PrintLeftOut(library, file);
  return PrintHeaderFile(file);
}

// Writes a header that declares what is in the object, if it is wanted.
absl::Status WriteDeclarations(const SynthArguments& arguments, HeaderFile file) {
  if (arguments.declarations.empty()) return absl::OkStatus();
  file.declares = true;
  file.mode = HeaderMode::kAttributes;
  return WriteOutput(arguments.declarations, PrintHeaderFile(file));
}

// Solves, verifies and writes. An error of one step ends the command, and nothing is written after it.
absl::StatusOr<int> SynthLibrary(const SynthArguments& arguments, const Requests& requests) {
  // A single kernel of SPEC gives its name to the file; a file of kernels has its own.
  const bool whole_file = !arguments.request.file.empty() && arguments.emits_c();
  SolveArguments solve = arguments.request.solve;
  SearchTraceFile trace;
  if (!arguments.trace.empty()) solve.trace = trace.Recorder();
  KIRSCH_ASSIGN_OR_RETURN(
      Library library,
      SolveLibrary(solve, requests.single() && !whole_file ? requests.kernels.front().name : requests.name,
                   requests.kernels, requests.targets));
  if (!arguments.trace.empty()) KIRSCH_RETURN_IF_ERROR(trace.Write(arguments.trace));
  // The same style is verified and printed, so what is written is what was checked.
  const LibraryStyle style = {arguments.header_mode, arguments.emit == "c", arguments.name_space,
                              arguments.abi,         arguments.always(),    arguments.request.dispatch,
                              arguments.command};
  nlohmann::ordered_json json =
      WithHead({"synth", NamesOfTargets(requests.targets), !arguments.request.solve.tune.empty()},
               LibraryJson(library));
  json["verify"] = json["emit"] = nullptr;
  int exit_code = 0;
  if (!arguments.no_verify) {
    const VerifyReport report = VerifyLibrary(library, style, arguments.request.solve.observer);
    json["verify"] = ReportJson(report);
    PrintVerdict(report);
    exit_code = ExitCode(report);
    // A wrong kernel is not handed out.
    if (report.verdict == Verdict::kFailed) return Write(arguments, std::nullopt, json, exit_code);
  }
  const HeaderFile file = MakeHeaderFile(library, style);
  // The report says what all programs together need.
  std::vector<const LoopProgram*> programs;
  for (const HeaderFunction& function : file.functions)
    for (const HeaderVariant& variant : function.variants)
      for (const LoopProgram& program : variant.programs) programs.push_back(&program);
  // Everything is printed before anything is written, so an error leaves no code behind.
  KIRSCH_ASSIGN_OR_RETURN(const std::string code, Emit(arguments, library, file));
  json["emit"] = EmitJson(arguments, code.size(), programs);
  KIRSCH_RETURN_IF_ERROR(WriteDeclarations(arguments, file));
  return Write(arguments, code, json, exit_code);
}

// Checks the options against each other, once it is known what is asked for. An error says what was expected.
absl::Status CheckForm(const SynthArguments& arguments, const Requests& requests) {
  const auto refuse = [](const std::string& message) { return absl::InvalidArgumentError(message); };
  // An ABI is a matter of objects. C code has that of its compiler.
  if (arguments.abi != Abi::kSystemV && !arguments.emits_code())
    return refuse(Cat("--abi: expected --emit obj, asm or ll, got ", arguments.emit));
  if (!arguments.name_space.empty() && arguments.emit != "header")
    return refuse(Cat("--namespace: expected --emit header, got ", arguments.emit));
  if (!arguments.name_space.empty() && arguments.header_mode == HeaderMode::kBare)
    return refuse("--namespace: expected another --header-mode, as bare code is put inside one of yours");
  if (arguments.request.dispatch && !arguments.emits_c())
    return refuse(Cat("--dispatch: expected --emit header or c, got ", arguments.emit));
  if (arguments.request.dispatch && arguments.header_mode == HeaderMode::kBare)
    return refuse(
        "--dispatch: expected another --header-mode, as bare code doesn't ask what the CPU can run");
  if (!arguments.declarations.empty() && !arguments.emits_code())
    return refuse(Cat("--declarations: expected --emit obj, asm or ll, got ", arguments.emit));
  if (arguments.uniform &&
      (arguments.emit == "schedule" || arguments.emit == "program" || arguments.emit == "transform"))
    return refuse(Cat("--uniform: expected code, got --emit ", arguments.emit));
  if (arguments.emit == "transform") {
    const KernelFamily& family = requests.kernels.front().family;
    if (requests.kernels.size() > 1 || requests.targets.size() > 1 || family.count() > 1)
      return refuse("--emit transform: expected a single kernel without a range, for a single target");
    if (family.graphs() == nullptr) return CheckTransformScript(family.specs()->member(0).spec);
    const absl::StatusOr<LinalgFunction> function = WriteLinalg(family.graphs()->member(0));
    return function.status();
  }
  // A single spec for a single target can be had in every form, so nothing more is refused of it.
  if (requests.single()) return absl::OkStatus();
  // What one file of code or text can hold: one kernel for one target.
  const bool one = requests.kernels.size() == 1 && requests.targets.size() == 1;
  const GraphFamily* const graphs = requests.kernels.front().family.graphs();
  if (!one && !arguments.emits_c())
    return refuse(
        Cat("--emit: expected header or c for several kernels or targets, got ", Quoted(arguments.emit)));
  if (graphs != nullptr && graphs->count() > 1 && arguments.emit == "schedule")
    return refuse(
        "--emit: expected header, c, ll, asm, obj, program or loops for a family of graphs, got 'schedule'");
  if (one && arguments.abi != Abi::kSystemV)
    return refuse(Cat("--abi: expected sysv for a ", graphs != nullptr ? "graph" : "family", ", as yet"));
  if (requests.targets.size() > 1 && arguments.header_mode != HeaderMode::kAttributes)
    return refuse("--header-mode: expected attributes for several targets");
  return absl::OkStatus();
}

// Makes a spec a graph, if it can be one: a script has an epilogue's steps, and an image, as operations of
// their own.
void UseGraphForScript(KernelRequest* request) {
  if (request->family.graphs() != nullptr) return;
  const ParsedSpec& parsed = request->family.specs()->member(0);
  if (CheckTransformScript(parsed.spec).ok()) return;
  if (const absl::StatusOr<Graph> graph = MatmulGraph(parsed); graph.ok() && !request->graph)
    if (absl::StatusOr<KernelRequest> same = ParseKernelLine(PrintGraph(*graph), request->source); same.ok())
      *request = *std::move(same);
  if (request->graph) request->UseGraph();
}

// The command: all that can be refused is refused before the search.
absl::StatusOr<int> Synth(const SynthArguments& arguments) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputFiles(arguments));
  KIRSCH_ASSIGN_OR_RETURN(Requests requests, ReadRequests(arguments.request));
  if (arguments.emit == "transform") UseGraphForScript(&requests.kernels.front());
  KIRSCH_RETURN_IF_ERROR(CheckForm(arguments, requests));
  return SynthLibrary(arguments, requests);
}

// Takes names of C++ with :: between: "a::b".
std::string CheckNamespace(const std::string& text) {
  for (absl::string_view part : absl::StrSplit(text, "::"))
    if (!IsIdentifier({part.data(), part.size()}))
      return Cat("expected names with :: between, got ", Quoted(text));
  return "";
}

}  // namespace

void AddSynthCommand(const Command& app, const DbOptions& db, Run& run) {
  const Command command = app.AddCommand("synth", "Synthesize a kernel and write it");
  auto arguments = std::make_shared<SynthArguments>();
  // What to make, for which target, and how to search: shared with verify and explain.
  AddRequestOptions(command, db, arguments->request);
  AddTuneOptions(command, arguments->request.solve);
  command.BeginGroup(kSearchGroup);
  command.AddFile("--trace", arguments->trace,
                  "Write what the search asked, pruned and chose to this file, a JSON object on each line; "
                  "one thread searches then, and what the table knows is not searched");
  command.BeginGroup(kOutputGroup);
  command
      .Add("--emit", arguments->emit,
           "header (the default), c, ll, asm, obj, schedule, program, loops or transform (a script of MLIR)")
      .Check(WordOf({"header", "c", "ll", "asm", "obj", "schedule", "program", "loops", "transform"}));
  // How the code looks, and what its names are. CheckForm refuses what does not go together.
  command.AddChoice<HeaderMode>(
      "--header-mode",
      {{"attributes", HeaderMode::kAttributes}, {"macros", HeaderMode::kMacros}, {"bare", HeaderMode::kBare}},
      arguments->header_mode, "attributes (the default), macros or bare");
  command.Add("--name", arguments->request.name, "What the function is called in C")
      .Check(NotEmpty("a name"));
  command.Add("--prefix", arguments->request.prefix, "What all names in C begin with, as in mylib_");
  command.Add("--namespace", arguments->name_space, "The C++ namespace of a header's names; not in C")
      .Check(CheckNamespace, "NAMES");
  command.AddChoice<Abi>("--abi", {{"sysv", Abi::kSystemV}, {"win64", Abi::kWin64}}, arguments->abi,
                         "Of obj (ELF or COFF), asm and ll: sysv (the default) or win64");
  // --uniform and --dispatch are for callers that reach many kernels by one kind of call.
  command.AddFlag("--uniform", arguments->uniform,
                  "Functions take scratch memory, and with --threads a thread, their number, shared memory "
                  "and a phase, even where their code needs none");
  command.AddFlag("--dispatch", arguments->request.dispatch,
                  "Add a function that finds the kernel of a matmul by its types and sizes");
  command.AddFile("-o,--output", arguments->output, "The file (default: standard output)");
  command.AddFile("--declarations", arguments->declarations,
                  "Write a header that declares what is in obj, asm or ll to this file");
  command.AddFile("--json", arguments->json, "Write a report as JSON to this file (-: standard output)");
  // Kernels are verified unless users say otherwise.
  command.BeginGroup(kCheckGroup);
  command.AddFlag("--no-verify", arguments->no_verify, "Write the kernel unchecked");
  command.OnChosen([&run, command, arguments] {
    // The command's text must be made while the options are there: after parsing, before it runs.
    arguments->command = RepeatedCommand(command);
    run = [arguments] { return Synth(*arguments); };
  });
}

}  // namespace kirsch
