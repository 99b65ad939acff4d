// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels of all element types share: targets by feature, operands that end at a guard
// page, a scalar oracle, and random programs.
#ifndef KIRSCH_TESTS_TESTING_CODEGEN_TYPES_TESTING_H_
#define KIRSCH_TESTS_TESTING_CODEGEN_TYPES_TESTING_H_

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codegen/verify/guarded_buffer.h"
#include "spec/element_array.h"
#include "spec/matmul_types.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_testing.h"

namespace kirsch::testing {

// An ISA and the extensions beside it.
struct VectorIsa {
  const char* name;
  bool avx512;
  std::vector<std::string> extensions;
};

inline std::vector<VectorIsa> VectorIsas() {
  return {{"Avx2", false, {}},
          {"AvxVnni", false, {"avxvnni"}},
          {"Avx512F", true, {}},
          {"Avx512Bw", true, {"avx512bw"}},
          {"Avx512Vnni", true, {"avx512bw", "avx512vnni", "avx512bf16"}},
          {"AvxVnniInt8", false, {"avxvnni", "avxvnniint8"}},
          {"Avx512Fp16", true, {"avx512bw", "avx512fp16"}}};
}

inline Target TargetOf(const VectorIsa& isa) {
  Target target = TestTarget(isa.avx512);
  target.features.insert(target.features.end(), isa.extensions.begin(), isa.extensions.end());
  return target;
}

// All combinations, those of different inputs in both orders.
inline std::vector<MatmulTypes> AllTypes() {
  std::vector<MatmulTypes> all(kMatmulTypes.begin(), kMatmulTypes.end());
  for (const MatmulTypes& types : kMatmulTypes)
    if (types.lhs != types.rhs) all.push_back({types.rhs, types.lhs, types.out});
  return all;
}

inline std::string NameOf(const MatmulTypes& types) {
  return Cat(std::string(Info(types.lhs).name), "_", std::string(Info(types.rhs).name), "_",
             std::string(Info(types.out).name));
}

inline Spec TypedSpec(const MatmulTypes& types, const Matmul& matmul) {
  Spec spec = MakeSpec(matmul);
  spec.operand[MatmulDims::kLhs].dtype = types.lhs;
  spec.operand[MatmulDims::kRhs].dtype = types.rhs;
  spec.operand[MatmulDims::kOut].dtype = types.out;
  return spec;
}

// The number that the bits of an element of `dtype` stand for.
inline double ValueOf(Dtype dtype, uint64_t bits) {
  const auto word = static_cast<uint32_t>(bits);
  switch (dtype) {
    case Dtype::kF64:
      return std::bit_cast<double>(bits);
    case Dtype::kF32:
      return std::bit_cast<float>(word);
    case Dtype::kBf16:
      return std::bit_cast<float>(word << 16);
    case Dtype::kF16:
    case Dtype::kF16Sums: {
      const int exponent = static_cast<int>(word >> 10 & 31), fraction = static_cast<int>(word & 1023);
      const double sign = word >> 15 != 0 ? -1 : 1;
      if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
      if (exponent == 0) return sign * std::ldexp(fraction, -24);
      return sign * std::ldexp(1024 + fraction, exponent - 25);
    }
    case Dtype::kU8:
      return static_cast<uint8_t>(bits);
    case Dtype::kS8:
      return static_cast<int8_t>(bits);
    case Dtype::kS16:
      return static_cast<int16_t>(bits);
    case Dtype::kS32:
      return static_cast<int32_t>(bits);
    case Dtype::kExcess8:
      return static_cast<double>(static_cast<uint8_t>(bits)) - 128;
    default:
      return LoadElement(dtype, &bits, 0);  // tested by element_test.cc
  }
}

// The nearest bf16, of two equally near ones the even one; by comparing distances.
inline uint32_t NearestBf16(float value) {
  const uint32_t down = std::bit_cast<uint32_t>(value) >> 16;  // towards zero
  if (std::isnan(value)) return down | 0x40;
  if (std::isinf(value)) return down;
  const auto magnitude = [](uint32_t bits) {
    bits &= 0x7fff;
    return bits == 0x7f80 ? std::ldexp(1.0, 128) : ValueOf(Dtype::kBf16, bits);
  };
  const double exact = std::fabs(value), low = exact - magnitude(down), high = magnitude(down + 1) - exact;
  return low < high || (low == high && down % 2 == 0) ? down : down + 1;
}

// The bits of a small integer.
inline uint64_t BitsOf(Dtype dtype, int value) {
  if (dtype == Dtype::kF64) return std::bit_cast<uint64_t>(static_cast<double>(value));
  const uint32_t f32 = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (dtype == Dtype::kF32) return f32;
  if (dtype == Dtype::kBf16) return f32 >> 16;
  if (!IsFloating(dtype)) return static_cast<uint32_t>(value);
  for (uint32_t bits = 0; bits < 2 * SignBit(dtype); ++bits)
    if (ValueOf(dtype, bits) == value) return bits;
  return 0;
}

// An operand's memory, which ends where a guard page begins. Gaps hold a pattern.
class TypedMatrix {
 public:
  TypedMatrix(const Spec& spec, int operand)
      : dtype_(spec.tensor(operand).dtype),
        extent_(ExtentOf(spec, operand)),
        ld_(spec.tensor(operand).layout.ld),
        row_(spec.tensor(operand).layout.order == Order::kRow),
        // Nothing belongs to the operand after its last row's elements.
        elements_((extent_.batch * extent_.outer - 1) * ld_ + extent_.inner),
        buffer_(*GuardedBuffer::Create(static_cast<size_t>(elements_ * Bytes(dtype_)), Placement::kAtEnd)) {
    std::memset(buffer_.data(), 0x5a, buffer_.bytes());
  }

  // Integers: a third each of the least, the largest, and any value. Floats: integers from -8 to 7, so that
  // sums are exact.
  void Fill(uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<uint64_t> small;
    for (int value = -8; value < 8; ++value) small.push_back(BitsOf(dtype_, value));
    for (int64_t run = 0; run < extent_.batch * extent_.outer; ++run)
      for (int64_t inner = 0; inner < extent_.inner; ++inner) {
        const uint32_t any = random();
        const uint64_t top = uint64_t{1} << (8 * Bytes(dtype_) - 1);
        const uint64_t least = Info(dtype_).has_sign ? top : 0,
                       largest = Info(dtype_).has_sign ? top - 1 : 255;
        const uint64_t integer = any % 3 == 0 ? least : any % 3 == 1 ? largest : random();
        SetElement(run * ld_ + inner, IsFloating(dtype_) ? small[any % 16] : integer);
      }
  }

  Dtype dtype() const { return dtype_; }
  uint64_t at(int64_t batch, int64_t row, int64_t column) const {
    uint64_t bits = 0;
    std::memcpy(&bits, Element(Index(batch, row, column)), static_cast<size_t>(Bytes(dtype_)));
    return bits;
  }
  double value(int64_t batch, int64_t row, int64_t column) const {
    return ValueOf(dtype_, at(batch, row, column));
  }
  void Set(int64_t batch, int64_t row, int64_t column, uint64_t bits) {
    SetElement(Index(batch, row, column), bits);
  }
  void SetReadOnly() { buffer_.SetReadOnly(true); }
  void* data() const { return buffer_.data(); }
  bool SameBytes(const TypedMatrix& other) const {
    return buffer_.SlackIntact() && std::memcmp(data(), other.data(), buffer_.bytes()) == 0;
  }

 private:
  int64_t Index(int64_t batch, int64_t row, int64_t column) const {
    const int64_t outer = row_ ? row : column, inner = row_ ? column : row;
    return (batch * extent_.outer + outer) * ld_ + inner;
  }
  char* Element(int64_t index) const { return static_cast<char*>(buffer_.data()) + index * Bytes(dtype_); }
  void SetElement(int64_t index, uint64_t bits) {
    std::memcpy(Element(index), &bits, static_cast<size_t>(Bytes(dtype_)));
  }

  Dtype dtype_;
  TileExtent extent_;
  int64_t ld_;
  bool row_;
  int64_t elements_;
  GuardedBuffer buffer_;
};

// The bits of a sum as an element of type `dtype`.
inline uint64_t Finished(Dtype dtype, double sum) {
  if (dtype == Dtype::kF64) return std::bit_cast<uint64_t>(sum);
  if (dtype == Dtype::kF16Sums) return std::bit_cast<uint16_t>(static_cast<_Float16>(sum));
  const float rounded = static_cast<float>(sum);
  if (dtype == Dtype::kBf16) return NearestBf16(rounded);
  return std::bit_cast<uint32_t>(rounded);
}
inline uint64_t Finished(Dtype dtype, uint32_t sum) {
  const int32_t value = static_cast<int32_t>(sum);
  return dtype == Dtype::kS16 ? static_cast<uint32_t>(std::min(32767, std::max(-32768, value))) : sum;
}

// The oracle. Sums of floats are exact with the data of Fill.
inline void TypedMatmul(const Spec& spec, const TypedMatrix& lhs, const TypedMatrix& rhs, TypedMatrix* out) {
  for (uint32_t b = 0; b < spec.size[MatmulDims::kB]; ++b)
    for (uint32_t m = 0; m < spec.size[MatmulDims::kM]; ++m)
      for (uint32_t n = 0; n < spec.size[MatmulDims::kN]; ++n) {
        double sum = spec.accumulate ? out->value(b, m, n) : 0;
        uint32_t wrapped = static_cast<uint32_t>(static_cast<int64_t>(sum));
        for (uint32_t k = 0; k < spec.size[MatmulDims::kK]; ++k) {
          const double x = lhs.value(b, m, k), y = rhs.value(b, k, n);
          sum += x * y;
          wrapped += static_cast<uint32_t>(static_cast<int64_t>(x) * static_cast<int64_t>(y));
        }
        out->Set(b, m, n,
                 IsFloating(out->dtype()) ? Finished(out->dtype(), sum) : Finished(out->dtype(), wrapped));
      }
}

using AnyKernel = void (*)(const void*, const void*, void*, void*, size_t, size_t);

inline void RunTyped(AnyKernel kernel, int64_t scratch_bytes, const TypedMatrix& lhs, const TypedMatrix& rhs,
                     TypedMatrix* out) {
  Scratch scratch(scratch_bytes);
  kernel(lhs.data(), rhs.data(), out->data(), scratch.get(), 0, 1);
}

// True if the kernel's output, gaps included, is the oracle's.
inline bool MatchesOracle(const Spec& spec, AnyKernel kernel, int64_t scratch_bytes) {
  TypedMatrix lhs(spec, MatmulDims::kLhs), rhs(spec, MatmulDims::kRhs), out(spec, MatmulDims::kOut),
      expected(spec, MatmulDims::kOut);
  lhs.Fill(1);
  rhs.Fill(2);
  out.Fill(3);
  expected.Fill(3);
  TypedMatmul(spec, lhs, rhs, &expected);
  lhs.SetReadOnly();
  rhs.SetReadOnly();
  RunTyped(kernel, scratch_bytes, lhs, rhs, &out);
  return out.SameBytes(expected);
}

// Any walk through the rewrites' space.
class TypedWalk {
 public:
  TypedWalk(const Target& target, uint32_t seed) : target_(target), random_(seed) {}

  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  Matmul NextMatmul() {
    Matmul matmul{Below(20) + 1, Below(50) + 1, Below(60) + 1};
    if (Below(6) == 0) matmul.batch = 2;
    if (Below(2) == 0) matmul.lhs = Order::kCol;
    if (Below(2) == 0) matmul.rhs = Order::kCol;
    matmul.gap = Below(3) * Below(7);
    matmul.accumulate = Below(2) == 0;
    return matmul;
  }

  Impl Next(const Spec& spec) {
    return BuildImpl(spec, target_, [this](const Spec& goal) {
      EnumerateDecisions(goal, target_, &decisions_);
      std::vector<Decision> finishing;
      for (const Decision& decision : decisions_)
        if (decision.level == Level::kVrf && decision.kind != RewriteKind::kTile)
          finishing.push_back(decision);
      if (!finishing.empty() && Below(2) == 0)
        return finishing[Below(static_cast<uint32_t>(finishing.size()))];
      for (int attempt = 0; attempt < 10; ++attempt) {
        const Decision& decision = decisions_[Below(static_cast<uint32_t>(decisions_.size()))];
        // Small tiles of large specs would make huge programs.
        if (decision.kind != RewriteKind::kTile || goal.size[decision.dim] / decision.size < 8)
          return decision;
      }
      return decisions_[Below(static_cast<uint32_t>(decisions_.size()))];
    });
  }

 private:
  const Target& target_;
  std::mt19937 random_;
  std::vector<Decision> decisions_;
};

inline std::string Describe(const Matmul& matmul) {
  return Cat(matmul.batch, ":", matmul.m, "x", matmul.k, "x", matmul.n,
             matmul.lhs == Order::kRow ? " lhs=row" : " lhs=col",
             matmul.rhs == Order::kRow ? " rhs=row" : " rhs=col", " gap=", matmul.gap,
             matmul.accumulate ? " accumulate" : "");
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_CODEGEN_TYPES_TESTING_H_
