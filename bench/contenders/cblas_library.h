// SPDX-License-Identifier: Apache-2.0
// A library with the C interface of BLAS (32-bit integers), found at run time.
#ifndef KIRSCH_BENCH_CONTENDERS_CBLAS_LIBRARY_H_
#define KIRSCH_BENCH_CONTENDERS_CBLAS_LIBRARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workload/contender.h"

namespace kirsch {

// Values of the CBLAS standard.
enum CblasOrder { kCblasRowMajor = 101 };
enum CblasTranspose { kCblasNoTrans = 111, kCblasTrans = 112 };

using SgemmFn = void(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, float alpha,
                     const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
using SbgemmFn = void(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, float alpha,
                      const uint16_t* a, int lda, const uint16_t* b, int ldb, float beta, float* c, int ldc);
using SgemvFn = void(CblasOrder, CblasTranspose, int m, int n, float alpha, const float* a, int lda,
                     const float* x, int incx, float beta, float* y, int incy);
using SgemmBatchFn = void(CblasOrder, const CblasTranspose*, const CblasTranspose*, const int* m,
                          const int* n, const int* k, const float* alpha, const float** a, const int* lda,
                          const float** b, const int* ldb, const float* beta, float** c, const int* ldc,
                          int groups, const int* group_size);

struct CblasLibrary {
  ContenderInfo info;  // its name, core and alternatives
  SgemmFn* sgemm = nullptr;
  // Null where it lacks them.
  SbgemmFn* sbgemm = nullptr;
  SgemvFn* sgemv = nullptr;
  SgemmBatchFn* sgemm_batch = nullptr;
};

// The first of `libraries` that loads. NotFound where none does.
absl::StatusOr<CblasLibrary> OpenCblas(const std::vector<std::string>& libraries);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_CBLAS_LIBRARY_H_
