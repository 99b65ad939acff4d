// SPDX-License-Identifier: Apache-2.0
// Prints the lane by lane arithmetic of CVectors. LlvmVectors gives the same bits.
#include <array>
#include <cstdlib>

#include "codegen/c/c_intrinsics.h"
#include "codegen/c/c_vectors.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// A vector of floats as integers of the same bits, and back.
std::string AsBits(const Var& real) { return AsIntegers(real.dtype, real.bytes(), real.name); }

std::string OfBits(const Var& real, const std::string& bits) {
  return OfIntegers(real.dtype, real.bytes(), bits);
}

// The ending of instructions for lanes of integers: "_epi16".
std::string LaneSuffix(const Var& var) { return Cat("_epi", 8 * Bytes(var.dtype)); }

// Returns the vector with each lane's partner in its place; the partner is `distance` lanes away, a power of
// two. For distance 2, lanes 0 1 2 3 become 2 3 0 1. Neighbours within 16 bytes are swapped by one
// permutation; farther lanes by whole parts of 16 bytes.
std::string Partners(const Var& var, const std::string& value, int distance) {
  const int bytes = var.bytes(), apart = distance * Bytes(var.dtype);
  const bool wide = var.dtype == Dtype::kF64;
  if (apart == 4) return Intrinsic(bytes, "permute_ps", value, "0xb1");
  if (apart == 8 && wide) return Intrinsic(bytes, "permute_pd", value, Cat((1 << var.lanes) / 3));
  if (apart == 8) return Intrinsic(bytes, "permute_ps", value, "0x4e");
  if (bytes == 32) return Intrinsic(bytes, Cat("permute2f128_", RealSuffix(var.dtype)), value, value, 1);
  return Intrinsic(bytes, wide ? "shuffle_f64x2" : "shuffle_f32x4", value, value,
                   apart == kXmmBytes ? "0xb1" : "0x4e");
}

}  // namespace

std::string CVectors::Binary(BinaryOp op, const Var& a, const Var& b) const {
  constexpr std::array<const char*, 9> kNames = {"add", "sub", "mul", "max", "min",
                                                 "div", "and", "or",  "xor"};
  const bool real = a.dtype == Dtype::kF32 || a.dtype == Dtype::kF64, halves = a.dtype == Dtype::kF16Sums;
  const int bytes = a.bytes();
  std::string name = kNames[static_cast<size_t>(op)];
  if (op >= BinaryOp::kAnd) {
    Append(&name, "_", Si(bytes));
    // Operations on the bits of floats need AVX512DQ for vectors of 64 bytes. AVX-512F has only those for
    // integers, so bits are taken as integers everywhere.
    return real ? OfBits(a, Intrinsic(bytes, name, AsBits(a), AsBits(b)))
                : Intrinsic(bytes, name, Get(a), Get(b));
  }
  if (halves)
    return AsIntegers(a.dtype, bytes, Intrinsic(bytes, Cat(name, "_", RealSuffix(a.dtype)), a.name, b.name));
  // A product of integers is the lower half of the exact one.
  if (op == BinaryOp::kMul && !real) name = "mullo";
  return Intrinsic(bytes, Cat(name, real ? Cat("_", RealSuffix(a.dtype)) : LaneSuffix(a)), Get(a), Get(b));
}

std::string CVectors::Fma(FmaSign sign, const Var& a, const Var& b, const Var& c) const {
  constexpr std::array<const char*, 3> kNames = {"fmadd_", "fmsub_", "fnmadd_"};
  const std::string fma = Intrinsic(a.bytes(), Cat(kNames[static_cast<size_t>(sign)], RealSuffix(a.dtype)),
                                    a.name, b.name, c.name);
  return a.dtype == Dtype::kF16Sums ? AsIntegers(a.dtype, a.bytes(), fma) : fma;
}

std::string CVectors::Sqrt(const Var& from) const {
  return Intrinsic(from.bytes(), Cat("sqrt_", RealSuffix(from.dtype)), from.name);
}

// Vectors of 64 bytes have an instruction that rounds to fractions as well. To integers its operand is the
// same.
std::string CVectors::RoundToInteger(const Var& from, Rounding rounding) const {
  constexpr std::array<const char*, 3> kDirections = {"_MM_FROUND_TO_NEAREST_INT", "_MM_FROUND_TO_NEG_INF",
                                                      "_MM_FROUND_TO_POS_INF"};
  return Intrinsic(from.bytes(), Cat(from.bytes() == 64 ? "roundscale_" : "round_", RealSuffix(from.dtype)),
                   from.name, Cat(kDirections[static_cast<size_t>(rounding)], " | _MM_FROUND_NO_EXC"));
}

std::string CVectors::Scale(const Var& a, const Var& exponent) const {
  return Intrinsic(a.bytes(), Cat("scalef_", RealSuffix(a.dtype)), a.name, exponent.name);
}

// There is no shift of bytes. They are shifted as words of 16 bits, and bits that come in from the neighbour
// are cut off.
std::string CVectors::Shift(const Var& from, int left) const {
  const int bytes = from.bytes(), by = std::abs(left);
  const std::string name = left >= 0 ? "slli" : "srli";
  if (from.dtype == Dtype::kF64)
    return OfBits(from, Intrinsic(bytes, name + LaneSuffix(from), AsBits(from), by));
  if (Bytes(from.dtype) > 1) return Intrinsic(bytes, Cat(name, LaneSuffix(from)), Get(from), by);
  const int kept = left >= 0 ? 0xff << by & 0xff : 0xff >> by;
  return Intrinsic(bytes, Cat("and_", Si(bytes)), Intrinsic(bytes, Cat(name, "_epi16"), Get(from), by),
                   Intrinsic(bytes, "set1_epi8", Cat("(char)0x", absl::Hex(kept))));
}

std::string CVectors::Bits(const Var& to, const Var& from) const {
  if (to.dtype == from.dtype) return Get(from);
  return to.dtype == Dtype::kF32 ? OfBits(to, Get(from)) : AsBits(from);
}

// The comparison is ordered: it is false for NaNs, so that b is taken. Blends take their second vector where
// the mask is set.
std::string CVectors::Select(Comparison comparison, const Var& x, const Var& y, const Var& a,
                             const Var& b) const {
  constexpr std::array<const char*, 3> kPredicates = {"_CMP_LT_OQ", "_CMP_LE_OQ", "_CMP_EQ_OQ"};
  const int bytes = x.bytes();
  const std::string predicate = kPredicates[static_cast<size_t>(comparison)];
  const std::string type = RealSuffix(x.dtype), compare = Cat("cmp_", type);
  if (program_.masks)
    return Intrinsic(bytes, "mask_blend_" + type,
                     Intrinsic(bytes, compare + "_mask", x.name, y.name, predicate), b.name, a.name);
  return Intrinsic(bytes, "blendv_" + type, b.name, a.name,
                   Intrinsic(bytes, compare, x.name, y.name, predicate));
}

// Masks come from a register, an immediate, or a vector of sign bits, whichever the features and the count
// allow.
std::string CVectors::FirstLanes(const Var& a, const Var& b, const CCount& count) const {
  const int bytes = a.bytes();
  const std::string type = RealSuffix(a.dtype);
  if (program_.masks) return Intrinsic(bytes, "mask_blend_" + type, MaskOf(a.lanes, count), b.name, a.name);
  if (count.index.empty()) return Intrinsic(bytes, "blend_" + type, b.name, a.name, (1 << count.number) - 1);
  return Intrinsic(bytes, "blendv_" + type, b.name, a.name,
                   OfIntegers(a.dtype, bytes, MaskVector(a.lanes, count, a.dtype)));
}

// Adds each lane's partner, the farthest first: 4, then 2, then 1 lanes away of 8. After that all lanes have
// the whole.
std::vector<std::string> CVectors::Across(BinaryOp op, const Var& to, const Var& from) const {
  KIRSCH_CHECK(op == BinaryOp::kAdd || op == BinaryOp::kMax);
  std::vector<std::string> statements;
  std::string value = from.name;
  for (int distance = from.lanes / 2; distance > 0; distance /= 2) {
    statements.push_back(
        Cat(to.name, " = ",
            Intrinsic(from.bytes(), Cat(op == BinaryOp::kAdd ? "add_" : "max_", RealSuffix(from.dtype)),
                      value, Partners(from, value, distance)),
            ";"));
    value = to.name;
  }
  return statements;
}

}  // namespace kirsch
