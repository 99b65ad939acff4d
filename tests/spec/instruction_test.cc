// SPDX-License-Identifier: Apache-2.0
// The rows of the instructions' table: what they say agrees with itself, with LLVM, and with what this CPU
// does.
#include "spec/instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codegen/c/c_printer.h"
#include "codegen/llvm/emit.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/element_array.h"
#include "tests/testing/codegen_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

// One way to have a row's instruction: vectors of so many bytes.
struct Case {
  const Instruction* row;
  const Encoding* encoding;
  int bytes;
};

bool IsOneMultiplyAdd(const Instruction& row) { return row.parts() == 1 && !row.scales; }

// Those that are one multiply-add, for every width. Where integers of blocks are multiplied, it is the
// instruction of words of s16, whose row has the same encodings.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Instruction& row : kInstructions)
    for (const Encoding& encoding : row.encodings)
      for (int bytes = encoding.least_bytes; bytes <= encoding.most_bytes && IsOneMultiplyAdd(row);
           bytes *= 2)
        cases.push_back({&row, &encoding, bytes});
  return cases;
}

// A target that has no other way: the wider vectors' own features, and the encoding's.
Target TargetOf(const Case& c) {
  const bool evex =
      c.bytes == 64 || std::any_of(c.encoding->features.begin(), c.encoding->features.end(),
                                   [](std::string_view name) { return name.starts_with("avx512"); });
  Target target = TestTarget(evex);
  for (std::string_view feature : c.encoding->features)
    if (!target.HasFeature(feature)) target.features.emplace_back(feature);
  return target;
}

// out[] += lhs[] * rhs[], all of them vectors.
LoopProgram WriteProgram(const Case& c, const Target& target) {
  const Dtype sum = c.row->accumulator();
  const int lanes = c.bytes / Bytes(sum);
  ProcedureBuilder builder("entry");
  const VarId lhs = builder.PointerParameter("lhs", c.row->lhs, false);
  const VarId rhs = builder.PointerParameter("rhs", c.row->rhs, false);
  const VarId out = builder.PointerParameter("out", sum, true);
  builder.PointerParameter("scratch", Dtype::kF32, true);
  builder.IndexParameter(kThread);
  builder.IndexParameter(kThreads);
  const int a_lanes = lanes * WordElements(c.row->lhs), b_lanes = lanes * WordElements(c.row->rhs);
  const VarId a = builder.Vector("a", c.row->lhs, a_lanes), b = builder.Vector("b", c.row->rhs, b_lanes);
  const VarId total = builder.Vector("total", sum, lanes);
  builder.Do(Load{a, At(lhs), a_lanes});
  builder.Do(Load{b, At(rhs), b_lanes});
  builder.Do(Load{total, At(out), lanes});
  builder.Do(MultiplyAdd{total, a, b});
  builder.Do(Store{total, At(out), lanes});
  LoopProgram program;
  program.name = "entry";
  program.tensors = {{"lhs", c.row->lhs}, {"rhs", c.row->rhs}, {"out", sum, true}};
  program.procedures.push_back(std::move(builder).Build());
  program.features = target.features;
  program.masks = target.HasFeature("avx512f");
  return program;
}

// A lane: its accumulator, or a word of factors, in the lower bits.
using Lane = uint64_t;

// That of the sum after the instruction. Vectors of o8 are taken for the u8 that they are kept as.
Lane LaneAfter(const Instruction& row, Lane lane, Lane a, Lane b) {
  const auto element = [](Dtype dtype, const Lane& word, int i) {
    return LoadElement(dtype == Dtype::kExcess8 ? Dtype::kU8 : dtype, &word, i);
  };
  if (row.accumulator() == Dtype::kF64)
    return std::bit_cast<Lane>(
        std::fma(element(row.lhs, a, 0), element(row.rhs, b, 0), std::bit_cast<double>(lane)));
  if (row.accumulator() == Dtype::kF16Sums)
    return std::bit_cast<uint16_t>(static_cast<_Float16>(
        std::fma(element(row.lhs, a, 0), element(row.rhs, b, 0), element(row.accumulator(), lane, 0))));
  if (IsFloating(row.lhs)) {
    auto sum = std::bit_cast<float>(static_cast<uint32_t>(lane));
    for (int i = 0; i < row.group; ++i)
      sum = std::fma(static_cast<float>(element(row.lhs, a, i)), static_cast<float>(element(row.rhs, b, i)),
                     sum);
    return std::bit_cast<uint32_t>(sum);
  }
  for (int i = 0; i < row.group; ++i)
    lane += static_cast<uint32_t>(static_cast<int64_t>(element(row.lhs, a, i)) *
                                  static_cast<int64_t>(element(row.rhs, b, i)));
  return static_cast<uint32_t>(lane);
}

// Of floats, small multiples of 1/4, so that sums are exact in any order; of integers anything.
Lane AnyLane(Dtype dtype, std::mt19937* random) {
  Lane word = static_cast<uint32_t>((*random)());
  if (!IsFloating(dtype)) return word;
  for (int i = 0; i < WordElements(dtype); ++i)
    StoreElement(dtype, 0.25 * (static_cast<int>((*random)() % 65) - 32), &word, i);
  return word;
}

TEST(InstructionTest, RowsAreInTheOrderOfTheEnum) {
  std::set<std::string_view> names, timings;
  for (size_t i = 0; i < kInstructions.size(); ++i) {
    const Instruction& row = kInstructions[i];
    EXPECT_EQ(static_cast<size_t>(row.arithmetic), i);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    // Rates are those of a row that has keys, or the FMA's.
    const Instruction& timed = Info(row.timed);
    EXPECT_EQ(timed.timed, timed.arithmetic);
    EXPECT_EQ(row.timing.empty(), row.timed != row.arithmetic || row.arithmetic == Arithmetic::kFma)
        << row.name;
    if (!row.timing.empty()) {
      EXPECT_TRUE(timings.insert(row.timing).second) << row.timing;
    }
    EXPECT_EQ(AccumulatorOf(row.lhs), AccumulatorOf(row.rhs));
    // Elements of blocks have no bytes of their own: they are words of s16, or bytes, when they are
    // multiplied, several words at a time in panels.
    const Dtype factor = !row.scales ? row.rhs : row.group == 2 ? Dtype::kS16 : Dtype::kU8;
    if (!row.unpacked) {
      EXPECT_EQ(row.group * Bytes(factor), row.words * Bytes(row.accumulator())) << row.name;
    }
  }
}

TEST(InstructionTest, FeaturesHaveRows) {
  for (const Instruction& row : kInstructions)
    for (const Encoding& encoding : row.encodings)
      for (std::string_view feature : encoding.features) EXPECT_NE(FindFeature(feature), nullptr) << feature;
}

TEST(InstructionTest, FactorsFindTheirRow) {
  for (const Instruction& row : kInstructions) {
    if (row.unpacked) continue;
    if (row.scales) {  // chosen by what is said of lhs, not by the types of factors alone
      const Dtype rhs = row.words > 1 ? Dtype::kPanel8Halves : Dtype::kQ8_0;
      EXPECT_TRUE(Takes(row, row.lhs, rhs));
      EXPECT_FALSE(Takes(row, Dtype::kF32, rhs));
      EXPECT_FALSE(Takes(row, row.lhs, row.words > 1 ? Dtype::kQ8_0 : Dtype::kPanel8Halves));
      EXPECT_EQ(Takes(row, Dtype::kQ8Super, Dtype::kQ4K), row.words == 1);
      EXPECT_FALSE(Takes(row, row.lhs, Dtype::kQ4K));
      continue;
    }
    EXPECT_EQ(InstructionFor(row.lhs, row.rhs).instruction, &row);
    EXPECT_FALSE(InstructionFor(row.lhs, row.rhs).exchanged);
    EXPECT_TRUE(Takes(row, row.lhs, row.rhs));
    if (!row.commutes) continue;
    EXPECT_EQ(InstructionFor(row.rhs, row.lhs).instruction, &row);
    EXPECT_TRUE(InstructionFor(row.rhs, row.lhs).exchanged);
  }
  EXPECT_EQ(InstructionFor(Dtype::kF16, Dtype::kF16).instruction, nullptr);
}

// LLVM makes one machine instruction of it, or two, and none that is a call or another one's.
TEST(InstructionTest, LlvmHasEveryEncoding) {
  for (const Case& c : Cases()) {
    const Target target = TargetOf(c);
    const absl::StatusOr<std::string> assembly = EmitAssembly(WriteProgram(c, target), target);
    ASSERT_TRUE(assembly.ok()) << c.encoding->llvm << ": " << assembly.status();
    EXPECT_THAT(*assembly, ::testing::Not(HasSubstr("call"))) << c.encoding->llvm;
    EXPECT_THAT(*assembly, HasSubstr(c.bytes == 64 ? "%zmm" : c.bytes == 32 ? "%ymm" : "%xmm"));
  }
}

// What the row says is what the CPU does.
TEST(InstructionTest, MeansSumsOfProducts) {
  int ran = 0;
  std::mt19937 random(1);
  for (const Case& c : Cases()) {
    const Target target = TargetOf(c);
    if (!HostRuns(target)) continue;
    ++ran;
    const auto kernel = JitCompile(WriteProgram(c, target), target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    for (int round = 0; round < 200; ++round) {
      // Of 64 bytes.
      const auto bytes = static_cast<size_t>(Bytes(c.row->accumulator()));
      std::array<std::byte, 64> a, b, sum, expected;
      const auto put = [&](std::array<std::byte, 64>& to, size_t at, Lane lane) {
        memcpy(to.data() + at, &lane, bytes);
      };
      for (size_t at = 0; at < a.size(); at += bytes) {
        const Lane x = AnyLane(c.row->lhs, &random), y = AnyLane(c.row->rhs, &random),
                   z = AnyLane(c.row->accumulator(), &random);
        put(a, at, x);
        put(b, at, y);
        put(sum, at, z);
        put(expected, at, at < static_cast<size_t>(c.bytes) ? LaneAfter(*c.row, z, x, y) : z);
      }
      const auto run = reinterpret_cast<void (*)(const void*, const void*, void*, void*, size_t, size_t)>(
          (*kernel)->function());
      run(a.data(), b.data(), sum.data(), nullptr, 0, 1);
      ASSERT_EQ(sum, expected) << c.row->name << ", " << c.bytes << " bytes";
    }
  }
  EXPECT_GE(ran, 3);  // FMA, vpmulld and vpmaddwd, which every host has that we care for
}

}  // namespace
}  // namespace kirsch::testing
