// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch import FILE.mlir`: prints the kernels that a program of MLIR is, in the kernel language.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "import/import_kernel.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "tools/command.h"
#include "tools/mlir_file.h"
#include "tools/options.h"
#include "tools/output.h"

namespace kirsch {
namespace {

struct ImportArguments {
  std::string file, output = "-", constants;
  bool report = false;
};

// The arrays of the kernels' constants, in C.
std::string PrintConstants(const std::vector<ImportedKernel>& kernels) {
  std::string text;
  for (const ImportedKernel& kernel : kernels)
    for (const KernelConstant& constant : kernel.constants) {
      Append(&text, "// The parameter ", constant.name, " of ", kernel.name, ", [",
             Join(constant.tensor.shape, ","), "].\nstatic const ", constant.integer ? "int " : "float ",
             kernel.name, "_", constant.name, "[", constant.tensor.elements(), "] = {");
      for (int64_t i = 0; i < constant.tensor.elements(); ++i)
        Append(&text, i % 16 == 0 ? "\n  " : " ",
               constant.integer ? Cat(static_cast<int32_t>(constant.tensor.at(i)))
                                : Cat(static_cast<float>(constant.tensor.at(i))),
               ",");
      Append(&text, "\n};\n");
    }
  return text;
}

// A line for each kernel: what became of the program's operations.
void Report(const ImportedKernel& kernel) {
  const auto statements = std::ranges::count(kernel.text, '\n') - 2;
  PrintRemark(Cat(kernel.name, ": one kernel of ", statements, statements == 1 ? " operation" : " operations",
                  ", of ", kernel.operations, " in the file; nothing is left out"));
  for (const KernelConstant& constant : kernel.constants)
    PrintRemark(Cat(kernel.name, ": its parameter ", constant.name, " [", Join(constant.tensor.shape, ","),
                    "] is a constant of the file (--constants writes it)"));
}

absl::StatusOr<int> RunImport(const ImportArguments& arguments) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.output, arguments.constants}, {arguments.file}));
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<ImportedKernel> kernels, ReadMlirFile(arguments.file));
  if (arguments.report)
    for (const ImportedKernel& kernel : kernels) Report(kernel);
  if (!arguments.constants.empty())
    KIRSCH_RETURN_IF_ERROR(WriteOutput(arguments.constants, PrintConstants(kernels)));
  KIRSCH_RETURN_IF_ERROR(WriteOutput(arguments.output, TextOf(kernels)));
  return 0;
}

}  // namespace

void AddImportCommand(const Command& app, Run& run) {
  const Command command =
      app.AddCommand("import", "Print what a file of MLIR computes, in the kernel language");
  auto arguments = std::make_shared<ImportArguments>();
  command
      .AddFile("FILE", arguments->file,
               "A file of MLIR: StableHLO in generic form, linalg on tensors, or TOSA")
      .Required();
  command.BeginGroup(kOutputGroup);
  command.AddFile("-o,--output", arguments->output,
                  "Write the kernels to this file instead of standard output");
  command.AddFile(
      "--constants", arguments->constants,
      "Write the arrays of constants, such as masks, that the kernels have parameters for to this file "
      "in C");
  command.AddFlag("--report", arguments->report, "Say what became of the file's operations");
  command.OnChosen([&run, arguments] { run = [arguments] { return RunImport(*arguments); }; });
}

}  // namespace kirsch
