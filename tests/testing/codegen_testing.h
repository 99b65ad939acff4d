// SPDX-License-Identifier: Apache-2.0
// What the code generator's tests share: targets, program trees, integer data and a naive result.
#ifndef KIRSCH_TESTS_TESTING_CODEGEN_TESTING_H_
#define KIRSCH_TESTS_TESTING_CODEGEN_TESTING_H_

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codegen/llvm/host_cpu.h"
#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "rewrites/spec/rewrite.h"
#include "spec/impl.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch::testing {

// A target with plausible caches, for the code generator's purposes.
inline Target TestTarget(bool avx512) {
  Target target;
  target.name = avx512 ? "test-avx512" : "test-avx2";
  target.cpu = avx512 ? "znver4" : "haswell";
  target.features = {"avx2", "fma"};
  if (avx512) target.features.insert(target.features.end(), {"avx512f", "avx512vl"});
  VectorUnit unit;
  unit.registers = avx512 ? 32 : 16;
  unit.masks = avx512;
  unit.loads_per_cycle = 2;
  unit.stores_per_cycle = 1;
  for (int bytes : {64, 32}) {
    if (bytes == 64 && !avx512) continue;
    unit.bytes = bytes;
    unit.fma_per_cycle = bytes == 64 ? 1 : 2;
    target.vectors.push_back(unit);
  }
  target.memory[Index(Level::kL1)].bytes = 32 << 10;
  target.memory[Index(Level::kL2)].bytes = 1 << 20;
  target.memory[Index(Level::kL3)].bytes = 16 << 20;
  target.memory[Index(Level::kRam)].bytes = int64_t{1} << 40;
  return target;
}

inline bool HostRuns(const Target& target) { return MissingOnHost(target.features).empty(); }

struct Matmul {
  uint32_t m = 1, k = 1, n = 1, batch = 1;
  Order lhs = Order::kRow, rhs = Order::kRow;
  uint32_t gap = 0;  // elements between the end of a row (or column) and the next
  bool accumulate = false;
  Level level = Level::kRam;
};

inline Spec MakeSpec(const Matmul& matmul) {
  Spec spec;
  spec.accumulate = matmul.accumulate;
  spec.size[MatmulDims::kB] = matmul.batch;
  spec.size[MatmulDims::kM] = matmul.m;
  spec.size[MatmulDims::kK] = matmul.k;
  spec.size[MatmulDims::kN] = matmul.n;
  spec.operand[MatmulDims::kLhs].layout.order = matmul.lhs;
  spec.operand[MatmulDims::kRhs].layout.order = matmul.rhs;
  for (int operand = 0; operand < 3; ++operand) {
    TensorSpec& tensor = spec.tensor(operand);
    tensor.level = matmul.level;
    tensor.layout.ld = static_cast<uint32_t>(ExtentOf(spec, operand).inner) + matmul.gap;
  }
  return spec;
}

// Decides what to do with a spec.
using Chooser = std::function<Decision(const Spec&)>;

inline Impl BuildImpl(const Spec& spec, const Target& target, const Chooser& choose) {
  Impl impl{spec, choose(spec), {}};
  Expansion expansion;
  Expand(spec, impl.decision, target, &expansion);
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    impl.children.push_back({child.trips, BuildImpl(child.spec, target, choose)});
  }
  return impl;
}

inline Decision Microkernel() {
  Decision decision;
  decision.kind = RewriteKind::kMicrokernel;
  return decision;
}

inline Decision IntoRegisters(LayoutKind form, int lanes) {
  Decision decision;
  decision.kind = RewriteKind::kMove;
  decision.operand = MatmulDims::kOut;
  decision.level = Level::kVrf;
  decision.layout.kind = form;
  decision.layout.panel = static_cast<uint8_t>(lanes);
  return decision;
}

inline Decision PackInto(int operand, Order order, int panel) {
  Decision decision;
  decision.kind = RewriteKind::kPack;
  decision.operand = static_cast<uint8_t>(operand);
  decision.level = Level::kL1;
  decision.layout.kind = LayoutKind::kPacked;
  decision.layout.order = order;
  decision.layout.panel = static_cast<uint8_t>(panel);
  return decision;
}

inline Decision Tile(int dim, uint32_t size) {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = static_cast<uint8_t>(dim);
  decision.size = size;
  return decision;
}

// The decisions in turn on the way down; every branch takes the same ones.
inline Impl Chain(const Spec& spec, const Target& target, const std::vector<Decision>& decisions,
                  size_t next = 0) {
  Impl impl{spec, decisions[next], {}};
  Expansion expansion;
  Expand(spec, impl.decision, target, &expansion);
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    impl.children.push_back({child.trips, Chain(child.spec, target, decisions, next + 1)});
  }
  return impl;
}

// An operand's memory, 64-byte aligned plus `misalign` elements; gaps between rows hold kGap.
class Matrix {
 public:
  static constexpr float kGap = -77777;

  Matrix(const Spec& spec, int operand, int seed)
      : extent_(ExtentOf(spec, operand)),
        ld_(spec.tensor(operand).layout.ld),
        row_(spec.tensor(operand).layout.order == Order::kRow),
        data_(static_cast<size_t>(extent_.batch * extent_.outer * ld_), kGap) {
    uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 12345u;
    for (int64_t run = 0; run < extent_.batch * extent_.outer; ++run)
      for (int64_t inner = 0; inner < extent_.inner; ++inner) {
        state = state * 1664525u + 1013904223u;
        data_[static_cast<size_t>(run * ld_ + inner)] = static_cast<float>(static_cast<int>(state >> 28) - 8);
      }
  }

  float& at(int64_t batch, int64_t row, int64_t column) {
    const int64_t outer = row_ ? row : column, inner = row_ ? column : row;
    return data_[static_cast<size_t>((batch * extent_.outer + outer) * ld_ + inner)];
  }
  std::vector<float>& data() { return data_; }

 private:
  TileExtent extent_;
  int64_t ld_;
  bool row_;
  std::vector<float> data_;
};

inline void NaiveMatmul(const Spec& spec, Matrix& lhs, Matrix& rhs, Matrix& out) {
  for (uint32_t b = 0; b < spec.size[MatmulDims::kB]; ++b)
    for (uint32_t m = 0; m < spec.size[MatmulDims::kM]; ++m)
      for (uint32_t n = 0; n < spec.size[MatmulDims::kN]; ++n) {
        float sum = spec.accumulate ? out.at(b, m, n) : 0;
        for (uint32_t k = 0; k < spec.size[MatmulDims::kK]; ++k) sum += lhs.at(b, m, k) * rhs.at(b, k, n);
        out.at(b, m, n) = sum;
      }
}

// Scratch memory full of NaN.
class Scratch {
 public:
  explicit Scratch(int64_t bytes) {
    const size_t size = static_cast<size_t>((bytes + 63) / 64 * 64);
    if (size == 0) return;
    memory_ = static_cast<float*>(std::aligned_alloc(64, size));
    for (size_t i = 0; i < size / sizeof(float); ++i) memory_[i] = __builtin_nanf("");
  }
  ~Scratch() { std::free(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() { return memory_; }

 private:
  float* memory_ = nullptr;
};

// Runs `kernel` with all threads one after another; true if the output, gaps included, is the naive one.
inline bool MatchesNaive(const Spec& spec, KernelFunction kernel, int64_t scratch_bytes,
                         size_t n_threads = 1) {
  Matrix lhs(spec, MatmulDims::kLhs, 1), rhs(spec, MatmulDims::kRhs, 2), out(spec, MatmulDims::kOut, 3);
  Matrix expected = out;
  const Matrix lhs_before = lhs, rhs_before = rhs;
  NaiveMatmul(spec, lhs, rhs, expected);
  for (size_t thread = 0; thread < n_threads; ++thread) {
    Scratch scratch(scratch_bytes);
    kernel(lhs.data().data(), rhs.data().data(), out.data().data(), scratch.get(), thread, n_threads);
  }
  return out.data() == expected.data() && lhs.data() == Matrix(lhs_before).data() &&
         rhs.data() == Matrix(rhs_before).data();
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_CODEGEN_TESTING_H_
