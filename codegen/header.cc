#include "codegen/header.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/header_file.h"
#include "codegen/self_test.h"

namespace kirsch {
namespace {

std::string CommentText(const LoopProgram& program, const Target& target, const HeaderOptions& options,
                        const HeaderFile& file) {
  std::string text =
      absl::StrCat(program.name, ": ", options.spec_text, "\n\n", OriginText(target, options.version));
  absl::StrAppend(&text, "predicted  ",
                  absl::StrFormat("%.0f cycles, %.1f GFLOP/s", options.cycles, options.gflops), " at ",
                  absl::StrFormat("%.2f", target.ghz), " GHz\n", RequirementsText(file));
  absl::StrAppend(&text, "\nvoid ", program.name, "(",
                  CParameters(SignatureOf(program, options.swapped)), ");\n");
  absl::StrAppend(&text, OperandsText(options.spec, options.swapped), "No operand overlaps another.\n");
  if (TakesScratch(program))
    absl::StrAppend(&text, "scratch_memory: ", program.name,
                    "_scratch_bytes() bytes, 64-byte aligned, of this thread alone.\n");
  if (TakesThreads(program))
    absl::StrAppend(&text, "Thread 0 <= thread < n_threads does its share of ", program.tasks,
                    " tasks; all threads together compute the result.\n");
  absl::StrAppend(&text, InclusionText(file));
  if (options.swapped) text += "The transposed product is computed: out^T = rhs^T lhs^T.\n";
  return absl::StrCat(text, "\nSchedule:\n", options.schedule);
}

}  // namespace

std::string PrintHeader(const LoopProgram& program, const Target& target, const HeaderOptions& options) {
  HeaderFile file;
  file.name = program.name;
  file.mode = options.mode;
  file.external = options.external;
  file.kernels = {{&program, options.swapped}};
  file.comment = CommentText(program, target, options, file);
  SelfTest test;
  test.file = &file;
  test.problems = {{options.spec, options.swapped}};
  file.self_test = PrintSelfTest(test);
  return PrintHeaderFile(file);
}

}  // namespace kirsch
