// SPDX-License-Identifier: Apache-2.0
// AVX-512, AVX2, FMA and F16C by SIMDe, for any CPU: headers that include this for <immintrin.h> run where
// there is no AVX-512. What headers use and Debian 12's SIMDe 0.7.4 lacks is defined here, lane by lane.
#ifndef KIRSCH_TESTS_TESTING_SIMDE_IMMINTRIN_H_
#define KIRSCH_TESTS_TESTING_SIMDE_IMMINTRIN_H_

#define SIMDE_NO_NATIVE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <math.h>
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Headers' functions name their instruction set, and ask the CPU for it.
#define target(features) unused
#define __builtin_cpu_supports(feature) 1

typedef int __v4si __attribute__((vector_size(16)));
typedef int __v8si __attribute__((vector_size(32)));
typedef int __v16si __attribute__((vector_size(64)));
typedef uint8_t __mmask8;
typedef uint16_t __mmask16;
typedef uint32_t __mmask32;
typedef uint64_t __mmask64;

// name(vector): lane i of the result is `value` of lane i, x[i].
#define LANES(name, To, to, From, from, value)                               \
  static inline To name(From vector) {                                       \
    from x[sizeof(From) / sizeof(from)];                                     \
    to y[sizeof(To) / sizeof(to)];                                           \
    To result;                                                               \
    memcpy(x, &vector, sizeof(x));                                           \
    for (size_t i = 0; i < sizeof(To) / sizeof(to); ++i) y[i] = (to)(value); \
    memcpy(&result, y, sizeof(y));                                           \
    return result;                                                           \
  }
// The lanes whose bits are in the mask; the others are 0.
#define MASKED_LOAD(name, Vector, lane, Mask)                                               \
  static inline Vector name(Mask mask, const void* from) {                                  \
    lane x[sizeof(Vector) / sizeof(lane)] = {0};                                            \
    Vector result;                                                                          \
    for (size_t i = 0; i < sizeof(Vector) / sizeof(lane); ++i)                              \
      if (mask >> i & 1) memcpy(&x[i], (const char*)from + i * sizeof(lane), sizeof(lane)); \
    memcpy(&result, x, sizeof(x));                                                          \
    return result;                                                                          \
  }
#define MASKED_STORE(name, Vector, lane, Mask)                                                 \
  static inline void name(void* to, Mask mask, Vector vector) {                                \
    for (size_t i = 0; i < sizeof(Vector) / sizeof(lane); ++i)                                 \
      if (mask >> i & 1)                                                                       \
        memcpy((char*)to + i * sizeof(lane), (char*)&vector + i * sizeof(lane), sizeof(lane)); \
  }

#define ROUNDED(x) (!(fabsf(x) < 0x1p31f) ? INT32_MIN : (int32_t)rintf(x))
#define UNSIGNED_BYTE(x) ((x) > 255 ? 255 : (x))

LANES(_mm512_cvtepi32_ps, __m512, float, __m512i, int32_t, x[i])
LANES(_mm512_cvtps_epi32, __m512i, int32_t, __m512, float, ROUNDED(x[i]))
LANES(_mm512_cvtepi8_epi32, __m512i, int32_t, __m128i, int8_t, x[i])
LANES(_mm512_cvtepu8_epi32, __m512i, int32_t, __m128i, uint8_t, x[i])
LANES(_mm512_cvtepu8_epi16, __m512i, int16_t, __m256i, uint8_t, x[i])
LANES(_mm512_cvtepu16_epi32, __m512i, int32_t, __m256i, uint16_t, x[i])
LANES(_mm512_cvtepi32_epi16, __m256i, int16_t, __m512i, int32_t, x[i])
LANES(_mm512_cvtusepi32_epi8, __m128i, uint8_t, __m512i, uint32_t, UNSIGNED_BYTE(x[i]))
LANES(_mm256_cvtepi32_epi16, __m128i, int16_t, __m256i, int32_t, x[i])
LANES(_mm256_cvtusepi32_epi8, __m128i, uint8_t, __m256i, uint32_t, i < 8 ? UNSIGNED_BYTE(x[i % 8]) : 0)

MASKED_LOAD(_mm_maskz_loadu_epi8, __m128i, uint8_t, __mmask16)
MASKED_LOAD(_mm_maskz_loadu_epi16, __m128i, uint16_t, __mmask8)
MASKED_LOAD(_mm256_maskz_loadu_epi8, __m256i, uint8_t, __mmask32)
MASKED_LOAD(_mm256_maskz_loadu_epi16, __m256i, uint16_t, __mmask16)
MASKED_LOAD(_mm256_maskz_loadu_ps, __m256, float, __mmask8)
MASKED_LOAD(_mm512_maskz_loadu_epi8, __m512i, uint8_t, __mmask64)
MASKED_LOAD(_mm512_maskz_loadu_epi32, __m512i, uint32_t, __mmask16)
MASKED_LOAD(_mm512_maskz_loadu_ps, __m512, float, __mmask16)
MASKED_STORE(_mm_mask_storeu_ps, __m128, float, __mmask8)
MASKED_STORE(_mm256_mask_storeu_epi16, __m256i, uint16_t, __mmask16)
MASKED_STORE(_mm256_mask_storeu_ps, __m256, float, __mmask8)
MASKED_STORE(_mm512_mask_storeu_epi32, __m512i, uint32_t, __mmask16)
MASKED_STORE(_mm512_mask_storeu_ps, __m512, float, __mmask16)

static inline __m512 _mm512_cvtph_ps(__m256i halves) {
  __m128i half[2];
  __m256 result[2];
  __m512 joined;
  memcpy(half, &halves, sizeof(half));
  for (int i = 0; i < 2; ++i) result[i] = _mm256_cvtph_ps(half[i]);
  memcpy(&joined, result, sizeof(joined));
  return joined;
}
static inline __m256i kirsch_to_halves(__m512 vector) {
  __m256 half[2];
  __m128i result[2];
  __m256i joined;
  memcpy(half, &vector, sizeof(half));
  for (int i = 0; i < 2; ++i) result[i] = _mm256_cvtps_ph(half[i], 0);
  memcpy(&joined, result, sizeof(joined));
  return joined;
}
#define _mm512_cvtps_ph(vector, rounding) kirsch_to_halves(vector)

// The parts of 128 bits that the number names, two bits each: two of `a`, then two of `b`.
static inline __m512i kirsch_shuffle_parts(__m512i a, __m512i b, int which) {
  __m128i x[4], y[4], z[4];
  __m512i result;
  memcpy(x, &a, sizeof(x));
  memcpy(y, &b, sizeof(y));
  for (int i = 0; i < 4; ++i) z[i] = (i < 2 ? x : y)[which >> 2 * i & 3];
  memcpy(&result, z, sizeof(z));
  return result;
}
#define _mm512_shuffle_i32x4(a, b, which) kirsch_shuffle_parts(a, b, which)
#define _mm512_shuffle_f32x4(a, b, which) \
  _mm512_castsi512_ps(kirsch_shuffle_parts(_mm512_castps_si512(a), _mm512_castps_si512(b), which))
#define _mm512_maskz_shuffle_i32x4(mask, a, b, which) \
  _mm512_maskz_mov_epi32(mask, kirsch_shuffle_parts(a, b, which))
#define _mm512_permute_ps(a, which) _mm512_shuffle_ps(a, a, which)
#undef _mm512_madd_epi16  // SIMDe 0.7.4's alias is of another function
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)
#define _mm256_mask_or_epi32(from, mask, a, b) _mm256_mask_mov_epi32(from, mask, _mm256_or_si256(a, b))

#undef LANES
#undef MASKED_LOAD
#undef MASKED_STORE
#undef ROUNDED
#undef UNSIGNED_BYTE

#endif  // KIRSCH_TESTS_TESTING_SIMDE_IMMINTRIN_H_
