// SPDX-License-Identifier: Apache-2.0
// A library with the bf16 product of some builds of OpenBLAS, which Debian's build lacks, and that of f64. It
// is slow, for tests.
#include <bit>
#include <cstdint>

namespace {

constexpr int kTrans = 112;

float At(const uint16_t* matrix, int trans, int ld, int row, int column) {
  const int at = trans == kTrans ? column * ld + row : row * ld + column;
  return std::bit_cast<float>(static_cast<uint32_t>(matrix[at]) << 16);
}

double At(const double* matrix, int trans, int ld, int row, int column) {
  return matrix[trans == kTrans ? column * ld + row : row * ld + column];
}

// Real: what is summed in, and the type of the result.
template <typename Element, typename Real>
void Multiply(int trans_a, int trans_b, int m, int n, int k, Real alpha, const Element* a, int lda,
              const Element* b, int ldb, Real beta, Real* c, int ldc) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      Real sum = 0;
      for (int p = 0; p < k; ++p) sum += At(a, trans_a, lda, i, p) * At(b, trans_b, ldb, p, j);
      Real& out = c[i * ldc + j];
      out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
    }
}

}  // namespace

extern "C" {

void cblas_sgemm() {}

void cblas_sbgemm(int /*order*/, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const uint16_t* a, int lda, const uint16_t* b, int ldb, float beta, float* c, int ldc) {
  Multiply(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_dgemm(int /*order*/, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  Multiply(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}
