// SPDX-License-Identifier: Apache-2.0
// Compares products of a few shapes and types with plain sums: any number of rows and threads, rows with
// gaps.
#include "products.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace products {
namespace {

// Returns small numbers that bf16 has exactly, another each time.
float Next() {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(static_cast<int>(state >> 24) - 128) / 64;
}

// The upper half of each.
std::vector<uint16_t> Bf16(const std::vector<float>& values) {
  std::vector<uint16_t> halves(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, &values[i], sizeof bits);
    halves[i] = static_cast<uint16_t>(bits >> 16);
  }
  return halves;
}

// Blocks of q8_0 whose scale is 1/64, and so these very values.
std::vector<uint8_t> Q8(const std::vector<float>& values) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % 32 == 0) bytes.insert(bytes.end(), {0x00, 0x24});  // 2^-6 as f16
    bytes.push_back(static_cast<uint8_t>(static_cast<int>(values[i] * 64)));
  }
  return bytes;
}

// A shape and how far its results may be off.
struct Case {
  Shape shape;
  double tolerance;  // of the sum of absolute products
};

// Returns the largest difference from plain sums as a share of what is allowed; 2 if what is between rows was
// touched.
double Errors(const Case& test, const Product& product, const std::vector<float>& weights, const void* packed,
              size_t rows, size_t threads) {
  const Shape& shape = test.shape;
  std::vector<float> lhs(rows * shape.lda), out(rows * shape.ldc, 7);
  for (float& value : lhs) value = Next();
  Workers workers(threads);
  const float factor = shape.scaled ? 0.5f : 1;
  // What lies between the rows of the result is 7 before the call, and has to be 7 after it.
  product.Run(rows, lhs.data(), packed, out.data(), workers, factor).value();
  double worst = 0;
  for (size_t m = 0; m < rows; ++m) {
    for (size_t n = 0; n < shape.ldc; ++n) {
      double sum = n < shape.n ? 0 : 7, size = 0;
      for (size_t k = 0; n < shape.n && k < shape.k; ++k) {
        const double term = factor * double{lhs[m * shape.lda + k]} * weights[n * shape.ldb + k];
        sum += term, size += std::abs(term);
      }
      const double error = std::abs(out[m * shape.ldc + n] - sum);
      worst = std::max(worst, error == 0 ? 0 : size == 0 ? 2 : error / (size * test.tolerance));
    }
  }
  return worst;
}

// Packs random weights of the shape's type, then tries numbers of rows around a piece, and more threads than
// there are pieces of columns.
bool Passes(const Case& test, Products& products) {
  const Shape& shape = test.shape;
  const Product& product = *products.Find(shape).value();
  std::vector<float> weights(shape.n * shape.ldb);
  for (float& value : weights) value = Next();
  Memory packed(product.packed_bytes());
  const void* bytes = weights.data();
  const std::vector<uint16_t> halves = Bf16(weights);
  const std::vector<uint8_t> blocks = Q8(weights);
  if (shape.weights == KIRSCH_BF16) bytes = halves.data();
  if (shape.weights == KIRSCH_Q8_0) bytes = blocks.data();
  product.Pack(bytes, packed.data()).value();
  for (const size_t rows : {1, 2, 7, 33, 512, 515}) {
    for (const size_t threads : {1, 2, 5}) {
      const double worst = Errors(test, product, weights, packed.data(), rows, threads);
      if (worst <= 1) continue;
      std::printf("%s, %zu rows, %zu threads: %.2f of the error allowed\n", shape.Text().c_str(), rows,
                  threads, worst);
      return false;
    }
  }
  return true;
}

int Test() {
  Products products("");
  // Dense f32; rows with gaps; one row, scaled; bf16; and blocks, whose activations are rounded to 8 bits.
  const std::vector<Case> cases = {
      {Shape::Dense(KIRSCH_F32, 96, 200), 1e-6},
      {{KIRSCH_F32, KIRSCH_F32, KIRSCH_F32, 96, 70, 100, 112, 80}, 1e-6},
      {{KIRSCH_F32, KIRSCH_F32, KIRSCH_F32, 96, 70, 96, 96, 70, 1, true}, 1e-6},
      {Shape::Dense(KIRSCH_BF16, 96, 200), 1e-6},
      {Shape::Dense(KIRSCH_Q8_0, 128, 200), 0.02},
  };
  bool passed = true;
  for (const Case& test : cases) passed &= Passes(test, products);
  Shape strange = Shape::Dense(KIRSCH_Q8_0, 33, 64);  // no whole blocks
  if (products.Find(strange).ok()) passed = false, std::puts("rows that are no whole blocks were taken");
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace products

int main() {
  try {
    return products::Test();
  } catch (const kirsch::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
}
