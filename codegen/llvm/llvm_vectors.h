// SPDX-License-Identifier: Apache-2.0
// Writes the vector operations of loop programs as LLVM instructions. Each operation has a function here that
// knows how the program's features allow it to be done. The printer around it knows no feature. Internal to
// codegen/, like llvm_printer.h.
#ifndef KIRSCH_CODEGEN_LLVM_LLVM_VECTORS_H_
#define KIRSCH_CODEGEN_LLVM_LLVM_VECTORS_H_

#include <array>
#include <string_view>

#include "codegen/loop/loop_program.h"
#include "llvm/IR/IRBuilder.h"
#include "spec/check.h"

namespace kirsch {

// Returns the element's type in LLVM: a float if sums may be of it, or else an integer of the element's
// width. bf16 and f16 are integers until they are computed with.
llvm::Type* ElementType(Dtype dtype, llvm::LLVMContext& context);
llvm::FixedVectorType* VectorType(const Var& var, llvm::LLVMContext& context);

// A LaneCount in LLVM: so many lanes from lane 0 on, `number` at most. `index` is the value that has the
// number, 1 at least; null: it is `number`.
struct LlvmCount {
  LlvmCount(int number)
      : number(number) {}  // NOLINT(google-explicit-constructor): mostly it is just a number
  LlvmCount(int number, llvm::Value* index) : number(number), index(index) {}

  int number;
  llvm::Value* index = nullptr;

  // For operations that have no form for a number known only at run time.
  int Known() const {
    KIRSCH_CHECK(index == nullptr);
    return number;
  }
};

// Writes instructions where `ir` stands. A Var names the type and the lanes of a vector, `value` is its
// content; `memory` is the element type of an address.
class LlvmVectors {
 public:
  LlvmVectors(const LoopProgram& program, llvm::IRBuilder<>& ir) : program_(program), ir_(ir) {}

  // `count` lanes are loaded and widened; the others are zero, and nothing behind them is touched. Store
  // narrows.
  llvm::Value* Load(const Var& to, llvm::Value* from, Dtype memory, const LlvmCount& count);
  llvm::Value* Broadcast(const Var& to, llvm::Value* from, Dtype memory, int count);
  void Store(const Var& from, llvm::Value* value, llvm::Value* to, Dtype memory, const LlvmCount& count);
  // accumulator + a * b, by the encoding that the features allow. Words add the products of their elements.
  llvm::Value* MultiplyAdd(const Var& a_var, const Var& b_var, llvm::Value* accumulator, llvm::Value* a,
                           llvm::Value* b);
  llvm::Value* Binary(BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);  // a * b + c
  // a * 2^exponent, rounded once. AVX-512F only.
  llvm::Value* Scale(llvm::Value* a, llvm::Value* exponent);
  llvm::Value* BroadcastPower(const Var& to, llvm::Value* from);
  llvm::Value* LoadNibbles(const Var& to, llvm::Value* from);
  // Of each byte, the entry that its lower half says. LookupPair: that of 128 entries.
  llvm::Value* Lookup(llvm::Value* bytes, const std::array<uint8_t, 16>& table);
  llvm::Value* FillBytes(const std::array<uint8_t, kTableBytes / 2>& bytes);
  llvm::Value* LookupPair(llvm::Value* from, llvm::Value* first, llvm::Value* second);
  // Elements of both by turns, from the first or the second half of each 16 bytes. ForUnpacking orders bytes
  // so that Unpack gives them back in their own order.
  llvm::Value* Unpack(const Var& to, llvm::Value* low, llvm::Value* high, bool second);
  llvm::Value* ForUnpacking(const Var& to, llvm::Value* from, int times);
  // The first `count` lanes of a, the others of b.
  llvm::Value* FirstOf(llvm::Value* a, llvm::Value* b, const LlvmCount& count);
  // All lanes get the sum, or the maximum, of all lanes.
  llvm::Value* Across(BinaryOp op, llvm::Value* value);
  llvm::Value* Fill(const Var& to, uint64_t word);
  llvm::Value* FillIndex(const Var& to, llvm::Value* first, bool ascending);
  llvm::Value* Convert(const Var& to, llvm::Value* from);
  // Of four vectors, which are zero where there are less; returns 4 lanes.
  llvm::Value* LaneSums(const std::array<llvm::Value*, 4>& from);
  // In place. Null after the last vector, here and below.
  void Transpose(std::array<llvm::Value*, 4>* rows);
  void TransposeParts(std::array<llvm::Value*, 4>* rows);
  llvm::Value* GroupLane(llvm::Value* from, int group, int lane);
  llvm::Value* Interleave(const Var& to, const std::array<llvm::Value*, 4>& from);
  // Returns elements `first`, `first` + 2, ... of two vectors, one after the other.
  llvm::Value* EverySecond(llvm::Value* a, llvm::Value* b, int first);
  // Returns the lower (0) or upper (1) bf16 of each word, as f32.
  llvm::Value* Half(llvm::Value* words, int half);

 private:
  llvm::Type* Element(Dtype dtype) { return ElementType(dtype, ir_.getContext()); }
  llvm::FixedVectorType* Vector(llvm::Type* element, int lanes);
  // Masks that are true in the first so many lanes. `memory`: the type whose width the comparison has.
  llvm::Constant* FirstLanes(int lanes, int count);
  llvm::Value* FirstLanes(int lanes, const LlvmCount& count, Dtype memory);
  // Lanes: a part of a vector. Splat: an element in all lanes. ElementAt: a pointer so many elements on.
  llvm::Value* Lanes(llvm::Value* value, int first, int count);
  llvm::Value* Splat(llvm::Value* element, int lanes);
  llvm::Value* ElementAt(llvm::Value* base, Dtype memory, int64_t index);
  // True if there are masked accesses to elements of the type with the program's features.
  bool Maskable(Dtype memory) const;

  // Load a part of a vector without converting it: narrow elements by whichever way there is no mask for.
  llvm::Value* Word(llvm::Value* from, Dtype memory, int first, int count, int bits);
  llvm::Value* LoadNarrow(llvm::Value* from, Dtype memory, int lanes, const LlvmCount& count);
  llvm::Value* LoadByWords(llvm::Value* from, Dtype memory, int lanes, int count);
  llvm::Value* LoadByPieces(llvm::Value* from, Dtype memory, int lanes, int count);
  // Convert all lanes between an element's type in memory and the one in vectors.
  llvm::Value* Widened(llvm::Value* value, Dtype from, Dtype to);
  llvm::Value* WidenedByF16(llvm::Value* value, Dtype from, llvm::Type* type);
  llvm::Value* Narrowed(llvm::Value* value, Dtype from, Dtype to);
  llvm::Value* RoundedToBf16(llvm::Value* value);
  // Calls an intrinsic by the name that a table has.
  llvm::Value* Call(std::string_view name, llvm::SmallVector<llvm::Value*, 3> arguments);
  // Bits of floats and of integers alike.
  llvm::Value* OfBits(BinaryOp op, llvm::Value* a, llvm::Value* b);
  void StorePieces(llvm::Value* value, llvm::Value* to, Dtype memory, int count);
  // Parts of LaneSums and Transpose.
  llvm::Value* Add(llvm::Value* a, llvm::Value* b);
  // Sums of neighbours: first those of a, then those of b.
  llvm::Value* PairSums(llvm::Value* a, llvm::Value* b);
  void TransposePairs(std::array<llvm::Value*, 4>* rows);

  const LoopProgram& program_;
  llvm::IRBuilder<>& ir_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_LLVM_VECTORS_H_
