// SPDX-License-Identifier: Apache-2.0
#include "import/import_kernel.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "import/flat_function.h"
#include "import/kernel_importer.h"
#include "import/tensor_program.h"
#include "spec/check.h"
#include "spec/graph/graph.h"
#include "spec/language/kernel_file.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The functions that are called.
std::set<std::string> Called(const MlirModule& module) {
  std::set<std::string> called;
  for (const MlirFunction& function : module.functions)
    for (const MlirOperation& operation : function.body.operations)
      if (const MlirAttribute* callee = operation.Find("callee"); callee != nullptr)
        called.insert(callee->words.begin(), callee->words.end());
  return called;
}

// What errors call the kernel's text, before they are told at the program's.
constexpr std::string_view kText = "kernel";

// An error of the kernel's text, at the place in the program that its line comes from.
//   "kernel:3:8: expected ..." becomes "model.mlir:12:10: expected ..."
absl::Status AtOrigin(std::string_view text, const std::vector<KernelLine>& lines, std::string_view source,
                      std::string_view message) {
  int line = 0, column = 0;
  std::string_view rest = message.substr(std::min(kText.size() + 1, message.size()));
  for (int* number : {&line, &column}) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), *number);
    if (error != std::errc()) return absl::InvalidArgumentError(Cat(source, ": ", message));
    rest.remove_prefix(std::min(static_cast<size_t>(end - rest.data()) + 1, rest.size()));
  }
  if (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  const bool known = line >= 1 && static_cast<size_t>(line) <= lines.size();
  const TextPosition place = known ? lines[static_cast<size_t>(line) - 1].position : TextPosition{0, 0};
  // What the line says here, since the error is about its words.
  for (int i = 1; i < line; ++i) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  const std::string_view said = text.substr(0, text.find('\n'));
  return ErrorAt(
      source, place,
      Cat(rest, ", in ", Quoted(said.substr(std::min(said.find_first_not_of(' '), said.size())), 80)));
}

// What the kernel language infers is what the importer took each statement for. Anything else is a bug of
// ours, and the kernel might compute something else.
void CheckShapes(const Graph& graph, const std::vector<KernelLine>& lines) {
  std::map<int, const GraphNode*> last;  // of each line: the whole statement
  for (const GraphNode& node : graph.nodes)
    if (node.op != Operation::kInput && node.op != Operation::kNumber) last[node.position.line] = &node;
  for (const auto& [line, node] : last)
    KIRSCH_CHECK(node->type.dims == lines[static_cast<size_t>(line) - 1].dims);
}

// The kernel of one function. Parameters get more axes where matmuls want their operands to have as many. If
// it takes copies to write it, values are copied, and then dims, until it can be written.
absl::StatusOr<ImportedKernel> ImportOne(TensorProgram program, std::string_view source,
                                         const std::string& name) {
  size_t rank = 1;
  bool may_copy = false;
  while (true) {
    KernelImporter importer(program, source, rank, may_copy);
    const absl::Status status = importer.Run();
    if (!status.ok() && importer.wanted_rank() > rank) {
      rank = importer.wanted_rank();
      continue;
    }
    if (!status.ok()) {
      if (std::exchange(may_copy, true) && !InsertCopies(importer.wanted_copies(), &program)) return status;
      rank = 1;
      continue;
    }
    std::vector<KernelLine> lines;
    KIRSCH_ASSIGN_OR_RETURN(std::string text, importer.Print(name, &lines));
    lines.front().position = program.position;
    auto parsed = ParseKernelFile(text, kText);
    if (!parsed.ok()) {
      const absl::string_view message = parsed.status().message();
      return AtOrigin(text, lines, source, {message.data(), message.size()});
    }
    parsed->front().UseGraph();
    CheckShapes(parsed->front().family.graphs()->member(0), lines);
    return ImportedKernel{name, std::move(text), importer.constants(), 0};
  }
}

}  // namespace

absl::StatusOr<std::vector<ImportedKernel>> ImportKernels(const MlirModule& module, std::string_view source,
                                                          const std::string& main) {
  std::vector<ImportedKernel> kernels;
  const std::set<std::string> called = Called(module);
  for (const MlirFunction& function : module.functions) {
    if (!function.defined || called.count(function.name) != 0) continue;
    KIRSCH_ASSIGN_OR_RETURN(const FlatFunction flat, Flatten(module, function, source));
    const std::string name = function.name == "main" ? main : MakeIdentifier(function.name);
    KIRSCH_ASSIGN_OR_RETURN(TensorProgram program, LowerToTensors(flat, source));
    KIRSCH_ASSIGN_OR_RETURN(
        ImportedKernel kernel,
        ImportOne(std::move(program), source, IsKernelName(name) ? name : Cat("kernel_", name)));
    kernel.operations = flat.operations.size();
    kernels.push_back(std::move(kernel));
  }
  if (kernels.empty())
    return absl::InvalidArgumentError(Cat(source, ": expected a function that no other one calls"));
  return kernels;
}

}  // namespace kirsch
