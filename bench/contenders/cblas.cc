// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/contenders/cblas_library.h"
#include "bench/contenders/contenders.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The functions of the interface that a method may call.
enum class Kind { kGemm, kGemv, kGemmBatch };

// One way to ask the library, for inputs of one type.
struct Method {
  const char* name;
  Kind kind;
  KirschType inputs;
};
// The methods of every library, whether it has them or not; Prepare declines those that it lacks.
constexpr std::array<Method, 7> kCblasMethods = {{{"cblas_sgemm", Kind::kGemm, KIRSCH_F32},
                                                  {"cblas_sgemv", Kind::kGemv, KIRSCH_F32},
                                                  {"cblas_sgemm_batch", Kind::kGemmBatch, KIRSCH_F32},
                                                  {"cblas_sbgemm", Kind::kGemm, KIRSCH_BF16},
                                                  {"cblas_dgemm", Kind::kGemm, KIRSCH_F64},
                                                  {"cblas_dgemv", Kind::kGemv, KIRSCH_F64},
                                                  {"cblas_dgemm_batch", Kind::kGemmBatch, KIRSCH_F64}}};

// A column-major operand is the transpose of a row-major one.
CblasTranspose Transpose(int col) { return col ? kCblasTrans : kCblasNoTrans; }
int Int(size_t value) { return static_cast<int>(value); }

// Calls the library for products of matrices of float or double. Pointers of a batch are computed once.
template <typename Real>
class Products {
 public:
  Products() = default;
  Products(const CblasFunctions<Real>& functions, const Problem& problem)
      : functions_(functions), problem_(&problem) {
    for (size_t b = 0; b < problem.batch; ++b) {
      lhs_.push_back(static_cast<const Real*>(problem.lhs) + b * problem.lhs_stride);
      rhs_.push_back(static_cast<const Real*>(problem.rhs) + b * problem.rhs_stride);
      out_.push_back(static_cast<Real*>(problem.out) + b * problem.out_stride);
    }
  }

  // Multiplies one row or one column: the matrix times a vector.
  void Gemv(size_t batch) const {
    const Problem& p = *problem_;
    const Real *lhs = lhs_[batch], *rhs = rhs_[batch];
    Real* const out = out_[batch];
    if (p.m == 1) {  // out = rhs^T lhs; a col-major rhs is stored as that transpose already
      const int step = p.lhs_col ? Int(p.lda) : 1;
      functions_.gemv(kCblasRowMajor, Transpose(!p.rhs_col), Int(p.rhs_col ? p.n : p.k),
                      Int(p.rhs_col ? p.k : p.n), 1, rhs, Int(p.ldb), lhs, step, beta(), out, 1);
    } else {
      const int step = p.rhs_col ? 1 : Int(p.ldb);
      functions_.gemv(kCblasRowMajor, Transpose(p.lhs_col), Int(p.lhs_col ? p.k : p.m),
                      Int(p.lhs_col ? p.m : p.k), 1, lhs, Int(p.lda), rhs, step, beta(), out, Int(p.ldc));
    }
  }

  // All products of the batch in one call.
  void GemmBatch() {
    const Problem& p = *problem_;
    // Groups have arrays of sizes, here of one element each.
    const CblasTranspose trans_lhs = Transpose(p.lhs_col), trans_rhs = Transpose(p.rhs_col);
    const int m = Int(p.m), n = Int(p.n), k = Int(p.k), size = Int(p.batch);
    const int lda = Int(p.lda), ldb = Int(p.ldb), ldc = Int(p.ldc);
    const Real alpha = 1, beta = this->beta();
    functions_.gemm_batch(kCblasRowMajor, &trans_lhs, &trans_rhs, &m, &n, &k, &alpha, lhs_.data(), &lda,
                          rhs_.data(), &ldb, &beta, out_.data(), &ldc, 1, &size);
  }

  void Gemm(size_t batch) const {
    const Problem& p = *problem_;
    functions_.gemm(kCblasRowMajor, Transpose(p.lhs_col), Transpose(p.rhs_col), Int(p.m), Int(p.n), Int(p.k),
                    1, lhs_[batch], Int(p.lda), rhs_[batch], Int(p.ldb), beta(), out_[batch], Int(p.ldc));
  }

  // Other functions than that for batches compute one product after the other.
  void Run(Kind kind) {
    if (kind == Kind::kGemmBatch) return GemmBatch();
    for (size_t b = 0; b < problem_->batch; ++b) kind == Kind::kGemv ? Gemv(b) : Gemm(b);
  }

 private:
  // The output is multiplied by this before the product is added.
  Real beta() const { return problem_->accumulate ? 1 : 0; }

  CblasFunctions<Real> functions_;
  const Problem* problem_ = nullptr;
  std::vector<const Real*> lhs_, rhs_;
  std::vector<Real*> out_;
};

// A library as a contender. Threads follow from the environment that the worker sets.
class CblasContender : public Contender {
 public:
  explicit CblasContender(std::vector<std::string> libraries) : libraries_(std::move(libraries)) {}

  absl::StatusOr<ContenderInfo> Load() override;
  absl::Status Prepare(const Workload& workload, size_t item, size_t method) override;
  void Run() override;

 private:
  absl::Status Takes(const Problem& problem) const;
  void Bf16Gemm(size_t batch) const;

  std::vector<std::string> libraries_;
  CblasLibrary library_;
  const Problem* problem_ = nullptr;
  Method method_ = kCblasMethods[0];
  Products<float> f32_;
  Products<double> f64_;
};

absl::StatusOr<ContenderInfo> CblasContender::Load() {
  KIRSCH_ASSIGN_OR_RETURN(library_, OpenCblas(libraries_));
  ContenderInfo info = library_.info;
  for (const Method& method : kCblasMethods) info.methods.emplace_back(method.name);
  return info;
}

// Returns OK if the library has the method's function, and the problem is one for it. A product with a vector
// has one row or one column; a batch has more than one product.
template <typename Real>
absl::Status Takes(const CblasFunctions<Real>& functions, const Method& method, const Problem& problem) {
  if (functions.gemm == nullptr) return absl::UnimplementedError(Cat(method.name, ": not in the library"));
  if (method.kind == Kind::kGemv && (functions.gemv == nullptr || (problem.m > 1 && problem.n > 1)))
    return absl::UnimplementedError(Cat(method.name, ": not a product with a vector"));
  if (method.kind == Kind::kGemmBatch && (functions.gemm_batch == nullptr || problem.batch == 1))
    return absl::UnimplementedError(Cat(method.name, ": not in the library, or not a batch"));
  return absl::OkStatus();
}

// Checks the types first, then the shape.
absl::Status CblasContender::Takes(const Problem& problem) const {
  // Only the whole product is asked for with bf16, and with an f32 result.
  const bool bf16 =
      problem.lhs_type == KIRSCH_BF16 && problem.rhs_type == KIRSCH_BF16 && problem.out_type == KIRSCH_F32;
  const KirschType inputs = method_.inputs;
  if (inputs == KIRSCH_BF16 && library_.sbgemm != nullptr && bf16) return absl::OkStatus();
  if (inputs == KIRSCH_F32 && kirsch_is_f32(&problem)) return kirsch::Takes(library_.f32, method_, problem);
  if (inputs == KIRSCH_F64 && kirsch_is_f64(&problem)) return kirsch::Takes(library_.f64, method_, problem);
  return absl::UnimplementedError("not in the library, or not these types");
}

absl::Status CblasContender::Prepare(const Workload& workload, size_t, size_t method) {
  const Problem& problem = workload.problem;
  problem_ = &problem;
  method_ = kCblasMethods[method];
  KIRSCH_RETURN_IF_ERROR(Takes(problem));
  // Lists of pointers are made here, so that a run does not pay for them.
  if (kirsch_is_f32(&problem)) f32_ = {library_.f32, problem};
  if (kirsch_is_f64(&problem)) f64_ = {library_.f64, problem};
  return absl::OkStatus();
}

// Not one of Products, whose operands have one type.
void CblasContender::Bf16Gemm(size_t batch) const {
  const Problem& p = *problem_;
  library_.sbgemm(kCblasRowMajor, Transpose(p.lhs_col), Transpose(p.rhs_col), Int(p.m), Int(p.n), Int(p.k), 1,
                  static_cast<const uint16_t*>(p.lhs) + batch * p.lhs_stride, Int(p.lda),
                  static_cast<const uint16_t*>(p.rhs) + batch * p.rhs_stride, Int(p.ldb),
                  p.accumulate ? 1 : 0, static_cast<float*>(p.out) + batch * p.out_stride, Int(p.ldc));
}

void CblasContender::Run() {
  if (method_.inputs == KIRSCH_F64) return f64_.Run(method_.kind);
  if (method_.inputs == KIRSCH_F32) return f32_.Run(method_.kind);
  for (size_t b = 0; b < problem_->batch; ++b) Bf16Gemm(b);
}

}  // namespace

std::unique_ptr<Contender> MakeCblasContender(std::vector<std::string> libraries) {
  return std::make_unique<CblasContender>(std::move(libraries));
}

}  // namespace kirsch
