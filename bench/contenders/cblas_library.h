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

// Of float or double.
template <typename Real>
using GemmFn = void(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, Real alpha,
                    const Real* a, int lda, const Real* b, int ldb, Real beta, Real* c, int ldc);
using SbgemmFn = void(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, float alpha,
                      const uint16_t* a, int lda, const uint16_t* b, int ldb, float beta, float* c, int ldc);
template <typename Real>
using GemvFn = void(CblasOrder, CblasTranspose, int m, int n, Real alpha, const Real* a, int lda,
                    const Real* x, int incx, Real beta, Real* y, int incy);
template <typename Real>
using GemmBatchFn = void(CblasOrder, const CblasTranspose*, const CblasTranspose*, const int* m, const int* n,
                         const int* k, const Real* alpha, const Real** a, const int* lda, const Real** b,
                         const int* ldb, const Real* beta, Real** c, const int* ldc, int groups,
                         const int* group_size);

// Null where the library lacks them.
template <typename Real>
struct CblasFunctions {
  GemmFn<Real>* gemm = nullptr;
  GemvFn<Real>* gemv = nullptr;
  GemmBatchFn<Real>* gemm_batch = nullptr;
};

struct CblasLibrary {
  ContenderInfo info;         // its name, core and alternatives
  CblasFunctions<float> f32;  // gemm is there
  CblasFunctions<double> f64;
  SbgemmFn* sbgemm = nullptr;  // null where the library lacks it
};

// The first of `libraries` that loads. NotFound where none does.
absl::StatusOr<CblasLibrary> OpenCblas(const std::vector<std::string>& libraries);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_CBLAS_LIBRARY_H_
