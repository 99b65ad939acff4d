// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_vectors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/c/c_intrinsics.h"
#include "spec/check.h"
#include "spec/instruction.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// GCC's multiply-adds of integers want variables of 32-bit elements: see VariableType.
bool IsOfWords(const Var& var) { return var.dtype == Dtype::kS32; }

}  // namespace

std::string CVectorType(const Var& var) {
  const int bytes = var.bytes();
  if (!IsReal(var.dtype)) return IntegerType(bytes);
  return Cat(bytes == kXmmBytes ? "__m128"
             : bytes == 32      ? "__m256"
                                : "__m512",
             var.dtype == Dtype::kF64 ? "d" : "");
}

std::string CVectors::VariableType(const Var& var) const {
  if (IsOfHalves(var)) return Cat("__m", 8 * std::max(var.bytes(), kXmmBytes), "h");
  if (!IsOfWords(var)) return CVectorType(var);
  const int lanes = std::max(var.bytes(), kXmmBytes) / kWordBytes;
  return macros_.empty() ? Cat("__v", lanes, "si") : Cat(macros_, "S32X", lanes);
}

std::string CVectors::As(const std::string& type, const std::string& value) const {
  return macros_.empty() ? Cat("(", type, ")", value) : Cat(macros_, "AS(", type, ", ", value, ")");
}

std::string CVectors::Get(const Var& var) const {
  if (IsOfHalves(var)) return AsIntegers(var.dtype, var.bytes(), var.name);
  return IsOfWords(var) ? As(CVectorType(var), var.name) : var.name;
}

std::string CVectors::Set(const Var& to, const std::string& value) const {
  return Cat(to.name, " = ",
             IsOfHalves(to)  ? OfIntegers(to.dtype, to.bytes(), value)
             : IsOfWords(to) ? As(VariableType(to), value)
                             : value,
             ";");
}

std::string CVectors::Kept(const Var& var) const {
  return macros_.empty() ? Cat("__asm__ volatile(\"\" : : \"v\"(", var.name, "))")
                         : Cat(macros_, "KEPT(", var.name, ")");
}

std::string CVectors::Loaded(const Var& var) const {
  return macros_.empty() ? Cat("__asm__(\"\" : \"+v\"(", var.name, "))")
                         : Cat(macros_, "LOADED(", var.name, ")");
}

// Short vectors are set as the whole register that they are the lower part of.
std::string CVectors::Zero(const Var& to) const {
  const int bytes = to.bytes();
  return Intrinsic(bytes, Cat("setzero_", IsReal(to.dtype) ? std::string(RealSuffix(to.dtype)) : Si(bytes)));
}

// GCC reassociates the additions of integers in a block: it adds the products first, which takes more
// registers than there are. An addition that is given as the instruction stays where it is.
std::string CVectors::AddInPlace(const Var& accumulator, const std::string& product) const {
  if (macros_.empty())
    return Cat("__asm__(\"vpaddd {%1, %0, %0|%0, %0, %1}\" : \"+v\"(", accumulator.name, ") : \"v\"(",
               product, "));");
  const int bits = 8 * std::max(accumulator.bytes(), kXmmBytes);
  return Cat(macros_, "ADD", bits, "(", accumulator.name, ", ", product, ");");
}

std::string CVectors::MultiplyAdd(const Var& accumulator, const Var& a, const Var& b, bool again) const {
  const int bytes = accumulator.bytes();
  const auto [row, exchanged] = InstructionFor(a.dtype, b.dtype);
  KIRSCH_CHECK(row != nullptr);
  const Encoding* const encoding =
      FindEncoding(*row, bytes, [&](std::string_view feature) { return program_.HasFeature(feature); });
  KIRSCH_CHECK(encoding != nullptr);
  // Intrinsics of bf16 have a type of vectors of their own; variables of h16 have the type already.
  const std::string cast = row->lhs == Dtype::kBf16 ? Cat("(__m", 8 * bytes, "bh)") : "";
  const auto get = [&](const Var& var) { return IsOfHalves(var) ? var.name : Get(var); };
  const std::string sum = get(accumulator), x = cast + get(exchanged ? b : a),
                    y = cast + get(exchanged ? a : b);
  const std::string name(encoding->c);
  // Where the sum is among the instruction's operands: the last one, the first one, or added to a product.
  switch (encoding->form) {
    case EncodingForm::kLast:
      return Cat(accumulator.name, " = ", Intrinsic(bytes, name, x, y, sum), ";");
    case EncodingForm::kFirst:
      return Set(accumulator, Intrinsic(bytes, name, sum, x, y));
    case EncodingForm::kProduct: {
      const std::string product = Intrinsic(bytes, name, x, y);
      return again ? AddInPlace(accumulator, product)
                   : Set(accumulator, Intrinsic(bytes, "add_epi32", sum, product));
    }
  }
  KIRSCH_BUG("no such form");
}

// Floats are given by their bits, so that a NaN or -0 stays what it is.
std::string CVectors::Fill(const Var& to, uint64_t word) const {
  const int bytes = to.bytes();
  if (to.dtype == Dtype::kF64)
    return OfIntegers(to.dtype, bytes,
                      Intrinsic(bytes, bytes == 64 ? "set1_epi64" : "set1_epi64x",
                                Cat("(long long)0x", absl::Hex(word), "u")));
  if (IsOfHalves(to)) return Intrinsic(bytes, "set1_epi16", Cat("(short)0x", absl::Hex(word)));
  const std::string words = Intrinsic(bytes, "set1_epi32", Cat("(int)0x", absl::Hex(word)));
  return to.dtype == Dtype::kF32 ? OfIntegers(to.dtype, bytes, words) : words;
}

std::string CVectors::FillIndex(const Var& to, const std::string& first, bool ascending) const {
  const std::string all = Intrinsic(to.bytes(), "set1_ps", Cat("(float)(", first, ")"));
  if (!ascending) return all;
  std::string lanes;
  for (int lane = 0; lane < to.lanes; ++lane) Append(&lanes, lane == 0 ? "" : ", ", lane);
  return Intrinsic(to.bytes(), "add_ps", all, Intrinsic(to.bytes(), "setr_ps", lanes));
}

std::string CVectors::Convert(const Var& to, const Var& from) const {
  return Intrinsic(to.bytes(), to.dtype == Dtype::kF32 ? "cvtepi32_ps" : "cvtps_epi32", Get(from));
}

}  // namespace kirsch
