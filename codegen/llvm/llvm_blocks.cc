// SPDX-License-Identifier: Apache-2.0
// What codes and scales of blocks are read by, of LlvmVectors.
#include <numeric>
#include <vector>

#include "codegen/llvm/llvm_vectors.h"
#include "llvm/IR/Constants.h"

namespace kirsch {

using llvm::Value;

// The bits of a normal number, or of a subnormal one. Scalars: units for vectors have more to do.
Value* LlvmVectors::BroadcastPower(const Var& to, Value* from) {
  llvm::Type* const word = ir_.getInt32Ty();
  Value* exponent = ir_.CreateZExt(ir_.CreateAlignedLoad(ir_.getInt8Ty(), from, llvm::Align(1)), word);
  Value* normal = ir_.CreateShl(ir_.CreateSub(exponent, ir_.getInt32(1)), uint64_t{kF32Mantissa});
  Value* subnormal = ir_.CreateShl(ir_.getInt32(kLeastPowerBits), exponent);
  Value* bits = ir_.CreateSelect(ir_.CreateICmpULT(exponent, ir_.getInt32(2)), subnormal, normal);
  return Splat(ir_.CreateBitCast(bits, ir_.getFloatTy()), to.lanes);
}

// Both halves of the vector are the same bytes; those of the upper one are shifted, 8 at a time, which brings
// their neighbours' bits where there is nothing.
Value* LlvmVectors::LoadNibbles(const Var& to, Value* from) {
  constexpr int kBits = 4, kBytesOfWord = 8;
  Value* bytes = LoadNarrow(from, Dtype::kU8, to.lanes / 2, to.lanes / 2);
  llvm::SmallVector<int> twice;
  for (int lane = 0; lane < to.lanes; ++lane) twice.push_back(lane % (to.lanes / 2));
  const int words = to.lanes / kBytesOfWord;
  bytes = ir_.CreateBitCast(ir_.CreateShuffleVector(bytes, twice), Vector(ir_.getInt64Ty(), words));
  std::vector<llvm::Constant*> shifts;
  for (int word = 0; word < words; ++word) shifts.push_back(ir_.getInt64(word < words / 2 ? 0 : kBits));
  bytes = ir_.CreateBitCast(ir_.CreateLShr(bytes, llvm::ConstantVector::get(shifts)),
                            VectorType(to, ir_.getContext()));
  return ir_.CreateAnd(bytes, Splat(ir_.getInt8((1 << kBits) - 1), to.lanes));
}

Value* LlvmVectors::Lookup(Value* bytes, const std::array<uint8_t, 16>& table) {
  llvm::Type* const type = bytes->getType();
  const auto size = static_cast<int>(type->getPrimitiveSizeInBits() / 8);
  bytes = ir_.CreateBitCast(bytes, Vector(ir_.getInt8Ty(), size));
  Value* found = nullptr;
  if (size == 64 && !program_.HasFeature("avx512bw")) {
    Value* lower = Lookup(Lanes(bytes, 0, size / 2), table);
    Value* upper = Lookup(Lanes(bytes, size / 2, size / 2), table);
    llvm::SmallVector<int> all(static_cast<size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    found = ir_.CreateShuffleVector(lower, upper, all);
  } else {
    std::vector<llvm::Constant*> entries;
    for (int i = 0; i < size; ++i) entries.push_back(ir_.getInt8(table[static_cast<size_t>(i % 16)]));
    const char* const name = size == 16   ? "llvm.x86.ssse3.pshuf.b.128"
                             : size == 32 ? "llvm.x86.avx2.pshuf.b"
                                          : "llvm.x86.avx512.pshuf.b.512";
    found = Call(name, {llvm::ConstantVector::get(entries), bytes});
  }
  return ir_.CreateBitCast(found, type);
}

Value* LlvmVectors::FillBytes(const std::array<uint8_t, kTableBytes / 2>& bytes) {
  return llvm::ConstantDataVector::get(ir_.getContext(), bytes);
}

// The table's second half is where an index has its seventh bit.
Value* LlvmVectors::LookupPair(Value* from, Value* first, Value* second) {
  return Call("llvm.x86.avx512.vpermi2var.qi.512", {first, from, second});
}

Value* LlvmVectors::Unpack(const Var& to, Value* low, Value* high, bool second) {
  const int lanes = to.bytes() / (static_cast<int>(low->getType()->getScalarSizeInBits()) / 8);
  const int in_xmm = lanes * kXmmBytes / to.bytes();
  llvm::SmallVector<int> turns;
  for (int lane = 0; lane < lanes; ++lane) {
    const int place = lane % in_xmm / 2 + (second ? in_xmm / 2 : 0);
    turns.push_back(lane / in_xmm * in_xmm + place + lane % 2 * lanes);
  }
  return ir_.CreateBitCast(ir_.CreateShuffleVector(low, high, turns), VectorType(to, ir_.getContext()));
}

// Piece p of 16 bytes number x comes from where all pieces p before it lie in order.
Value* LlvmVectors::ForUnpacking(const Var& to, Value* from, int times) {
  const int in_xmm = 1 << times, xmms = to.bytes() / kXmmBytes, piece_bits = 8 * kXmmBytes / in_xmm;
  llvm::SmallVector<int> pieces;
  for (int piece = 0; piece < in_xmm * xmms; ++piece)
    pieces.push_back(piece % in_xmm * xmms + piece / in_xmm);
  Value* whole = ir_.CreateBitCast(
      from, Vector(ir_.getIntNTy(static_cast<unsigned>(piece_bits)), static_cast<int>(pieces.size())));
  return ir_.CreateBitCast(ir_.CreateShuffleVector(whole, pieces), VectorType(to, ir_.getContext()));
}

}  // namespace kirsch
