// SPDX-License-Identifier: Apache-2.0
// Writes the operations of LlvmVectors that read codes and scales of blocks.
#include <numeric>
#include <vector>

#include "codegen/llvm/llvm_vectors.h"
#include "llvm/IR/Constants.h"

namespace kirsch {

using llvm::Value;

// Makes the bits of 2^(byte - 128), which is a normal number from 2^-126 on, and a subnormal one below. It
// does so in a scalar register: units for vectors have more to do.
//   byte:  0        1        2        3
//   bits:  1 << 21  1 << 22  1 << 23  2 << 23
Value* LlvmVectors::BroadcastPower(const Var& to, Value* from) {
  llvm::Type* const word = ir_.getInt32Ty();
  Value* exponent = ir_.CreateZExt(ir_.CreateAlignedLoad(ir_.getInt8Ty(), from, llvm::Align(1)), word);
  Value* normal = ir_.CreateShl(ir_.CreateSub(exponent, ir_.getInt32(1)), uint64_t{kF32Mantissa});
  Value* subnormal = ir_.CreateShl(ir_.getInt32(kLeastPowerBits), exponent);
  Value* bits = ir_.CreateSelect(ir_.CreateICmpULT(exponent, ir_.getInt32(2)), subnormal, normal);
  return Splat(ir_.CreateBitCast(bits, ir_.getFloatTy()), to.lanes);
}

// Both halves of the vector are the same bytes. Those of the upper half are shifted by 4 bits, 8 bytes at a
// time. That brings bits of their neighbours into the upper 4 bits, which are cut off.
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

// The instruction looks up bytes within each 16 of them, in a table that each 16 bytes have. It exists for 64
// bytes with AVX512BW only; else both halves are looked up by themselves.
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

// The instruction takes the second half of the table where an index has its seventh bit.
Value* LlvmVectors::LookupPair(Value* from, Value* first, Value* second) {
  return Call("llvm.x86.avx512.vpermi2var.qi.512", {first, from, second});
}

// A shuffle of both vectors, in which lanes of `high` count on from those of `low`. The code generator finds
// the one instruction for it.
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

// Piece p of 16 bytes number x comes from the p-th part of the vector, in which all pieces p lie in order.
// For 64 bytes and times = 1, with pieces of 8 bytes:
//   0 1 2 3 4 5 6 7  ->  0 4 1 5 2 6 3 7
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
