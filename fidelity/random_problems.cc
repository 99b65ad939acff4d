// SPDX-License-Identifier: Apache-2.0
#include "fidelity/random_problems.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "search/sampling/random.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Multiplications of a problem, at most.
constexpr double kMostWork = 0x1p27;
constexpr int kRound = 16;  // a multiple of this is a size that people choose

// Draws one problem after the other from one stream of numbers, so a problem depends on those before it.
class ProblemDrawer {
 public:
  explicit ProblemDrawer(uint64_t seed) : random_(seed) {}

  std::string Draw(int number) {
    // Matmuls of f32 have two of eight turns.
    constexpr std::string (ProblemDrawer::* kKinds[])() = {
        &ProblemDrawer::F32Matmul, &ProblemDrawer::Convolution, &ProblemDrawer::TypedMatmul,
        &ProblemDrawer::Rows,      &ProblemDrawer::F32Matmul,   &ProblemDrawer::Fused,
        &ProblemDrawer::FewRows,   &ProblemDrawer::Attention};
    return (this->*kKinds[static_cast<size_t>(number) % std::size(kKinds)])();
  }

 private:
  // True once in `of` times.
  bool Chance(size_t of) { return random_.Below(of) == 0; }

  // Draws a size from 1 to `most`, log-uniform. Half of the sizes are rounded down to a multiple of kRound.
  int64_t Size(double most) {
    const double share = static_cast<double>(random_.Below(1 << 20)) / (1 << 20);
    const auto size = static_cast<int64_t>(std::exp2(share * std::log2(std::max(1.0, most))));
    return Chance(2) || size < kRound ? size : size / kRound * kRound;
  }

  // Returns "MxKxN". Each size takes its part of the work that the others have left. Any of the three may be
  // drawn first, so each may be the large one.
  std::string MatmulSizes(double most_rows) {
    double work = kMostWork;
    int64_t sizes[3] = {};
    for (size_t drawn = 0, first = random_.Below(3); drawn < 3; ++drawn) {
      const size_t place = (first + drawn) % 3;
      sizes[place] = Size(std::min({work, 4096.0, place == 0 ? most_rows : 4096.0}));
      work /= static_cast<double>(sizes[place]);
    }
    return Cat(sizes[0], "x", sizes[1], "x", sizes[2]);
  }

  // Layout, constant weights and accumulation, each by chance.
  std::string MatmulOptions() {
    return Cat(Chance(3) ? " rhs=col" : "", Chance(3) ? " const-rhs" : "", Chance(6) ? " accumulate" : "");
  }

  // Any sizes; one of eight is a batch.
  std::string F32Matmul() {
    return Cat("matmul f32 ", Chance(8) ? Cat(2 + Size(16), ":") : std::string(), MatmulSizes(4096),
               Chance(8) ? " lhs=col" : "", MatmulOptions());
  }

  std::string TypedMatmul() {
    constexpr std::string_view kTypes[] = {"bf16*bf16->f32", "u8*s8->s32", "f64", "s8*s8->s32",
                                           "f32*bf16->f32"};
    return Cat("matmul ", kTypes[random_.Below(std::size(kTypes))], " ", MatmulSizes(4096), MatmulOptions());
  }

  // At most 16 rows, so that most problems have more weights than anything else.
  std::string FewRows() {
    constexpr std::string_view kTypes[] = {"f32", "f32", "bf16*bf16->f32", "u8*s8->s32"};
    return Cat("matmul ", kTypes[random_.Below(std::size(kTypes))], " ", MatmulSizes(16), MatmulOptions());
  }

  // Odd kernels from 1x1 to 5x5, one in four depthwise. Channels and filters share the work that pixels
  // leave. One in five has channels in blocks.
  std::string Convolution() {
    const int64_t kernel = 1 + 2 * static_cast<int64_t>(random_.Below(3)), side = kernel + Size(100);
    const double pixels = static_cast<double>(side * side), taps = static_cast<double>(kernel * kernel);
    const bool depthwise = Chance(4);
    const int64_t block = Chance(5) ? 8 << random_.Below(2) : 1;
    const auto whole = [&](int64_t size) { return std::max(block, size / block * block); };
    const int64_t channels = whole(Size(std::min(512.0, kMostWork / pixels / taps)));
    const double left = kMostWork / pixels / taps / static_cast<double>(channels);
    const int64_t filters = depthwise ? channels : whole(Size(std::min(512.0, left)));
    const std::string layout = block > 1 ? Cat("nchw", block, "c") : Chance(2) ? "nhwc" : "nchw";
    return Cat("conv2d f32 1x", channels, "x", side, "x", side, " filters=", filters, " kernel=", kernel, "x",
               kernel, " stride=", 1 + random_.Below(2), " pad=", kernel / 2,
               depthwise ? Cat(" groups=", channels) : std::string(), " layout=", layout);
  }

  // "RxC" of rows.
  std::string RowSizes() {
    const int64_t columns = Size(1 << 16);
    return Cat(Size(std::min(4096.0, 0x1p22 / static_cast<double>(columns))), "x", columns);
  }

  std::string Rows() {
    constexpr std::string_view kVerbs[] = {"softmax", "layernorm", "rmsnorm"};
    return Cat(kVerbs[random_.Below(std::size(kVerbs))], " f32 ", RowSizes());
  }

  // A matmul with what follows it: a softmax, a bias and gelu, or a product of two matmuls.
  std::string Fused() {
    const int64_t rows = Size(512), depth = Size(2048);
    const int64_t columns = Size(std::min(2048.0, kMostWork / static_cast<double>(rows * depth)));
    const std::string weights = Cat(Chance(2) ? "const " : "", "f32[", depth, ",", columns, "]");
    const std::string head = Cat("kernel drawn(x: f32[", rows, ",", depth, "], w: ", weights);
    if (Chance(3)) return Cat(head, "):\n  return softmax(matmul(x, w))");
    if (Chance(2)) return Cat(head, ", b: f32[", columns, "]):\n  return gelu(add(matmul(x, w), b))");
    return Cat(head, ", v: ", weights, "):\n  return mul(silu(matmul(x, w)), matmul(x, v))");
  }

  std::string Attention() {
    const int64_t tokens = 1 + Size(512), dim = 1 + Size(128);
    return Cat("attention f32 heads=", 1 + random_.Below(8), " tokens=", tokens, " dim=", dim);
  }

  Random random_;
};

}  // namespace

std::vector<std::string> DrawProblems(int count, uint64_t seed) {
  ProblemDrawer drawer(seed);
  std::vector<std::string> problems;
  for (int i = 0; i < count; ++i) problems.push_back(drawer.Draw(i));
  return problems;
}

}  // namespace kirsch
