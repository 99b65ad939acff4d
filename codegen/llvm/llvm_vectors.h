// SPDX-License-Identifier: Apache-2.0
// The vector operations of loop programs as LLVM values. Internal to codegen/, like llvm_printer.h.
#ifndef KIRSCH_CODEGEN_LLVM_LLVM_VECTORS_H_
#define KIRSCH_CODEGEN_LLVM_LLVM_VECTORS_H_

#include <array>
#include <string_view>

#include "codegen/loop/loop_program.h"
#include "llvm/IR/IRBuilder.h"
#include "spec/check.h"

namespace kirsch {

// A float of what sums may be of, or an integer of the element's width: bf16 and f16 are integers until they
// are computed with.
llvm::Type* ElementType(Dtype dtype, llvm::LLVMContext& context);
llvm::FixedVectorType* VectorType(const Var& var, llvm::LLVMContext& context);

// See LaneCount.
struct LlvmCount {
  LlvmCount(int number)
      : number(number) {}  // NOLINT(google-explicit-constructor): mostly it is just a number
  LlvmCount(int number, llvm::Value* index) : number(number), index(index) {}

  int number;
  llvm::Value* index = nullptr;

  int Known() const {
    KIRSCH_CHECK(index == nullptr);
    return number;
  }
};

// Writes instructions where `ir` stands. A Var names the type and the lanes of a vector, `value` is what it
// holds; `memory` is the element type of an address.
class LlvmVectors {
 public:
  LlvmVectors(const LoopProgram& program, llvm::IRBuilder<>& ir) : program_(program), ir_(ir) {}

  llvm::Value* Load(const Var& to, llvm::Value* from, Dtype memory, const LlvmCount& count);
  llvm::Value* Broadcast(const Var& to, llvm::Value* from, Dtype memory, int count);
  void Store(const Var& from, llvm::Value* value, llvm::Value* to, Dtype memory, const LlvmCount& count);
  llvm::Value* MultiplyAdd(const Var& a_var, const Var& b_var, llvm::Value* accumulator, llvm::Value* a,
                           llvm::Value* b);
  llvm::Value* Binary(BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);  // a * b + c
  llvm::Value* Scale(llvm::Value* a, llvm::Value* exponent);
  llvm::Value* BroadcastPower(const Var& to, llvm::Value* from);
  llvm::Value* LoadNibbles(const Var& to, llvm::Value* from);
  llvm::Value* Lookup(llvm::Value* bytes, const std::array<uint8_t, 16>& table);
  llvm::Value* FillBytes(const std::array<uint8_t, kTableBytes / 2>& bytes);
  llvm::Value* LookupPair(llvm::Value* from, llvm::Value* first, llvm::Value* second);
  llvm::Value* Unpack(const Var& to, llvm::Value* low, llvm::Value* high, bool second);
  llvm::Value* ForUnpacking(const Var& to, llvm::Value* from, int times);
  llvm::Value* FirstOf(llvm::Value* a, llvm::Value* b, const LlvmCount& count);
  llvm::Value* Across(BinaryOp op, llvm::Value* value);
  llvm::Value* Fill(const Var& to, uint64_t word);
  llvm::Value* Convert(const Var& to, llvm::Value* from);
  // Of four vectors; 4 lanes.
  llvm::Value* LaneSums(const std::array<llvm::Value*, 4>& from);
  void Transpose(std::array<llvm::Value*, 4>* rows);
  void TransposeParts(std::array<llvm::Value*, 4>* rows);
  // Null after the last vector.
  llvm::Value* Interleave(const Var& to, const std::array<llvm::Value*, 4>& from);
  // Elements `first`, `first` + 2, ... of two vectors, one after the other.
  llvm::Value* EverySecond(llvm::Value* a, llvm::Value* b, int first);
  // The lower (0) or upper (1) bf16 of each word, as f32.
  llvm::Value* Half(llvm::Value* words, int half);

 private:
  llvm::Type* Element(Dtype dtype) { return ElementType(dtype, ir_.getContext()); }
  llvm::FixedVectorType* Vector(llvm::Type* element, int lanes);
  llvm::Constant* FirstLanes(int lanes, int count);
  llvm::Value* FirstLanes(int lanes, const LlvmCount& count, Dtype memory);
  llvm::Value* Lanes(llvm::Value* value, int first, int count);
  llvm::Value* Splat(llvm::Value* element, int lanes);
  llvm::Value* ElementAt(llvm::Value* base, Dtype memory, int64_t index);
  bool Maskable(Dtype memory) const;

  llvm::Value* Word(llvm::Value* from, Dtype memory, int first, int count, int bits);
  llvm::Value* LoadNarrow(llvm::Value* from, Dtype memory, int lanes, const LlvmCount& count);
  llvm::Value* LoadByWords(llvm::Value* from, Dtype memory, int lanes, int count);
  llvm::Value* LoadByPieces(llvm::Value* from, Dtype memory, int lanes, int count);
  llvm::Value* Widened(llvm::Value* value, Dtype from, Dtype to);
  llvm::Value* WidenedByF16(llvm::Value* value, Dtype from, llvm::Type* type);
  llvm::Value* Narrowed(llvm::Value* value, Dtype from, Dtype to);
  llvm::Value* RoundedToBf16(llvm::Value* value);
  llvm::Value* Call(std::string_view name, llvm::SmallVector<llvm::Value*, 3> arguments);
  llvm::Value* OfBits(BinaryOp op, llvm::Value* a, llvm::Value* b);
  void StorePieces(llvm::Value* value, llvm::Value* to, Dtype memory, int count);
  llvm::Value* Add(llvm::Value* a, llvm::Value* b);
  llvm::Value* PairSums(llvm::Value* a, llvm::Value* b);
  void TransposePairs(std::array<llvm::Value*, 4>* rows);

  const LoopProgram& program_;
  llvm::IRBuilder<>& ir_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_VECTORS_H_
