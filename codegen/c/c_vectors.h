// SPDX-License-Identifier: Apache-2.0
// Prints the vector operations of loop programs as C expressions and statements with intrinsics. Each
// operation has a function here that knows how the program's features allow it to be done. The printer around
// it knows no intrinsic. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_C_C_VECTORS_H_
#define KIRSCH_CODEGEN_C_C_VECTORS_H_

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop/loop_program.h"
#include "spec/check.h"

namespace kirsch {

// Returns the type that intrinsics which load, store and shuffle take a vector as: "__m256" of f32, "__m256d"
// of f64, "__m256i" of all others. Vectors of less than 16 bytes are the lower part of an __m128i.
std::string CVectorType(const Var& var);

// A LaneCount in C: so many lanes from lane 0 on, `number` at most. `index` is an expression with the number,
// 1 at least; empty: it is `number`.
struct CCount {
  CCount(int number) : number(number) {}  // NOLINT(google-explicit-constructor): mostly it is just a number
  CCount(int number, std::string index) : number(number), index(std::move(index)) {}

  int number;
  std::string index;

  // True if these surely are all lanes.
  bool Is(int lanes) const { return index.empty() && number == lanes; }
  // For operations that have no form for a number known only at run time.
  int Known() const {
    KIRSCH_CHECK(index.empty());
    return number;
  }
};

// Functions whose name is that of an operation return its value as an expression, unless they say that they
// return statements. Values of type `memory` are at the C expression `from` or `to`, a pointer to such
// elements.
class CVectors {
 public:
  // `macros`: see CStyle. Both have to outlive this.
  CVectors(const LoopProgram& program, const std::string& macros) : program_(program), macros_(macros) {}

  // Returns the type of the variable that keeps a vector. For s32 it is "__v16si", for h16 "__m512h": the
  // types that GCC's multiply-adds take and give. GCC 12 copies a sum that is kept in an __m512i, whose
  // elements are of 64 bits, before and after each multiply-add, and spills it.
  std::string VariableType(const Var& var) const;
  // Get: a variable's value, as intrinsics take it. Set: the statement that sets it to what an intrinsic
  // gives. They differ from the plain name only where VariableType is not CVectorType.
  std::string Get(const Var& var) const;
  std::string Set(const Var& to, const std::string& value) const;

  // Returns a statement that uses the value and does nothing. So nothing before it may overwrite the
  // register.
  std::string Kept(const Var& var) const;
  // Returns a statement that seems to change the value. So the compiler cannot load it a second time instead
  // of keeping it.
  std::string Loaded(const Var& var) const;

  std::string Zero(const Var& to) const;
  // Load, Broadcast: `memory` is the type that elements have in memory, from which they are widened.
  std::string Load(const Var& to, const std::string& from, Dtype memory, const CCount& count) const;
  std::string Broadcast(const Var& to, const std::string& from, Dtype memory, int count) const;
  // Broadcasts one element of type `memory`, the bytes of which the pointer is to.
  std::string BroadcastBytes(const Var& to, const std::string& from, Dtype memory) const;
  std::string BroadcastPower(const Var& to, const std::string& from) const;
  std::string LoadNibbles(const Var& to, const std::string& from) const;
  // Stream: the statement that stores past the caches. Store: statements; several of them are one block.
  std::string Stream(const Var& from, const std::string& to) const;  // past the caches
  std::vector<std::string> Store(const Var& from, const std::string& to, Dtype memory,
                                 const CCount& count) const;
  // Returns a statement. `again`: the block has added to this accumulator before, so GCC could reassociate
  // the sums.
  std::string MultiplyAdd(const Var& accumulator, const Var& a, const Var& b, bool again) const;
  std::string Binary(BinaryOp op, const Var& a, const Var& b) const;
  std::string Fma(FmaSign sign, const Var& a, const Var& b, const Var& c) const;
  std::string Sqrt(const Var& from) const;
  std::string RoundToInteger(const Var& from, Rounding rounding) const;
  std::string Scale(const Var& a, const Var& exponent) const;
  std::string Lookup(const Var& from, const std::array<uint8_t, 16>& table) const;
  std::string FillBytes(const std::array<uint8_t, kTableBytes / 2>& bytes) const;
  std::string LookupPair(const Var& from, const Var& first, const Var& second) const;
  std::string Unpack(const Var& to, const Var& low, const Var& high, bool second) const;
  std::string ForUnpacking(const Var& from, int times) const;
  std::string Shift(const Var& from, int left) const;
  std::string Bits(const Var& to, const Var& from) const;
  std::string Select(Comparison comparison, const Var& x, const Var& y, const Var& a, const Var& b) const;
  std::string FirstLanes(const Var& a, const Var& b, const CCount& count) const;
  // Statements that leave the sum, or the maximum, of all lanes in all lanes of `to`.
  std::vector<std::string> Across(BinaryOp op, const Var& to, const Var& from) const;
  std::string Fill(const Var& to, uint64_t word) const;
  std::string FillIndex(const Var& to, const std::string& first, bool ascending) const;
  std::string Convert(const Var& to, const Var& from) const;
  // These four take null where there is no vector, and all but Interleave return statements.
  std::vector<std::string> LaneSums(const Var& to, const std::array<const Var*, 4>& from) const;
  std::vector<std::string> Transpose(const std::array<const Var*, 4>& rows) const;
  std::vector<std::string> TransposeParts(const std::array<const Var*, 4>& rows) const;
  std::string GroupLane(const Var& from, int group, int lane) const;
  std::string Interleave(const Var& to, const std::array<const Var*, 4>& from) const;
  // Statements. In place: the even elements of both vectors, one after the other, then the odd ones.
  std::vector<std::string> Deinterleave(const Var& a, const Var& b) const;
  // Returns the lower (0) or upper (1) bf16 of each word, as f32.
  std::string Half(const Var& words, int half) const;

 private:
  std::vector<std::string> AddHalves(const Var& to, const Var* from, const std::string& name,
                                     const std::string& half_name) const;
  // A cast between types of vectors of one size, which changes no bit.
  std::string As(const std::string& type, const std::string& value) const;
  // A variable as a vector of integers, whatever its elements are, and the statement that sets it to one.
  // Shuffles need it, as they exist for integers.
  std::string Integers(const Var& var) const;
  std::string SetIntegers(const Var& to, const std::string& value) const;
  std::string AddInPlace(const Var& accumulator, const std::string& product) const;
  // True if AVX-512 has masked accesses to elements of this type with the program's features.
  bool Maskable(Dtype memory) const;
  // Masks for the first so many of `lanes` lanes. MaskVector: the vector operand of AVX2's maskload,
  // maskstore and blendv, whose sign bits say which lanes. MaskOf: the mask of AVX-512.
  static std::string MaskVector(int lanes, const CCount& count, Dtype dtype);
  static std::string MaskOf(int lanes, const CCount& count);
  // Load elements that are not floats to C, without converting them: they fill the lower part of the vector.
  std::string LoadNarrow(const std::string& from, Dtype memory, int lanes, const CCount& count) const;
  std::string LoadByWords(const std::string& from, Dtype memory, int lanes, int count) const;
  // Load and store f32 or f64.
  std::string LoadReal(Dtype dtype, int lanes, const std::string& from, const CCount& count) const;
  std::string StoreReal(const Var& from, const std::string& to, const CCount& count) const;
  std::vector<std::string> StoreOfFloats(const Var& from, const std::string& to, Dtype memory,
                                         const CCount& count) const;
  // Stores the lower part of `value`, a vector of integers: elements that have the type of memory already.
  std::vector<std::string> StoreNarrow(const std::string& value, const std::string& to, Dtype memory,
                                       int lanes, const CCount& count) const;
  // Both make narrower elements of words: CutTo16 the lower 16 bits, Saturated the nearest number of type
  // `to`.
  std::string CutTo16(const std::string& words, int lanes) const;
  std::string Saturated(const std::string& words, int lanes, Dtype to) const;
  // Round f32 to 16 bits and store them.
  std::vector<std::string> StoreF16(const Var& from, const std::string& to, const CCount& count) const;
  std::vector<std::string> StoreBf16(const Var& from, const std::string& to, const CCount& count) const;

  const LoopProgram& program_;
  const std::string& macros_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_VECTORS_H_
