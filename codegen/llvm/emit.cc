// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "codegen/c/c_signature.h"
#include "codegen/header/dispatch.h"
#include "codegen/llvm/llvm_dispatch.h"
#include "codegen/llvm/llvm_printer.h"
#include "codegen/llvm/llvm_target.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// An optimised module with all that it refers to. Members are destroyed from the last to the first: the
// module before its context.
struct Compiled {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

// A module is printed into the context of the compilation.
using PrintModule = std::function<std::unique_ptr<llvm::Module>(llvm::LLVMContext&)>;

// All that a file is made of: a printer of its module, and the facts that a caller has to know.
struct Source {
  PrintModule print;
  const Target& target;
  Abi abi;
  std::vector<std::string> features;
  std::string declaration, pack_declaration;  // pack_declaration is empty if nothing is prepacked
  int64_t scratch_bytes = 0, shared_bytes = 0, packed_bytes = 0;
};

// Of one program: the module has its entry, and what packs.
Source SourceOf(const LoopProgram& program, const Target& target, const EmitOptions& options) {
  // The prototypes are C's, as callers are mostly C.
  const CSignature signature = MakeSignature(program);
  const auto print = [&program, &target, options](llvm::LLVMContext& context) {
    return PrintLlvm(program, target, options, context);
  };
  Source source{print,
                target,
                options.abi,
                program.features,
                Cat("void ", program.name, "(", CParameters(signature), ")"),
                "",
                program.scratch_bytes,
                program.shared_bytes};
  if (!program.packing) return source;
  source.pack_declaration = Cat("void ", PackName(program), "(", CPackParameters(signature), ")");
  source.packed_bytes = program.packing->bytes;
  return source;
}

// Of a function: the program itself if there is nothing to choose, else a module with all of its programs.
Source SourceOf(const HeaderFunction& function, Abi abi) {
  const HeaderVariant& only = function.variants.front();
  if (!function.dispatched()) return SourceOf(only.programs.front(), only.target, {abi});
  const auto print = [&function, abi](llvm::LLVMContext& context) {
    return PrintLlvmDispatch(function, abi, context);
  };
  Source source{print,
                only.target,
                abi,
                only.features(),
                Declaration(function),
                "",
                function.scratch_bytes(),
                function.shared_bytes()};
  if (!function.packs()) return source;
  source.pack_declaration = PackDeclaration(function);
  source.packed_bytes = only.programs.front().packing->bytes;
  return source;
}

// Makes the machine first, as it may refuse the target's CPU before anything is printed.
absl::StatusOr<std::unique_ptr<Compiled>> Compile(const Source& source) {
  auto compiled = std::make_unique<Compiled>();
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine,
                          MakeTargetMachine(source.target, source.abi));
  compiled->machine = std::move(machine);
  compiled->module = source.print(compiled->context);
  KIRSCH_RETURN_IF_ERROR(Optimize(*compiled->module, *compiled->machine));
  return compiled;
}

// Runs LLVM's code generator, which writes an object or assembly.
absl::StatusOr<std::string> EmitFile(Compiled& compiled, llvm::CodeGenFileType type) {
  llvm::SmallString<0> file;
  llvm::raw_svector_ostream stream(file);
  llvm::legacy::PassManager passes;
  if (compiled.machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return absl::InternalError("LLVM cannot emit this kind of file");
  passes.run(*compiled.module);
  return std::string(file.str());
}

// Returns what a caller has to know, in lines that begin with `comment`: required features, prototypes, sizes
// of memory.
std::string CallersComment(const Source& source, const char* comment) {
  std::string text;
  const auto line = [&](const auto&... parts) { Append(&text, comment, parts..., "\n"); };
  // Memory that has no bytes is not mentioned.
  const auto memory = [&](const char* name, int64_t bytes, const char* whose) {
    if (bytes > 0) line(name, ": ", bytes, " bytes, 64-byte aligned, ", whose);
  };
  line("requires ", Join(source.features, " "));
  line(source.declaration, ";");
  memory("scratch_memory", source.scratch_bytes, "of each thread alone");
  memory("shared_memory", source.shared_bytes, "the same for all threads and phases");
  if (source.pack_declaration.empty()) return text;
  line(source.pack_declaration, ";");
  memory("packed", source.packed_bytes, "to be packed once");
  return text;
}

absl::StatusOr<std::string> Emit(const Source& source, CodeForm form) {
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<Compiled> compiled, Compile(source));
  // An object has no place for the comment that text begins with.
  if (form == CodeForm::kObject) return EmitFile(*compiled, llvm::CodeGenFileType::ObjectFile);
  if (form == CodeForm::kLlvmIr) {
    std::string text = CallersComment(source, "; ");
    llvm::raw_string_ostream stream(text);
    // The IR is printed after Optimize: it is the code generator's input.
    compiled->module->print(stream, nullptr);
    return text;
  }
  absl::StatusOr<std::string> text = EmitFile(*compiled, llvm::CodeGenFileType::AssemblyFile);
  if (text.ok()) text->insert(0, CallersComment(source, "# "));
  return text;
}

}  // namespace

absl::StatusOr<std::string> EmitLlvmIr(const LoopProgram& program, const Target& target,
                                       const EmitOptions& options) {
  return Emit(SourceOf(program, target, options), CodeForm::kLlvmIr);
}

absl::StatusOr<std::string> EmitAssembly(const LoopProgram& program, const Target& target,
                                         const EmitOptions& options) {
  return Emit(SourceOf(program, target, options), CodeForm::kAssembly);
}

absl::StatusOr<std::string> EmitObject(const LoopProgram& program, const Target& target,
                                       const EmitOptions& options) {
  return Emit(SourceOf(program, target, options), CodeForm::kObject);
}

absl::StatusOr<std::string> EmitFunction(const HeaderFunction& function, CodeForm form, Abi abi) {
  return Emit(SourceOf(function, abi), form);
}

}  // namespace kirsch
