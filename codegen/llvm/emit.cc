#include "codegen/llvm/emit.h"

#include <memory>

#include "absl/strings/str_join.h"
#include "codegen/c/c_printer.h"
#include "codegen/llvm/llvm_printer.h"
#include "codegen/llvm/llvm_target.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

struct Compiled {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;  // before its context
};

absl::StatusOr<std::unique_ptr<Compiled>> Compile(const LoopProgram& program, const Target& target,
                                                  const EmitOptions& options) {
  auto compiled = std::make_unique<Compiled>();
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine(target, options.abi);
  if (!machine.ok()) return machine.status();
  compiled->machine = *std::move(machine);
  compiled->module = PrintLlvm(program, target, options, compiled->context);
  if (absl::Status status = Optimize(*compiled->module, *compiled->machine); !status.ok()) return status;
  return compiled;
}

absl::StatusOr<std::string> EmitFile(const LoopProgram& program, const Target& target,
                                     const EmitOptions& options, llvm::CodeGenFileType type) {
  absl::StatusOr<std::unique_ptr<Compiled>> compiled = Compile(program, target, options);
  if (!compiled.ok()) return compiled.status();
  llvm::SmallString<0> file;
  llvm::raw_svector_ostream stream(file);
  llvm::legacy::PassManager passes;
  if ((*compiled)->machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return absl::InternalError("LLVM cannot emit this kind of file");
  passes.run(*(*compiled)->module);
  return std::string(file.str());
}

// What a caller has to know, in lines that begin with `comment`.
std::string CallersComment(const LoopProgram& program, const EmitOptions& options, const char* comment) {
  const CSignature signature = SignatureOf(program, options.swapped);
  std::string text;
  const auto line = [&](const auto&... parts) { Append(&text, comment, parts..., "\n"); };
  const auto memory = [&](const char* name, int64_t bytes, const char* whose) {
    if (bytes > 0) line(name, ": ", bytes, " bytes, 64-byte aligned, ", whose);
  };
  line("requires ", absl::StrJoin(program.features, " "));
  line("void ", program.name, "(", CParameters(signature), ");");
  memory("scratch_memory", program.scratch_bytes, "of each thread alone");
  memory("shared_memory", program.shared_bytes, "the same for all threads and phases");
  if (!program.packing) return text;
  line("void ", PackName(program), "(", CPackParameters(signature), ");");
  memory("packed", program.packing->bytes, "to be packed once");
  return text;
}

}  // namespace

absl::StatusOr<std::string> EmitLlvmIr(const LoopProgram& program, const Target& target,
                                       const EmitOptions& options) {
  absl::StatusOr<std::unique_ptr<Compiled>> compiled = Compile(program, target, options);
  if (!compiled.ok()) return compiled.status();
  std::string text = CallersComment(program, options, "; ");
  llvm::raw_string_ostream stream(text);
  (*compiled)->module->print(stream, nullptr);
  return text;
}

absl::StatusOr<std::string> EmitAssembly(const LoopProgram& program, const Target& target,
                                         const EmitOptions& options) {
  absl::StatusOr<std::string> text = EmitFile(program, target, options, llvm::CodeGenFileType::AssemblyFile);
  if (text.ok()) text->insert(0, CallersComment(program, options, "# "));
  return text;
}

absl::StatusOr<std::string> EmitObject(const LoopProgram& program, const Target& target,
                                       const EmitOptions& options) {
  return EmitFile(program, target, options, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace kirsch
