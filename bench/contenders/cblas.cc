// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>

#include "bench/contenders/cblas_library.h"
#include "bench/contenders/contenders.h"

namespace kirsch {
namespace {

enum Method { kGemm, kGemv, kGemmBatch, kBf16Gemm };

CblasTranspose Transpose(int col) { return col ? kCblasTrans : kCblasNoTrans; }
int Int(size_t value) { return static_cast<int>(value); }
float Beta(const Problem& p) { return p.accumulate ? 1.0f : 0.0f; }

class CblasContender : public Contender {
 public:
  explicit CblasContender(std::vector<std::string> libraries) : libraries_(std::move(libraries)) {}

  absl::StatusOr<ContenderInfo> Load() override;
  absl::Status Prepare(const Workload& workload, size_t item, size_t method) override;
  void Run() override;

 private:
  absl::Status Takes(const Problem& problem) const;
  void Gemv(size_t batch) const;
  void GemmBatch();
  void Gemm(size_t batch) const;
  void Bf16Gemm(size_t batch) const;

  std::vector<std::string> libraries_;
  CblasLibrary library_;
  const Problem* problem_ = nullptr;
  Method method_ = kGemm;
  std::vector<const float*> batch_lhs_, batch_rhs_;
  std::vector<float*> batch_out_;
};

absl::StatusOr<ContenderInfo> CblasContender::Load() {
  absl::StatusOr<CblasLibrary> library = OpenCblas(libraries_);
  if (!library.ok()) return library.status();
  library_ = *std::move(library);
  ContenderInfo info = library_.info;
  info.methods = {"cblas_sgemm", "cblas_sgemv", "cblas_sgemm_batch", "cblas_sbgemm"};
  return info;
}

// Whether the method exists, and is for this problem.
absl::Status CblasContender::Takes(const Problem& problem) const {
  const bool bf16 =
      problem.lhs_type == KIRSCH_BF16 && problem.rhs_type == KIRSCH_BF16 && problem.out_type == KIRSCH_F32;
  if (method_ == kBf16Gemm ? library_.sbgemm == nullptr || !bf16 : !kirsch_is_f32(&problem))
    return absl::UnimplementedError("not in the library, or not these types");
  if (method_ == kGemv && (library_.sgemv == nullptr || (problem.m > 1 && problem.n > 1)))
    return absl::UnimplementedError("cblas_sgemv: not a product with a vector");
  if (method_ == kGemmBatch && (library_.sgemm_batch == nullptr || problem.batch == 1))
    return absl::UnimplementedError("cblas_sgemm_batch: not in the library, or not a batch");
  return absl::OkStatus();
}

absl::Status CblasContender::Prepare(const Workload& workload, size_t, size_t method) {
  const Problem& problem = workload.problem;
  problem_ = &problem;
  method_ = static_cast<Method>(method);
  if (absl::Status status = Takes(problem); !status.ok()) return status;
  if (method_ == kBf16Gemm) return absl::OkStatus();
  batch_lhs_.clear(), batch_rhs_.clear(), batch_out_.clear();
  for (size_t b = 0; b < problem.batch; ++b) {
    batch_lhs_.push_back(static_cast<const float*>(problem.lhs) + b * problem.lhs_stride);
    batch_rhs_.push_back(static_cast<const float*>(problem.rhs) + b * problem.rhs_stride);
    batch_out_.push_back(static_cast<float*>(problem.out) + b * problem.out_stride);
  }
  return absl::OkStatus();
}

// One row or one column: the matrix times a vector.
void CblasContender::Gemv(size_t batch) const {
  const Problem& p = *problem_;
  const float* lhs = batch_lhs_[batch];
  const float* rhs = batch_rhs_[batch];
  float* out = batch_out_[batch];
  if (p.m == 1) {  // out = rhs^T lhs; a col-major rhs is stored as that transpose already
    const int step = p.lhs_col ? Int(p.lda) : 1;
    library_.sgemv(kCblasRowMajor, Transpose(!p.rhs_col), Int(p.rhs_col ? p.n : p.k),
                   Int(p.rhs_col ? p.k : p.n), 1, rhs, Int(p.ldb), lhs, step, Beta(p), out, 1);
  } else {
    const int step = p.rhs_col ? 1 : Int(p.ldb);
    library_.sgemv(kCblasRowMajor, Transpose(p.lhs_col), Int(p.lhs_col ? p.k : p.m),
                   Int(p.lhs_col ? p.m : p.k), 1, lhs, Int(p.lda), rhs, step, Beta(p), out, Int(p.ldc));
  }
}

void CblasContender::GemmBatch() {
  const Problem& p = *problem_;
  const CblasTranspose trans_lhs = Transpose(p.lhs_col), trans_rhs = Transpose(p.rhs_col);
  const int m = Int(p.m), n = Int(p.n), k = Int(p.k), size = Int(p.batch);
  const int lda = Int(p.lda), ldb = Int(p.ldb), ldc = Int(p.ldc);
  const float alpha = 1, beta = Beta(p);
  library_.sgemm_batch(kCblasRowMajor, &trans_lhs, &trans_rhs, &m, &n, &k, &alpha, batch_lhs_.data(), &lda,
                       batch_rhs_.data(), &ldb, &beta, batch_out_.data(), &ldc, 1, &size);
}

void CblasContender::Gemm(size_t batch) const {
  const Problem& p = *problem_;
  library_.sgemm(kCblasRowMajor, Transpose(p.lhs_col), Transpose(p.rhs_col), Int(p.m), Int(p.n), Int(p.k), 1,
                 batch_lhs_[batch], Int(p.lda), batch_rhs_[batch], Int(p.ldb), Beta(p), batch_out_[batch],
                 Int(p.ldc));
}

void CblasContender::Bf16Gemm(size_t batch) const {
  const Problem& p = *problem_;
  library_.sbgemm(kCblasRowMajor, Transpose(p.lhs_col), Transpose(p.rhs_col), Int(p.m), Int(p.n), Int(p.k), 1,
                  static_cast<const uint16_t*>(p.lhs) + batch * p.lhs_stride, Int(p.lda),
                  static_cast<const uint16_t*>(p.rhs) + batch * p.rhs_stride, Int(p.ldb), Beta(p),
                  static_cast<float*>(p.out) + batch * p.out_stride, Int(p.ldc));
}

void CblasContender::Run() {
  if (method_ == kGemmBatch) return GemmBatch();
  for (size_t b = 0; b < problem_->batch; ++b) {
    if (method_ == kGemv)
      Gemv(b);
    else
      method_ == kBf16Gemm ? Bf16Gemm(b) : Gemm(b);
  }
}

}  // namespace

std::unique_ptr<Contender> MakeCblasContender(std::vector<std::string> libraries) {
  return std::make_unique<CblasContender>(std::move(libraries));
}

}  // namespace kirsch
