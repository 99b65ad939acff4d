// SPDX-License-Identifier: Apache-2.0
// What copies prefetch of a source that is far away, by following the procedure's loops.
#include "codegen/kernels/copy_prefetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include "codegen/kernels/pack.h"
#include "spec/program/program.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

struct Case {
  Dtype from, to;
  int64_t group, panel;   // of the copy
  int64_t rows, columns;  // of the source
  bool counted = false;   // how many columns there are is known when the copy is made

  // The source's rows are the copy's columns, whole lines apart.
  int64_t stride() const { return (columns + 255) / 256 * 256; }
  Pack Copy(bool far) const {
    Pack pack;
    pack.outer = columns;
    pack.inner = rows;
    pack.from = {Order::kCol, stride(), 0, 0, 1, from};
    const int64_t groups = (columns + group - 1) / group;
    pack.to = {Order::kRow, panel * group, panel, groups * panel * group, group, to};
    pack.from_far = far;
    if (counted) pack.outer = {SizeSymbol::kCount, columns};
    pack.vector_bytes = 64;
    return pack;
  }
};

// The lines of the source, in the order in which each is prefetched and first read.
struct Lines {
  std::vector<int64_t> prefetched;
  std::map<int64_t, size_t> read;  // how many had been prefetched before

  void Follow(const std::vector<Stmt>& body, int64_t unit_bytes, std::map<VarId, int64_t>* indices) {
    const auto value = [&](const Affine& affine) {
      return Evaluate(affine, [&](VarId index) { return indices->at(index); });
    };
    for (const Stmt& statement : body) {
      if (const auto* divide = std::get_if<Divide>(&statement.op))
        (*indices)[divide->index] =
            Count{Constant(0), divide->by, divide->left, divide->min_tail}.Of(value(divide->of));
      if (const auto* loop = std::get_if<For>(&statement.op))
        for (int64_t i = 0, count = value(loop->count); i < count; ++i) {
          (*indices)[loop->index] = i;
          Follow(loop->body, unit_bytes, indices);
        }
      if (const auto* prefetch = std::get_if<Prefetch>(&statement.op);
          prefetch != nullptr && prefetch->at.pointer == 0)
        prefetched.push_back(value(prefetch->at.offset) * unit_bytes / kLineBytes);
      if (const auto* load = std::get_if<Load>(&statement.op); load != nullptr && load->from.pointer == 0)
        read.try_emplace(value(load->from.offset) * unit_bytes / kLineBytes, prefetched.size());
    }
  }
};

Lines LinesOf(const Case& copy, bool far) {
  Lines lines;
  std::map<VarId, int64_t> indices;
  if (copy.counted) indices[2] = copy.columns;  // behind the pointers
  lines.Follow(PackProcedure(copy.Copy(far)).body, IsOfBlocks(copy.from) ? 1 : Bytes(copy.from), &indices);
  return lines;
}

class CopyPrefetchTest : public testing::TestWithParam<Case> {};

TEST_P(CopyPrefetchTest, NearSourcesAreNotPrefetched) {
  const Lines lines = LinesOf(GetParam(), false);
  EXPECT_THAT(lines.prefetched, testing::IsEmpty());
  EXPECT_FALSE(lines.read.empty());
}

// Those of whole steps, once they are under way; and not long before.
TEST_P(CopyPrefetchTest, LinesAreUnderWayBeforeTheyAreRead) {
  const Lines lines = LinesOf(GetParam(), true);
  std::map<int64_t, size_t> order;
  for (size_t i = 0; i < lines.prefetched.size(); ++i) order.try_emplace(lines.prefetched[i], i);
  size_t ahead = 0, late = 0;
  for (const auto& [line, before] : lines.read) {
    const auto found = order.find(line);
    if (found == order.end() || found->second >= before) {
      ++late;
      continue;
    }
    ahead = std::max(ahead, before - found->second);
  }
  EXPECT_GT(ahead, 32u);
  EXPECT_LE(ahead, 512u);
  // What comes first, and what is left of whole steps in each row.
  EXPECT_LE(late, 256u + static_cast<size_t>(GetParam().rows) * 2);
  EXPECT_LT(late, lines.read.size() / 2);
}

INSTANTIATE_TEST_SUITE_P(Copies, CopyPrefetchTest,
                         testing::Values(Case{Dtype::kF32, Dtype::kF32, 1, 16, 64, 512},
                                         Case{Dtype::kF32, Dtype::kF32, 1, 64, 100, 300},
                                         Case{Dtype::kBf16, Dtype::kBf16, 2, 32, 128, 1000},
                                         Case{Dtype::kF32, Dtype::kF32, 1, 16, 64, 1000, true},
                                         Case{Dtype::kF32, Dtype::kF32, 1, 64, 100, 90, true},
                                         Case{Dtype::kBf16, Dtype::kBf16, 2, 32, 128, 1000, true},
                                         Case{Dtype::kBf16, Dtype::kF32, 1, 48, 200, 777},
                                         Case{Dtype::kS8, Dtype::kS8, 4, 64, 128, 2048},
                                         Case{Dtype::kQ8_0, Dtype::kF32, 1, 32, 96, 1024},
                                         Case{Dtype::kQ8_0, Dtype::kBf16, 2, 32, 96, 1024},
                                         Case{Dtype::kQ4K, Dtype::kBf16, 2, 32, 64, 2048},
                                         Case{Dtype::kQ8_0, InPanels(Dtype::kQ8_0), 32, 32, 96, 1024}),
                         [](const auto& info) {
                           return Cat(Info(info.param.from).name, "_to_", Info(info.param.to).name, "_",
                                      info.index);
                         });

}  // namespace
}  // namespace kirsch
