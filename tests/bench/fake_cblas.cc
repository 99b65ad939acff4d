// SPDX-License-Identifier: Apache-2.0
// A library with the bf16 product of some builds of OpenBLAS, slow, for tests: Debian's build lacks it.
#include <bit>
#include <cstdint>

namespace {

constexpr int kTrans = 112;

float At(const uint16_t* matrix, int trans, int ld, int row, int column) {
  const int at = trans == kTrans ? column * ld + row : row * ld + column;
  return std::bit_cast<float>(static_cast<uint32_t>(matrix[at]) << 16);
}

}  // namespace

extern "C" {

void cblas_sgemm() {}

void cblas_sbgemm(int /*order*/, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const uint16_t* a, int lda, const uint16_t* b, int ldb, float beta, float* c, int ldc) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += At(a, trans_a, lda, i, p) * At(b, trans_b, ldb, p, j);
      float& out = c[i * ldc + j];
      out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
    }
}
}
