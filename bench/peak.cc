#include "bench/peak.h"

#include <immintrin.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "bench/team.h"

namespace kirsch {
namespace {

// Written out, as twelve variables are sure to be twelve registers. x = x / 2 + 1 / 2 stays near 1: no
// denormals, no overflow. The empty asm statements keep the compiler from knowing that, and that the chains
// are all alike.
#define KIRSCH_TWELVE(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)

#define KIRSCH_START(i) \
  __m256 x##i = half;   \
  asm volatile("" : "+x"(x##i));
#define KIRSCH_STEP(i) x##i = _mm256_fmadd_ps(x##i, half, half);
#define KIRSCH_KEEP(i) asm volatile("" ::"x"(x##i));
__attribute__((target("avx2,fma"))) void Fma256() {
  __m256 half = _mm256_set1_ps(0.5f);
  asm volatile("" : "+x"(half));
  KIRSCH_TWELVE(KIRSCH_START)
  for (int64_t i = 0; i < static_cast<int64_t>(kPeakIterations); ++i) {
    KIRSCH_TWELVE(KIRSCH_STEP)
  }
  KIRSCH_TWELVE(KIRSCH_KEEP)
}
#undef KIRSCH_START
#undef KIRSCH_STEP
#undef KIRSCH_KEEP

#define KIRSCH_START(i) \
  __m512 x##i = half;   \
  asm volatile("" : "+v"(x##i));
#define KIRSCH_STEP(i) x##i = _mm512_fmadd_ps(x##i, half, half);
#define KIRSCH_KEEP(i) asm volatile("" ::"v"(x##i));
__attribute__((target("avx512f"))) void Fma512() {
  __m512 half = _mm512_set1_ps(0.5f);
  asm volatile("" : "+v"(half));
  KIRSCH_TWELVE(KIRSCH_START)
  for (int64_t i = 0; i < static_cast<int64_t>(kPeakIterations); ++i) {
    KIRSCH_TWELVE(KIRSCH_STEP)
  }
  KIRSCH_TWELVE(KIRSCH_KEEP)
}
#undef KIRSCH_START
#undef KIRSCH_STEP
#undef KIRSCH_KEEP
#undef KIRSCH_TWELVE

// A multiplication and not an addition: newer CPUs fold chains of additions away.
void Clock() {
  uint32_t value = 3;
  for (int64_t i = 0; i < static_cast<int64_t>(kPeakIterations); ++i)
    asm volatile("imul %0, %0" : "+r"(value)::"cc");
}

class PeakContender : public Contender {
 public:
  explicit PeakContender(int threads) : threads_(threads) {}

  absl::StatusOr<ContenderInfo> Load() override {
    if (absl::Status status = team_.Load(threads_); !status.ok()) return status;
    ContenderInfo info;
    info.name = "peak";
    for (const PeakMethod& method : kPeakMethods) info.methods.emplace_back(method.name);
    return info;
  }

  absl::Status Prepare(const Problem&, size_t, size_t method) override {
    const PeakMethod& peak = kPeakMethods[method];
    const bool has = peak.vector_bytes == 0 || (peak.vector_bytes == 32 ? __builtin_cpu_supports("avx2") &&
                                                                              __builtin_cpu_supports("fma")
                                                                        : __builtin_cpu_supports("avx512f"));
    if (!has) return absl::UnimplementedError(absl::StrCat("this CPU lacks ", peak.name));
    loop_ = peak.vector_bytes == 0 ? Clock : peak.vector_bytes == 32 ? Fma256 : Fma512;
    return absl::OkStatus();
  }

  void Run() override {
    team_.Run([loop = loop_](size_t) { loop(); });
  }

 private:
  int threads_;
  Team team_;
  void (*loop_)() = nullptr;
};

}  // namespace

std::unique_ptr<Contender> MakePeakContender(int threads) { return std::make_unique<PeakContender>(threads); }

}  // namespace kirsch
