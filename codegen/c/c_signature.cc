// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_signature.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "codegen/kernels/block_decoder.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Packed memory is void*: its layout is the kernel's own business.
std::string TensorParameter(const EntryTensor& tensor) {
  const std::string type = tensor.name == kPacked ? "void" : CType(tensor.dtype);
  return Cat(tensor.stored ? "" : "const ", type, "* __restrict ", tensor.name);
}

std::string TensorParameters(const std::vector<EntryTensor>& tensors) {
  return Join(tensors, ", ", TensorParameter);
}

// The parameters behind the tensors, each with a comma before it, since there always are tensors.
std::string ShareParameters(const CSignature& signature) {
  return Cat(signature.scratch ? ", void* __restrict scratch_memory" : "",
             signature.threads ? Cat(", size_t ", ShareNames(signature, ", size_t ")) : "",
             signature.phases ? Cat(", void* __restrict shared_memory, size_t ", kPhase) : "");
}

std::string ShareArguments(const CSignature& signature) {
  return Cat(signature.scratch ? ", scratch_memory" : "",
             signature.threads ? Cat(", ", ShareNames(signature, ", ")) : "",
             signature.phases ? Cat(", shared_memory, ", kPhase) : "");
}

bool IsWordCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// True if the identifier is somewhere in the text, and not as part of a longer one. For `n`, "n_threads"
// doesn't count.
bool Names(std::string_view text, std::string_view identifier) {
  for (size_t at = text.find(identifier); at != text.npos; at = text.find(identifier, at + 1)) {
    const size_t end = at + identifier.size();
    if ((at == 0 || !IsWordCharacter(text[at - 1])) && (end == text.size() || !IsWordCharacter(text[end])))
      return true;
  }
  return false;
}

}  // namespace

std::string CType(Dtype dtype) {
  if (dtype == Dtype::kF32) return "float";
  if (dtype == Dtype::kF64) return "double";
  // Blocks mix numbers of several types, so they are taken as bytes.
  if (IsOfBlocks(dtype)) return CType(PointeeOf(dtype));
  // o8 is an s8 that is kept as the u8 that is 128 more: its bits are those of a u8.
  const bool has_sign = Info(dtype).has_sign && !IsFloating(dtype) && dtype != Dtype::kExcess8;
  return Cat(has_sign ? "int" : "uint", 8 * Bytes(dtype), "_t");
}

CSignature MakeSignature(const LoopProgram& program) {
  CSignature signature;
  signature.tensors = program.tensors;
  signature.sizes = program.sizes;
  if (program.packing) signature.constants = program.packing->constants;
  signature.scratch = program.TakesScratch();
  signature.threads = program.TakesThreads();
  signature.columns = program.block != 0;
  signature.phases = program.TakesPhases();
  return signature;
}

std::string TensorNames(const std::vector<EntryTensor>& tensors) {
  return Join(tensors, ", ", &EntryTensor::name);
}

std::string FunctionText(std::string_view parameters, std::string_view body) {
  std::string text = Cat("(", parameters, ") {\n");
  for (absl::string_view parameter : absl::StrSplit(ForAbsl(parameters), ", ", absl::SkipEmpty())) {
    const std::string name(parameter.substr(parameter.rfind(' ') + 1));
    if (!Names(body, name)) Append(&text, "  (void)", name, ";\n");
  }
  return Cat(text, body, "}\n");
}

std::string ShareNames(const CSignature& signature, const char* separator) {
  return signature.columns ? Cat(kFirstColumn, separator, kEndColumn) : Cat(kThread, separator, kThreads);
}

std::string CParameters(const CSignature& signature) {
  std::string sizes;
  for (const std::string& size : signature.sizes) Append(&sizes, "size_t ", size, ", ");
  return Cat(sizes, TensorParameters(signature.tensors), ShareParameters(signature));
}

std::string CPackParameters(const CSignature& signature) {
  return Cat(TensorParameters(signature.constants), ", void* __restrict packed");
}

std::string CPackArguments(const CSignature& signature) {
  return Cat(TensorNames(signature.constants), ", packed");
}

std::string CArguments(const CSignature& signature) {
  std::string sizes;
  for (const std::string& size : signature.sizes) Append(&sizes, size, ", ");
  return Cat(sizes, TensorNames(signature.tensors), ShareArguments(signature));
}

}  // namespace kirsch
