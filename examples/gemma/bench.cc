// SPDX-License-Identifier: Apache-2.0
// Compares gemma.cpp's matrix products, autotuned on each of its targets, with Kirsch's. They take turns in
// one process. Prints GFLOP/s, and how far apart the results are. The shapes are those of Gemma 2 2B.
//
//     bench [THREADS [ROUNDS]]
//
// The first part is compiled once for each of Highway's targets (foreach_target.h); the rest once.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compression/types.h"
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS GEMMA_DISABLED_TARGETS
#endif

#include "matmul.h"
#include "ops/matmul.h"
#include "util/threading_context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After highway.h
#include "compression/compress-inl.h"
#include "ops/matmul-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gcpp {
namespace HWY_NAMESPACE {

// Writes rows of `values` to the matrix, in its type.
template <typename T>
void Fill(const std::vector<float>& values, MatPtrT<T>& mat, MatMulEnv& env) {
  CompressWorkingSet work;
  work.tls.resize(env.ctx.pools.MaxWorkers());
  for (size_t row = 0; row < mat.Rows(); ++row)
    Compress(values.data() + row * mat.Cols(), mat.Cols(), work.tls[0], MakeSpan(mat.Row(row), mat.Cols()),
             0);
}
void FillBf16(const std::vector<float>& values, MatPtrT<BF16>& mat, MatMulEnv& env) {
  Fill(values, mat, env);
}
void FillSfp(const std::vector<float>& values, MatPtrT<SfpStream>& mat, MatMulEnv& env) {
  Fill(values, mat, env);
}

// Multiply once. True if autotuning has found its configuration for this shape.
bool TunedBf16(const MatPtrT<BF16>& a, const MatPtrT<BF16>& b, MatMulEnv& env, MatPtrT<float>& c) {
  return MatMul(a, b, nullptr, env, c)->autotune.Best() != nullptr;
}
bool TunedSfp(const MatPtrT<BF16>& a, const MatPtrT<SfpStream>& b, MatMulEnv& env, MatPtrT<float>& c) {
  return MatMul(a, b, nullptr, env, c)->autotune.Best() != nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace gcpp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gcpp {
namespace {

HWY_EXPORT(FillBf16);
HWY_EXPORT(FillSfp);
HWY_EXPORT(TunedBf16);
HWY_EXPORT(TunedSfp);

// Call the function for the best target of this CPU.
void FillMat(const std::vector<float>& values, MatPtrT<BF16>& mat, MatMulEnv& env) {
  HWY_DYNAMIC_DISPATCH(FillBf16)(values, mat, env);
}
void FillMat(const std::vector<float>& values, MatPtrT<SfpStream>& mat, MatMulEnv& env) {
  HWY_DYNAMIC_DISPATCH(FillSfp)(values, mat, env);
}

// Computes one product by gemma.cpp. True if its configuration is settled.
bool Theirs(const MatPtrT<BF16>& a, const MatPtrT<BF16>& b, MatMulEnv& env, MatPtrT<float>& c) {
  return HWY_DYNAMIC_DISPATCH(TunedBf16)(a, b, env, c);
}
bool Theirs(const MatPtrT<BF16>& a, const MatPtrT<SfpStream>& b, MatMulEnv& env, MatPtrT<float>& c) {
  return HWY_DYNAMIC_DISPATCH(TunedSfp)(a, b, env, c);
}

// One of those that are compared, with the seconds of each round.
struct Contender {
  std::string name;
  std::function<bool()> run;  // once; whether its configuration is settled
  std::vector<double> seconds;
};

double Seconds(const std::function<bool()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Returns the value below which so large a share of the values lies.
double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

// Prints medians, how far the middle half of the rounds spreads, and the ratio of the best of theirs to ours,
// the last one.
void Report(const std::string& title, double flops, const std::vector<Contender>& contenders, double error) {
  std::printf("%s: largest difference %.1e of the largest result\n", title.c_str(), error);
  double best = INFINITY;
  for (const Contender& contender : contenders) {
    const double median = Quantile(contender.seconds, 0.5);
    std::printf("  %-12s %8.1f GFLOP/s  spread %4.1f%%", contender.name.c_str(), flops / median * 1e-9,
                100 * (Quantile(contender.seconds, 0.75) - Quantile(contender.seconds, 0.25)) / median);
    if (&contender == &contenders.back()) std::printf("  ratio %.3f", best / median);
    std::puts("");
    best = std::min(best, median);
  }
  std::fflush(stdout);
}

// Returns numbers in (-size, size), the same in each run of the program.
std::vector<float> Random(size_t count, float size) {
  static std::mt19937 random;
  std::uniform_real_distribution<float> distribution(-size, size);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

// Returns the largest difference as a share of the largest result.
double LargestDifference(const MatPtrT<float>& a, const MatPtrT<float>& b) {
  double worst = 0, largest = 0;
  for (size_t row = 0; row < a.Rows(); ++row) {
    for (size_t column = 0; column < a.Cols(); ++column) {
      worst = std::max(worst, std::abs(double{a.Row(row)[column]} - b.Row(row)[column]));
      largest = std::max(largest, std::abs(double{a.Row(row)[column]}));
    }
  }
  return worst / largest;
}

// So many copies of the weights take turns that they come from RAM, as they do in a model.
constexpr size_t kCopies = 6;

// Compares all contenders for one shape and one type of weights.
template <typename Weights>
void Bench(const std::string& type, size_t m, size_t k, size_t n, size_t threads, int rounds) {
  // Threads are not pinned, neither theirs nor ours.
  ThreadingArgs args;
  args.max_threads = threads;
  args.pin = Tristate::kFalse;
  ThreadingContext ctx(args);
  MatMulEnv env(ctx);
  MatStorageT<BF16> a("a", Extents2D(m, k), ctx.allocator, MatPadding::kOdd);
  FillMat(Random(m * k, 1), a, env);
  std::vector<MatStorageT<Weights>> b;
  for (size_t copy = 0; copy < kCopies; ++copy) {
    b.emplace_back("b", Extents2D(n, k), ctx.allocator, MatPadding::kOdd);
    FillMat(Random(n * k, 1), b.back(), env);
    b.back().SetScale(0.6f);
  }
  MatStorageT<float> theirs("theirs", Extents2D(m, n), ctx.allocator, MatPadding::kOdd);
  MatStorageT<float> ours("ours", Extents2D(m, n), ctx.allocator, MatPadding::kOdd);
  theirs.AllocateAndAttachRowPtrs(env.row_ptrs);

  // One contender for each of gemma.cpp's targets; ours is the last.
  products::WeightsByAddress known(products::Products::OfProcess());
  products::Workers workers(threads);
  size_t copy = 0;
  std::vector<std::unique_ptr<MatMulEnv>> envs;  // of each target: what was tuned for another is not used
  std::vector<Contender> contenders;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    envs.push_back(std::make_unique<MatMulEnv>(ctx));
    contenders.push_back({hwy::TargetName(target),
                          [&, target, own = envs.back().get()] {
                            hwy::SetSupportedTargetsForTest(target);
                            return Theirs(a, b[copy], *own, theirs);
                          },
                          {}});
  }
  contenders.push_back({"Kirsch",
                        [&] {
                          kirsch_gemma::MatMul(a, b[copy], ours, known, workers).value();
                          return true;
                        },
                        {}});
  // Untimed at first, until autotuning has ended; ours is searched for and compiled then.
  for (Contender& contender : contenders)
    while (!contender.run()) copy = (copy + 1) % kCopies;
  // Other weights each time: those of the round before have left the caches.
  for (int round = 0; round < rounds; ++round) {
    for (Contender& contender : contenders) {
      copy = (copy + 1) % kCopies;
      contender.seconds.push_back(Seconds(contender.run));
    }
  }
  // Results are compared at last, both of the same weights.
  hwy::SetSupportedTargetsForTest(0);
  contenders.front().run();  // of the same weights as ours
  contenders.back().run();
  Report(type + " " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
         2.0 * double(m) * double(k) * double(n), contenders, LargestDifference(theirs, ours));
}

}  // namespace
}  // namespace gcpp

int main(int argc, char** argv) {
  const size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  try {
    // A token of generation and 64 of a prompt, by the two matrices of a feed-forward layer.
    for (const size_t m : {1, 64}) {
      for (const auto& [k, n] : {std::pair<size_t, size_t>{2304, 9216}, {9216, 2304}}) {
        gcpp::Bench<gcpp::BF16>("bf16", m, k, n, threads, rounds);
        gcpp::Bench<gcpp::SfpStream>("sfp", m, k, n, threads, rounds);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s\n", error.what());
    return 1;
  }
}
#endif  // HWY_ONCE
