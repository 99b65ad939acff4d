#include "bench/cblas.h"

#include <cstdint>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bench/library.h"

namespace kirsch {
namespace {

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

enum Method { kGemm, kGemv, kGemmBatch, kBf16Gemm };

CblasTranspose Transpose(int col) { return col ? kCblasTrans : kCblasNoTrans; }
int Int(size_t value) { return static_cast<int>(value); }
float Beta(const Problem& p) { return p.accumulate ? 1.0f : 0.0f; }

class CblasContender : public Contender {
 public:
  explicit CblasContender(std::vector<std::string> libraries) : libraries_(std::move(libraries)) {}

  absl::StatusOr<ContenderInfo> Load() override;
  absl::Status Prepare(const Problem& problem, size_t item, size_t method) override;
  void Run() override;

 private:
  void DescribeOpenBlas(const char* config, ContenderInfo& info) const;
  void DescribeBlis(const char* version, ContenderInfo& info) const;
  void DescribeMkl(ContenderInfo& info) const;
  absl::Status Takes(const Problem& problem) const;
  void Gemv(size_t batch) const;
  void GemmBatch();
  void Gemm(size_t batch) const;
  void Bf16Gemm(size_t batch) const;

  std::vector<std::string> libraries_;
  void* library_ = nullptr;
  SgemmFn* sgemm_ = nullptr;
  SbgemmFn* sbgemm_ = nullptr;
  SgemvFn* sgemv_ = nullptr;
  SgemmBatchFn* sgemm_batch_ = nullptr;
  const Problem* problem_ = nullptr;
  Method method_ = kGemm;
  std::vector<const float*> batch_lhs_, batch_rhs_;
  std::vector<float*> batch_out_;
};

// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
void CblasContender::DescribeOpenBlas(const char* config, ContenderInfo& info) const {
  const std::vector<std::string> words = absl::StrSplit(config, ' ');
  info.name = absl::StrCat("openblas ", words.size() > 1 ? words[1] : "?");
  if (auto* core = Symbol<const char*()>(library_, "openblas_get_corename")) info.core = core();
  // On a CPU it does not know it silently takes a lesser core type, so every type is tried.
  for (const char* core : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"})
    info.alternatives.push_back(absl::StrCat("OPENBLAS_CORETYPE=", core));
}

void CblasContender::DescribeBlis(const char* version, ContenderInfo& info) const {
  info.name = absl::StrCat("blis ", version);
  auto* arch = Symbol<int()>(library_, "bli_arch_query_id");
  auto* arch_name = Symbol<const char*(int)>(library_, "bli_arch_string");
  if (arch == nullptr || arch_name == nullptr) return;
  info.core = arch_name(arch());
  // The variable holds a number that differs between versions; "generic" is the last of them.
  constexpr int kMaxArchs = 64;
  for (int id = 0; id < kMaxArchs; ++id) {
    const std::string name = arch_name(id);
    if (name == "generic") break;
    if (name == "skx" || name == "haswell" || name.starts_with("zen"))
      info.alternatives.push_back(absl::StrCat("BLIS_ARCH_TYPE=", id));
  }
}

void CblasContender::DescribeMkl(ContenderInfo& info) const {
  char version[256] = "mkl ?";
  Symbol<void(char*, int)>(library_, "MKL_Get_Version_String")(version, sizeof(version) - 1);
  info.name = "mkl";
  const std::vector<std::string> words = absl::StrSplit(version, ' ', absl::SkipEmpty());
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "Version") info.name = absl::StrCat("mkl ", words[i + 1]);
  info.alternatives = {"MKL_ENABLE_INSTRUCTIONS=AVX2", "MKL_ENABLE_INSTRUCTIONS=AVX512"};
  if (const char* forced = std::getenv("MKL_ENABLE_INSTRUCTIONS")) info.core = forced;
}

absl::StatusOr<ContenderInfo> CblasContender::Load() {
  const absl::StatusOr<void*> library = OpenLibrary(libraries_);
  if (!library.ok()) return library.status();
  library_ = *library;
  sgemm_ = Symbol<SgemmFn>(library_, "cblas_sgemm");
  sbgemm_ = Symbol<SbgemmFn>(library_, "cblas_sbgemm");
  sgemv_ = Symbol<SgemvFn>(library_, "cblas_sgemv");
  sgemm_batch_ = Symbol<SgemmBatchFn>(library_, "cblas_sgemm_batch");
  if (sgemm_ == nullptr) return absl::NotFoundError(absl::StrCat(libraries_[0], ": no cblas_sgemm in it"));
  ContenderInfo info;
  info.name = std::filesystem::path(libraries_[0]).filename().string();
  info.methods = {"cblas_sgemm", "cblas_sgemv", "cblas_sgemm_batch", "cblas_sbgemm"};
  if (auto* config = Symbol<const char*()>(library_, "openblas_get_config"))
    DescribeOpenBlas(config(), info);
  else if (auto* version = Symbol<const char*()>(library_, "bli_info_get_version_str"))
    DescribeBlis(version(), info);
  else if (Symbol<void()>(library_, "MKL_Get_Version_String") != nullptr)
    DescribeMkl(info);
  return info;
}

// Whether the method exists, and is for this problem.
absl::Status CblasContender::Takes(const Problem& problem) const {
  const bool bf16 =
      problem.lhs_type == KIRSCH_BF16 && problem.rhs_type == KIRSCH_BF16 && problem.out_type == KIRSCH_F32;
  if (method_ == kBf16Gemm ? sbgemm_ == nullptr || !bf16 : !kirsch_is_f32(&problem))
    return absl::UnimplementedError("not in the library, or not these types");
  if (method_ == kGemv && (sgemv_ == nullptr || (problem.m > 1 && problem.n > 1)))
    return absl::UnimplementedError("cblas_sgemv: not a product with a vector");
  if (method_ == kGemmBatch && (sgemm_batch_ == nullptr || problem.batch == 1))
    return absl::UnimplementedError("cblas_sgemm_batch: not in the library, or not a batch");
  return absl::OkStatus();
}

absl::Status CblasContender::Prepare(const Problem& problem, size_t, size_t method) {
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
    sgemv_(kCblasRowMajor, Transpose(!p.rhs_col), Int(p.rhs_col ? p.n : p.k), Int(p.rhs_col ? p.k : p.n), 1,
           rhs, Int(p.ldb), lhs, step, Beta(p), out, 1);
  } else {
    const int step = p.rhs_col ? 1 : Int(p.ldb);
    sgemv_(kCblasRowMajor, Transpose(p.lhs_col), Int(p.lhs_col ? p.k : p.m), Int(p.lhs_col ? p.m : p.k), 1,
           lhs, Int(p.lda), rhs, step, Beta(p), out, Int(p.ldc));
  }
}

void CblasContender::GemmBatch() {
  const Problem& p = *problem_;
  const CblasTranspose trans_lhs = Transpose(p.lhs_col), trans_rhs = Transpose(p.rhs_col);
  const int m = Int(p.m), n = Int(p.n), k = Int(p.k), size = Int(p.batch);
  const int lda = Int(p.lda), ldb = Int(p.ldb), ldc = Int(p.ldc);
  const float alpha = 1, beta = Beta(p);
  sgemm_batch_(kCblasRowMajor, &trans_lhs, &trans_rhs, &m, &n, &k, &alpha, batch_lhs_.data(), &lda,
               batch_rhs_.data(), &ldb, &beta, batch_out_.data(), &ldc, 1, &size);
}

void CblasContender::Gemm(size_t batch) const {
  const Problem& p = *problem_;
  sgemm_(kCblasRowMajor, Transpose(p.lhs_col), Transpose(p.rhs_col), Int(p.m), Int(p.n), Int(p.k), 1,
         batch_lhs_[batch], Int(p.lda), batch_rhs_[batch], Int(p.ldb), Beta(p), batch_out_[batch],
         Int(p.ldc));
}

void CblasContender::Bf16Gemm(size_t batch) const {
  const Problem& p = *problem_;
  sbgemm_(kCblasRowMajor, Transpose(p.lhs_col), Transpose(p.rhs_col), Int(p.m), Int(p.n), Int(p.k), 1,
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
