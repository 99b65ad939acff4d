// SPDX-License-Identifier: Apache-2.0
// Has small helpers for examples in C: a clock, reproducible random weights, bf16, and OpenBLAS if it is
// there.
#ifndef KIRSCH_EXAMPLES_COMMON_H_
#define KIRSCH_EXAMPLES_COMMON_H_

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Returns the seconds since some moment; only differences mean something.
static inline double Seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Returns memory that begins on a line of the cache. Ends the program if there is none.
static inline void* Allocate(size_t bytes) {
  void* memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory == NULL) {
    fprintf(stderr, "not enough memory for %zu bytes\n", bytes);
    exit(1);
  }
  return memory;
}

// Returns a number from a uniform distribution in (-scale, scale). The same state gives the same number
// anywhere.
static inline float Random(uint64_t* state, float scale) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return scale * ((float)(*state >> 40) * 0x1p-23f - 1.0f);
}

// Returns the upper half of an f32, rounded to nearest even.
static inline uint16_t ToBf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float FromBf16(uint16_t value) {
  const uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

// cblas_sgemv of OpenBLAS, on one thread; NULL if the library is absent.
typedef void (*Sgemv)(int order, int transposed, int m, int n, float alpha, const float* a, int lda,
                      const float* x, int incx, float beta, float* y, int incy);

static inline Sgemv FindSgemv(void) {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == NULL) return NULL;
  Sgemv function;
  *(void**)&function = dlsym(library, "cblas_sgemv");
  return function;
}

// For qsort: ascending.
static inline int CompareDoubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

#endif  // KIRSCH_EXAMPLES_COMMON_H_
