#include "bench/element.h"

#include <immintrin.h>

#include <bit>
#include <cstring>

namespace kirsch {
namespace {

// SplitMix64 of the index: any element can be had without those before it.
uint64_t BitsAt(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

float FloatAt(uint64_t seed, uint64_t index) {
  return static_cast<float>(static_cast<int32_t>(BitsAt(seed, index) >> 40) - (1 << 23)) * 0x1p-23f;
}

uint16_t Bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float FromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Every CPU with AVX2 has these, and Kirsch makes code for no other.
__attribute__((target("f16c"))) uint16_t F16(float value) {
  return static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
}

__attribute__((target("f16c"))) float FromF16(uint16_t bits) { return _cvtsh_ss(bits); }

template <typename T>
double Load(const void* values, size_t index) {
  return static_cast<double>(static_cast<const T*>(values)[index]);
}

template <typename T, typename Value>
void Fill(void* values, size_t count, Value value) {
  for (size_t i = 0; i < count; ++i) static_cast<T*>(values)[i] = static_cast<T>(value(i));
}

}  // namespace

double LoadElement(const void* values, KirschType type, size_t index) {
  switch (type) {
    case KIRSCH_F32:
      return Load<float>(values, index);
    case KIRSCH_BF16:
      return FromBf16(static_cast<const uint16_t*>(values)[index]);
    case KIRSCH_F16:
      return FromF16(static_cast<const uint16_t*>(values)[index]);
    case KIRSCH_U8:
      return Load<uint8_t>(values, index);
    case KIRSCH_S8:
      return Load<int8_t>(values, index);
    case KIRSCH_S16:
      return Load<int16_t>(values, index);
    case KIRSCH_S32:
      break;
  }
  return Load<int32_t>(values, index);
}

void FillElements(void* values, KirschType type, size_t count, uint64_t seed, IntegerRange range) {
  const uint64_t width = static_cast<uint64_t>(range.high - range.low) + 1;
  const auto real = [seed](size_t i) { return FloatAt(seed, i); };
  const auto integer = [seed, width, low = range.low](size_t i) {
    return low + static_cast<int64_t>((BitsAt(seed, i) >> 32) % width);
  };
  switch (type) {
    case KIRSCH_F32:
      return Fill<float>(values, count, real);
    case KIRSCH_BF16:
      return Fill<uint16_t>(values, count, [real](size_t i) { return Bf16(real(i)); });
    case KIRSCH_F16:
      return Fill<uint16_t>(values, count, [real](size_t i) { return F16(real(i)); });
    case KIRSCH_U8:
      return Fill<uint8_t>(values, count, integer);
    case KIRSCH_S8:
      return Fill<int8_t>(values, count, integer);
    case KIRSCH_S16:
      return Fill<int16_t>(values, count, integer);
    case KIRSCH_S32:
      return Fill<int32_t>(values, count, integer);
  }
}

}  // namespace kirsch
