// SPDX-License-Identifier: Apache-2.0
// Decodes elements of types of blocks (spec/block.h) into vectors of f32 or of integers. It uses statements
// that loop programs have anyway, so no printer knows a type of blocks. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/kernels/floats8_decoder.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"

namespace kirsch {

// Procedures take blocks as bytes, of this type. So offsets in elements of a type of blocks have to be made
// offsets in bytes: InBytes.
Dtype BytesOfBlocks(Dtype blocks);

// Returns the type of vectors that hold codes as bytes without a sign. Codes with a sign are kept as 128
// more.
Dtype CodeBytes(Dtype blocks);

// Returns the type of a procedure's pointer to elements of `dtype`.
inline Dtype PointeeOf(Dtype dtype) { return IsOfBlocks(dtype) ? BytesOfBlocks(dtype) : dtype; }

// Lanes of s32 that are bytes without a sign become what the same bytes are with one: 255 becomes -1.
void AddSign(ProcedureBuilder& builder, VarId bytes);

// Writes the code that decodes blocks, of which several may be read by turns. Parts of a block may have
// scales of their own. Then Begin() computes those of all parts, several in a vector, and keeps them in an
// array on the stack.
class BlockDecoder {
 public:
  // For Read() of vectors of `bytes`, whose elements are `number`: f32, or bf16 if all elements of the type
  // are numbers of bf16. `by_tables`: see LooksUpBytes.
  BlockDecoder(ProcedureBuilder& builder, Dtype dtype, Dtype number, int bytes, bool by_tables);
  // Vectors of f32 have 4, 8 or 16 lanes. Codes are read as vectors of `code`, which have as many bytes. With
  // s32 they have as many codes as lanes; with s16 twice as many, which are no more than DtypeInfo::code_run;
  // with CodeBytes(dtype) four times as many, which are 32. `blocks` are read by turns.
  BlockDecoder(ProcedureBuilder& builder, Dtype dtype, int lanes, Dtype code = Dtype::kS32, int blocks = 1);

  // From here on, block `number` is the one whose bytes begin at `block`. It has `elements` elements: of
  // floats of 8 bits any number, else a whole block.
  void Begin(int number, const Address& block, int elements);
  void Begin(int number, const Address& block) { Begin(number, block, BlockOf(dtype_)); }
  // to = the elements of block `number` from `element` on, a multiple of the lanes. Codes are s32.
  void Read(VarId to, int number, int element);

  // The same in two steps, for kernels that multiply codes as integers: an element is scale * (code - bias) +
  // offset. to = the codes of block `number` from `element` on.
  void ReadCodes(VarId to, int number, int element);
  // Returns what codes are too much by, as ReadCodes gives them. Of codes that are s16, 0.
  int bias() const;
  bool has_offset() const { return format_.offset_byte >= 0; }
  // to (f32) = the scale of the part that has the element, in all lanes. ReadOffset gives what is added then;
  // if takes_offset(), it is subtracted.
  void ReadScale(VarId to, int number, int element);
  void ReadOffset(VarId to, int number, int element);
  // to = the scales, or offsets, of kFactorRun parts from the one on that has the element. Only for types
  // whose parts have scales of their own.
  void ReadScales(VarId to, int number, int element);
  void ReadOffsets(VarId to, int number, int element);
  bool takes_offset() const { return format_.takes_offset; }
  // For types whose parts have factors: to (f32) = the f16 at `byte` that they are factors of, in all lanes.
  // ReadFactors returns the bits of the factors of kFactorRun parts, as s32; those of the first are at
  // `first`.
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
  // Returns where the array has the numbers of a block: a scale for each part, then the offsets, if there are
  // any.
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
