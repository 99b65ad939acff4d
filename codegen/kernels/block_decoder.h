// SPDX-License-Identifier: Apache-2.0
// Elements of types of blocks (spec/block.h) as vectors, of f32 or of integers. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/kernels/floats8_decoder.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"

namespace kirsch {

// Procedures take blocks as bytes, of this type; so their offsets, in elements of the type of blocks, are to
// be made those of bytes. Every term of `elements` is of whole blocks.
Dtype BytesOfBlocks(Dtype blocks);
Affine InBytes(Dtype dtype, const Affine& elements);

// The type of vectors of its codes as bytes without a sign: of those that have one, 128 more.
Dtype CodeBytes(Dtype blocks);

// The type of a procedure's pointer to elements of `dtype`.
inline Dtype PointeeOf(Dtype dtype) { return IsOfBlocks(dtype) ? BytesOfBlocks(dtype) : dtype; }

// Lanes of s32 that are bytes without a sign become what the same bytes are with one.
void AddSign(ProcedureBuilder& builder, VarId bytes);

// Reads several blocks by turns. Where parts of a block have scales of their own, those of all parts are made
// when the block begins, and wait in an array.
class BlockDecoder {
 public:
  // To be read as vectors of `bytes`, of f32, or of words of bf16 if all elements are those.
  BlockDecoder(ProcedureBuilder& builder, Dtype dtype, Dtype number, int bytes, bool by_tables);
  // Vectors of f32 have 4, 8 or 16 lanes. Codes are read as vectors of `code`: s32, as many to a vector; s16,
  // twice as many, which are no more than DtypeInfo::code_run; or CodeBytes(dtype), four times as many, which
  // are 32. `blocks` are read by turns.
  BlockDecoder(ProcedureBuilder& builder, Dtype dtype, int lanes, Dtype code = Dtype::kS32, int blocks = 1);

  // Block number `number` is from here on the one whose bytes begin at `block`. Of floats of 8 bits, any
  // number of elements is one.
  void Begin(int number, const Address& block, int elements);
  void Begin(int number, const Address& block) { Begin(number, block, BlockOf(dtype_)); }
  // to = the elements of block `number` from `element` on, a multiple of the lanes. Codes are s32.
  void Read(VarId to, int number, int element);

  // The same in two steps: an element is scale * (code - bias) + offset. to = the codes of block
  // `number` from `element` on ...
  void ReadCodes(VarId to, int number, int element);
  // Of codes that are s16, 0.
  int bias() const;
  bool has_offset() const { return format_.offset_byte >= 0; }
  // ... to (f32) = the scale of the part that has the element, in all lanes; what is added, or, if it is
  // taken off, what is.
  void ReadScale(VarId to, int number, int element);
  void ReadOffset(VarId to, int number, int element);
  // Of kFactorRun parts from the one on that has the element, which have scales of their own: to = a vector
  // of theirs.
  void ReadScales(VarId to, int number, int element);
  void ReadOffsets(VarId to, int number, int element);
  bool takes_offset() const { return format_.takes_offset; }
  // Of a block whose parts have factors: to (f32) = the f16 at `byte` that those are of, in all lanes. And,
  // as s32, the bits of those of kFactorRun parts, of which the first has them at `first`.
  void ReadWhole(VarId to, int number, int byte);
  VarId ReadFactors(int number, const BlockBits& first);

 private:
  int parts() const { return format_.part == 0 ? 1 : BlockOf(dtype_) / format_.part; }
  int PartOf(int element) const { return format_.part == 0 ? 0 : element / format_.part; }
  void PrepareParts(int number);
  void PrepareFactors(int number, int scale_byte, BlockBits (*factor)(int part), bool has_sign, int64_t to);
  void ReadNumber(VarId to, int number, int byte, int64_t prepared, int element);
  void ReadBits(VarId to, VarId* high, const BlockBits& at);
  VarId Made(VarId* vector, const char* name, Dtype dtype, int words);
  VarId Codes() { return Made(&codes_, "codes", code_, lanes_); }
  int StoredBias() const;
  void LookUpFloats4(VarId codes);
  // Numbers of a block that wait in the array.
  int64_t PreparedAt(int number) const { return int64_t{number} * parts() * (has_offset() ? 2 : 1); }
  VarId Integers(int64_t value) const;
  Address ByteAt(int byte) const;

  ProcedureBuilder& builder_;
  const BlockFormat& format_;
  const Dtype dtype_, code_;
  const int lanes_;
  std::vector<Address> blocks_;
  int number_ = 0;               // whose codes are read
  int scaled_ = -1, part_ = -1;  // whose scale and offset Read has: of which block, and which part
  VarId codes_ = kNoVar, more_ = kNoVar, scale_ = kNoVar, offset_ = kNoVar;
  std::optional<Floats8Decoder> floats8_;
  VarId prepared_ = kNoVar, factors_ = kNoVar, more_factors_ = kNoVar, numbers_ = kNoVar, whole_ = kNoVar;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_
