// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/bandwidth.h"

#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "bench/machine/team.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Bytes of a stream's step: a line, by two loads.
constexpr size_t kReadBytes = 64;
constexpr size_t kMaxStreams = 8;
constexpr size_t kPrefetchBytes = 2048;  // ahead; half a page either way makes no difference
// Bytes that a thread reads in one Run.
constexpr size_t kRunBytesPerThread = size_t{32} << 20;
constexpr size_t kMinBuffer = size_t{64} << 20, kMaxBuffer = size_t{512} << 20;

// Reads `bytes` from `begin` in as many streams, each through a contiguous part of them. Both are known at
// compile time, so that the inner loop is unrolled and has no branch.
template <int streams, bool prefetch>
__attribute__((target("avx2"))) void Read(const char* begin, size_t bytes) {
  // Stream i reads from begin + i * part on; a step reads a line of each stream.
  const size_t part = bytes / streams;
  __m256i even = _mm256_setzero_si256(), odd = even;
  for (size_t at = 0; at < part; at += kReadBytes) {
    for (int stream = 0; stream < streams; ++stream) {
      const char* line = begin + static_cast<size_t>(stream) * part + at;
      if (prefetch) _mm_prefetch(line + kPrefetchBytes, _MM_HINT_T0);
      even = _mm256_or_si256(even, _mm256_load_si256(reinterpret_cast<const __m256i*>(line)));
      odd = _mm256_or_si256(odd, _mm256_load_si256(reinterpret_cast<const __m256i*>(line) + 1));
    }
  }
  // The values go nowhere, but the compiler must not see that.
  asm volatile("" ::"x"(even), "x"(odd));
}

using ReadFn = void(const char* begin, size_t bytes);

template <int streams>
ReadFn* Reader(bool prefetch) {
  return prefetch ? Read<streams, true> : Read<streams, false>;
}

// Picks the instance for a method; streams are as BandwidthMethods has them.
ReadFn* Reader(const BandwidthMethod& method) {
  switch (method.streams) {
    case 1:
      return Reader<1>(method.prefetch);
    case 2:
      return Reader<2>(method.prefetch);
    case 4:
      return Reader<4>(method.prefetch);
    default:
      return Reader<8>(method.prefetch);
  }
}

// Reads the whole buffer in turns, a part of it each Run.
class BandwidthContender : public Contender {
 public:
  BandwidthContender(int threads, size_t buffer_bytes)
      : threads_(threads), buffer_bytes_(buffer_bytes), methods_(BandwidthMethods(threads)) {}

  ~BandwidthContender() override {
    if (buffer_ != nullptr) munmap(buffer_, buffer_bytes_);
  }

  // The pages are small ones, as the operands' are.
  absl::StatusOr<ContenderInfo> Load() override {
    KIRSCH_RETURN_IF_ERROR(team_.Load(threads_));
    if (!__builtin_cpu_supports("avx2")) return absl::NotFoundError("this CPU lacks avx2");
    void* memory = mmap(nullptr, buffer_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return absl::ResourceExhaustedError("no memory to read from");
    buffer_ = static_cast<char*>(memory);
    madvise(buffer_, buffer_bytes_, MADV_NOHUGEPAGE);
    std::memset(buffer_, 1, buffer_bytes_);  // else every page is the same one, of zeros
    ContenderInfo info;
    info.name = "bandwidth";
    for (const BandwidthMethod& method : methods_)
      info.methods.push_back(Cat(method.threads, " threads, ", method.streams, " streams"));
    return info;
  }

  absl::Status Prepare(const Workload&, size_t, size_t method) override {
    method_ = methods_[method];
    run_bytes_ = BandwidthBytesPerRun(method_, buffer_bytes_);
    read_ = Reader(method_);
    return absl::OkStatus();
  }

  void Run() override {
    // Goes round the buffer, which is larger than the caches.
    if (next_ + run_bytes_ > buffer_bytes_) next_ = 0;
    const char* begin = buffer_ + next_;
    // Each thread reads a contiguous share.
    const size_t share = run_bytes_ / static_cast<size_t>(method_.threads);
    if (method_.threads == 1)
      read_(begin, share);
    else
      team_.Run([this, begin, share](size_t thread) { read_(begin + thread * share, share); });
    next_ += run_bytes_;
  }

 private:
  int threads_;
  size_t buffer_bytes_;
  std::vector<BandwidthMethod> methods_;
  Team team_;
  char* buffer_ = nullptr;
  size_t next_ = 0;  // where the next Run() goes on
  BandwidthMethod method_ = {};
  size_t run_bytes_ = 0;
  ReadFn* read_ = nullptr;
};

}  // namespace

std::vector<BandwidthMethod> BandwidthMethods(int threads) {
  std::vector<BandwidthMethod> methods;
  // One reader, then all of them; with one thread that is the same.
  for (int readers = 1;; readers = threads) {
    for (int streams : {1, 2, 4, 8})
      for (bool prefetch : {false, true}) methods.push_back({readers, streams, prefetch});
    if (readers == threads) return methods;
  }
}

size_t BandwidthBufferBytes(const std::vector<CacheInfo>& caches) {
  int64_t largest = 0;
  for (const CacheInfo& cache : caches) largest = std::max(largest, cache.bytes);
  return std::clamp(4 * static_cast<size_t>(largest), kMinBuffer, kMaxBuffer);
}

size_t BandwidthBytesPerRun(const BandwidthMethod& method, size_t buffer_bytes) {
  const size_t threads = static_cast<size_t>(method.threads);
  const size_t unit = threads * kMaxStreams * kReadBytes;  // whole lines for each stream of each thread
  return std::min(threads * kRunBytesPerThread, buffer_bytes) / unit * unit;
}

std::unique_ptr<Contender> MakeBandwidthContender(int threads, size_t buffer_bytes) {
  return std::make_unique<BandwidthContender>(threads, buffer_bytes);
}

}  // namespace kirsch
