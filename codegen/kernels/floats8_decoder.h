// SPDX-License-Identifier: Apache-2.0
// Vectors of gemma.cpp's floats of 8 bits (SwitchingFloat), of f32 or of words of bf16, which they all are.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_FLOATS8_DECODER_H_
#define KIRSCH_CODEGEN_KERNELS_FLOATS8_DECODER_H_

#include "codegen/loop/procedure_builder.h"
#include "spec/dtype.h"

namespace kirsch {

// Codes are read a vector of bytes at a time. Of each, the lower and the upper byte of its bf16 are made, as
// two vectors; these are unpacked to words, and words, with zeros below them, to f32.
class Floats8Decoder {
 public:
  // Vectors have `bytes`, and their elements are `number`: kF32 or kBf16. `by_tables`: see LooksUpBytes.
  Floats8Decoder(ProcedureBuilder& builder, Dtype number, int bytes, bool by_tables);

  // There are `count` codes from here on.
  void Begin(const Address& codes, int count);
  // to = those from `first` on, a multiple of its lanes. Elements of a vector of codes are read one vector
  // after the other.
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
