// SPDX-License-Identifier: Apache-2.0
// The vector operations of loop programs as C expressions and statements with intrinsics. Internal to
// codegen/.
#ifndef KIRSCH_CODEGEN_C_C_VECTORS_H_
#define KIRSCH_CODEGEN_C_C_VECTORS_H_

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop/loop_program.h"
#include "spec/check.h"

namespace kirsch {

// How intrinsics that load, store and shuffle take a vector: "__m256" of f32, "__m256d" of f64, "__m256i" of
// all others; the lower part of an __m128i for what is shorter than that.
std::string CVectorType(const Var& var);

// See LaneCount; `index`: an expression, empty if there is none.
struct CCount {
  CCount(int number) : number(number) {}  // NOLINT(google-explicit-constructor): mostly it is just a number
  CCount(int number, std::string index) : number(number), index(std::move(index)) {}

  int number;
  std::string index;

  bool Is(int lanes) const { return index.empty() && number == lanes; }
  int Known() const {
    KIRSCH_CHECK(index.empty());
    return number;
  }
};

// Values of type `memory` are at the C expression `from` or `to`, which names a pointer to such elements.
class CVectors {
 public:
  // `macros`: see CStyle.
  CVectors(const LoopProgram& program, const std::string& macros) : program_(program), macros_(macros) {}

  // The type of the variable that keeps a vector: of s32 "__v16si", and of h16 "__m512h", which is what GCC's
  // multiply-adds take and give. GCC 12 copies a sum that is kept in an __m512i, whose elements are of 64
  // bits, before and after each of them, and spills it.
  std::string VariableType(const Var& var) const;
  // A variable's value, as intrinsics take it; the statement that sets it to what an intrinsic gives.
  std::string Get(const Var& var) const;
  std::string Set(const Var& to, const std::string& value) const;

  // Uses the value and does nothing: nothing before it overwrites the register.
  std::string Kept(const Var& var) const;
  // Seems to change the value: what was loaded is not loaded again.
  std::string Loaded(const Var& var) const;

  std::string Zero(const Var& to) const;
  std::string Load(const Var& to, const std::string& from, Dtype memory, const CCount& count) const;
  std::string Broadcast(const Var& to, const std::string& from, Dtype memory, int count) const;
  // Of an element whose bytes the pointer is to.
  std::string BroadcastBytes(const Var& to, const std::string& from, Dtype memory) const;
  std::string BroadcastPower(const Var& to, const std::string& from) const;
  std::string LoadNibbles(const Var& to, const std::string& from) const;
  // Statements; several of them are one block.
  std::string Stream(const Var& from, const std::string& to) const;  // past the caches
  std::vector<std::string> Store(const Var& from, const std::string& to, Dtype memory,
                                 const CCount& count) const;
  // A statement. `again`: the block has added to this accumulator before.
  std::string MultiplyAdd(const Var& accumulator, const Var& a, const Var& b, bool subtracts,
                          bool again) const;
  std::string Binary(BinaryOp op, const Var& a, const Var& b) const;
  std::string Fma(FmaSign sign, const Var& a, const Var& b, const Var& c) const;
  std::string Sqrt(const Var& from) const;
  std::string Scale(const Var& a, const Var& exponent) const;
  std::string Lookup(const Var& from, const std::array<uint8_t, 16>& table) const;
  std::string FillBytes(const std::array<uint8_t, kTableBytes / 2>& bytes) const;
  std::string LookupPair(const Var& from, const Var& first, const Var& second) const;
  std::string Unpack(const Var& to, const Var& low, const Var& high, bool second) const;
  std::string ForUnpacking(const Var& from, int times) const;
  std::string Shift(const Var& from, int left) const;
  std::string Bits(const Var& to, const Var& from) const;
  std::string SelectLess(const Var& x, const Var& y, const Var& a, const Var& b) const;
  std::string FirstLanes(const Var& a, const Var& b, const CCount& count) const;
  // Statements.
  std::vector<std::string> Across(BinaryOp op, const Var& to, const Var& from) const;
  std::string Fill(const Var& to, uint64_t word) const;
  std::string Convert(const Var& to, const Var& from) const;
  // Null where there is no vector.
  std::vector<std::string> LaneSums(const Var& to, const std::array<const Var*, 4>& from) const;
  std::vector<std::string> Transpose(const std::array<const Var*, 4>& rows) const;
  std::vector<std::string> TransposeParts(const std::array<const Var*, 4>& rows) const;
  std::string Interleave(const Var& to, const std::array<const Var*, 4>& from) const;
  // Statements: in place, the even and the odd elements of both, one after the other.
  std::vector<std::string> Deinterleave(const Var& a, const Var& b) const;
  // The lower (0) or upper (1) bf16 of each word, as f32.
  std::string Half(const Var& words, int half) const;

 private:
  std::vector<std::string> LaneSumsOfPairs(const Var& to, const std::array<const Var*, 4>& from) const;
  std::vector<std::string> LaneSumsOfHalves(const Var& to, const std::array<const Var*, 4>& from) const;
  std::string As(const std::string& type, const std::string& value) const;
  std::string Integers(const Var& var) const;
  std::string SetIntegers(const Var& to, const std::string& value) const;
  std::string AddInPlace(const Var& accumulator, const std::string& product) const;
  bool Maskable(Dtype memory) const;
  // Of the first of `lanes` lanes, so many: the vector operand of AVX2's maskload, maskstore and blendv,
  // whose sign bits say which lanes; and the mask of AVX-512.
  static std::string MaskVector(int lanes, const CCount& count, Dtype dtype);
  static std::string MaskOf(int lanes, const CCount& count);
  std::string LoadNarrow(const std::string& from, Dtype memory, int lanes, const CCount& count) const;
  std::string LoadByWords(const std::string& from, Dtype memory, int lanes, int count) const;
  // Of f32 or f64.
  std::string LoadReal(Dtype dtype, int lanes, const std::string& from, const CCount& count) const;
  std::string StoreReal(const Var& from, const std::string& to, const CCount& count) const;
  std::vector<std::string> StoreNarrow(const std::string& value, const std::string& to, Dtype memory,
                                       int lanes, const CCount& count) const;
  std::string CutTo16(const std::string& words, int lanes) const;
  std::string Saturated(const std::string& words, int lanes, Dtype to) const;
  std::vector<std::string> StoreF16(const Var& from, const std::string& to, const CCount& count) const;
  std::vector<std::string> StoreBf16(const Var& from, const std::string& to, const CCount& count) const;

  const LoopProgram& program_;
  const std::string& macros_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_VECTORS_H_
