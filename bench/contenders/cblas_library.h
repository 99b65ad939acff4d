// SPDX-License-Identifier: Apache-2.0
// Loads a library with the C interface of BLAS (32-bit integers) at run time, and describes it.
//
// OpenBLAS, BLIS and MKL share the interface, but each has its own way to say its version and its kernels.
#ifndef KIRSCH_BENCH_CONTENDERS_CBLAS_LIBRARY_H_
#define KIRSCH_BENCH_CONTENDERS_CBLAS_LIBRARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workload/contender.h"

namespace kirsch {

// The values of the CBLAS standard. They are here since no library's header is needed to build Kirsch.
enum CblasOrder { kCblasRowMajor = 101 };
enum CblasTranspose { kCblasNoTrans = 111, kCblasTrans = 112 };

// Matrix times matrix, of float or double.
template <typename Real>
using GemmFn = void(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, Real alpha,
                    const Real* a, int lda, const Real* b, int ldb, Real beta, Real* c, int ldc);
// Matrix times matrix of bf16, with sums of f32.
using SbgemmFn = void(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, float alpha,
                      const uint16_t* a, int lda, const uint16_t* b, int ldb, float beta, float* c, int ldc);
// Matrix times vector.
template <typename Real>
using GemvFn = void(CblasOrder, CblasTranspose, int m, int n, Real alpha, const Real* a, int lda,
                    const Real* x, int incx, Real beta, Real* y, int incy);
// A batch of products. Sizes are given by group; the bench has one group.
template <typename Real>
using GemmBatchFn = void(CblasOrder, const CblasTranspose*, const CblasTranspose*, const int* m, const int* n,
                         const int* k, const Real* alpha, const Real** a, const int* lda, const Real** b,
                         const int* ldb, const Real* beta, Real** c, const int* ldc, int groups,
                         const int* group_size);

// The functions for one type. Those that the library lacks are null.
template <typename Real>
struct CblasFunctions {
  GemmFn<Real>* gemm = nullptr;
  GemvFn<Real>* gemv = nullptr;
  GemmBatchFn<Real>* gemm_batch = nullptr;
};

// A library that was loaded. It is never unloaded.
struct CblasLibrary {
  ContenderInfo info;         // its name, core and alternatives
  CblasFunctions<float> f32;  // gemm is there
  CblasFunctions<double> f64;
  SbgemmFn* sbgemm = nullptr;  // null where the library lacks it
};

// Loads the first of `libraries` that can be loaded. NotFound if none can, or if it has no cblas_sgemm.
absl::StatusOr<CblasLibrary> OpenCblas(const std::vector<std::string>& libraries);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_CBLAS_LIBRARY_H_
