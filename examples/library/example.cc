// SPDX-License-Identifier: Apache-2.0
// Makes a layer of a network for this machine while the program runs: for any number of tokens, weights
// packed once.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <kirsch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace {

// y[token] = relu(x[token] w)
constexpr size_t kMostTokens = 32, kInputs = 256, kOutputs = 512;

// Returns an element of the result's row `token`, computed slowly.
double Expected(const std::vector<float>& x, const std::vector<float>& w, size_t token, size_t output) {
  double sum = 0;
  for (size_t k = 0; k < kInputs; ++k) sum += double{x[token * kInputs + k]} * w[k * kOutputs + output];
  return std::max(sum, 0.0);
}

void Example(const std::string& table) {
  // A family: any number of tokens up to the most. The weights are constant, so they are packed.
  const std::string text = "matmul f32 1.." + std::to_string(kMostTokens) + "x" + std::to_string(kInputs) +
                           "x" + std::to_string(kOutputs) + " const-rhs epilogue=relu";
  const kirsch::Context context = kirsch::Context::Create(table).value();
  const kirsch::Request request = kirsch::Request::Parse(text).value();
  const kirsch::Solution solution = context.Solve(request).value();
  // Costs are known without code, of each member of the family.
  for (size_t tokens : {size_t{1}, kMostTokens}) {
    const kirsch_cost cost = solution.Cost({tokens}).value();
    std::printf("%s on %s, %zu tokens: %.0f cycles, %.1f GFLOP/s predicted\n", request.name().c_str(),
                solution.target().c_str(), tokens, cost.cycles, cost.gflops);
  }

  // The kernel needs no solution any more. Its packed weights are the caller's memory, 64-byte aligned.
  const kirsch::Kernel layer = solution.Compile().value();
  std::vector<float> x(kMostTokens * kInputs), w(kInputs * kOutputs), y(kMostTokens * kOutputs);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < w.size(); ++i) w[i] = std::cos(static_cast<float>(i));
  const std::unique_ptr<void, decltype(&std::free)> packed(std::aligned_alloc(64, layer.packed_bytes()),
                                                           std::free);
  // Operands are lhs, rhs and out: only the constant one is looked at.
  layer.Pack({nullptr, w.data(), nullptr}, packed.get()).value();

  // Every number of tokens is tried; the last row is compared with sums in double.
  double error = 0;
  // Each number of tokens is a member of the family, and one call.
  for (size_t tokens = 1; tokens <= kMostTokens; ++tokens) {
    layer({x.data(), nullptr, y.data()}, {tokens}, packed.get()).value();
    for (size_t output = 0; output < kOutputs; ++output)
      error =
          std::max(error, std::abs(y[(tokens - 1) * kOutputs + output] - Expected(x, w, tokens - 1, output)));
  }
  std::printf("largest error: %.1e\n", error);
}

}  // namespace

// Arguments: a file in which answers are kept, or none.
int main(int argc, char** argv) {
  try {
    Example(argc > 1 ? argv[1] : "");
  } catch (const kirsch::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
}
