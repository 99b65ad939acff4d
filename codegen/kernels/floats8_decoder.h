// SPDX-License-Identifier: Apache-2.0
// Decodes gemma.cpp's floats of 8 bits (SwitchingFloat) into vectors of f32, or of words of bf16, which they
// all are. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_FLOATS8_DECODER_H_
#define KIRSCH_CODEGEN_KERNELS_FLOATS8_DECODER_H_

#include "codegen/loop/procedure_builder.h"
#include "spec/dtype.h"

namespace kirsch {

// Reads codes a vector of bytes at a time. Of each code it makes the lower and the upper byte of the bf16, as
// two vectors; these are unpacked to words, and words, with zeros below them, to f32:
//   codes -> lower bytes, upper bytes -> words of bf16 -> f32
// One vector of codes makes 2 vectors of words or 4 of f32, which are read in ascending order.
class Floats8Decoder {
 public:
  // Vectors have `bytes`, and their elements are `number`: kF32 or kBf16. `by_tables`: see LooksUpBytes.
  // Tables are filled where the constructor is called.
  Floats8Decoder(ProcedureBuilder& builder, Dtype number, int bytes, bool by_tables);

  // From here on there are `count` codes, the first of which is at `codes`.
  void Begin(const Address& codes, int count);
  // to = the elements from `first` on, a multiple of its lanes. The vectors that a vector of codes makes are
  // read one after the other, so that each step of unpacking is done once.
  void Read(VarId to, int first);

 private:
  VarId Bytes(const char* name) { return builder_.Vector(name, Dtype::kU8, bytes_); }
  VarId AllBytes(uint8_t byte) const;
  void MakeBytes(int first);
  void LookUpBytes();
  void ComputeBytes();

  ProcedureBuilder& builder_;
  const int bytes_;
  const int times_;  // that bytes are unpacked
  const bool by_tables_;
  const VarId codes_, low_, high_, other_, words_;
  std::array<VarId, 4> tables_ = {kNoVar, kNoVar, kNoVar, kNoVar};  // of lower bytes, and of upper ones
  Address from_;
  int count_ = 0;
  int made_ = -1, unpacked_ = -1;  // the code that the bytes begin with, and the words
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_FLOATS8_DECODER_H_
