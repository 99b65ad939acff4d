// Elements of types of blocks (spec/block.h) as vectors of f32. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_

#include <cstdint>

#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"

namespace kirsch {

// Procedures take blocks as bytes, of this type; so their offsets, in elements of the type of blocks, are to
// be made those of bytes. Every term of `elements` is of whole blocks.
Dtype BytesOfBlocks(Dtype blocks);
Affine InBytes(Dtype dtype, const Affine& elements);

// The type of a procedure's pointer to elements of `dtype`.
inline Dtype PointeeOf(Dtype dtype) { return IsOfBlocks(dtype) ? BytesOfBlocks(dtype) : dtype; }

class BlockDecoder {
 public:
  // Of vectors of 4, 8 or 16 lanes.
  BlockDecoder(ProcedureBuilder& builder, Dtype dtype, int lanes);

  // What is read next is of the block whose bytes begin at `block`.
  void Begin(const Address& block);
  // to (f32) = the elements from number `element` on of the block, a multiple of the lanes.
  void Read(VarId to, int element);

 private:
  void ReadScales(int part);
  void ReadBits(VarId to, const BlockBits& at, bool all_lanes);
  void ReadFactor(const BlockBits& at, bool has_sign, VarId scale);
  void ReadExponent();
  void TwiceFloats();
  Address ByteAt(int byte) const;

  ProcedureBuilder& builder_;
  const BlockFormat& format_;
  const Dtype dtype_;
  const int lanes_;
  Address block_;
  int part_ = -1;  // whose factors are in scale_ and offset_; -1: the block's have not been read
  VarId codes_, more_, scale_, whole_scale_ = kNoVar, offset_ = kNoVar, whole_offset_ = kNoVar;
  VarId sign_ = kNoVar, sign_bits_ = kNoVar;  // of floats
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_BLOCK_DECODER_H_
