// SPDX-License-Identifier: Apache-2.0
// The element types in bench/: operands, the reference, the peers that take them, the machine's limits for
// them.
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/contenders/contenders.h"
#include "bench/harness/bandwidth.h"
#include "bench/harness/expected_result.h"
#include "bench/harness/peak.h"
#include "bench/workload/element.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/language/epilogue_parser.h"
#include "spec/matmul_types.h"
#include "spec/spec.h"
#include "tests/testing/bench_testing.h"

namespace kirsch {
namespace {

Workload TypedWorkload(const MatmulTypes& types, Spec spec) {
  spec.operand[MatmulDims::kLhs].dtype = types.lhs;
  spec.operand[MatmulDims::kRhs].dtype = types.rhs;
  spec.operand[MatmulDims::kOut].dtype = types.out;
  return *MakeWorkload(spec, 1);
}

TEST(Element, BitsOfEveryTypeAreRead) {
  const float f32 = -2.5;
  const uint16_t bf16[] = {0x3f80, 0xc020}, f16[] = {0x3c00, 0xc100};
  const uint8_t u8 = 200;
  const int8_t s8 = -100;
  const int16_t s16 = -30000;
  const int32_t s32 = -2000000001;
  EXPECT_EQ(LoadElement(&f32, KIRSCH_F32, 0), -2.5);
  EXPECT_EQ(LoadElement(bf16, KIRSCH_BF16, 0), 1);
  EXPECT_EQ(LoadElement(bf16, KIRSCH_BF16, 1), -2.5);
  EXPECT_EQ(LoadElement(f16, KIRSCH_F16, 0), 1);
  EXPECT_EQ(LoadElement(f16, KIRSCH_F16, 1), -2.5);
  EXPECT_EQ(LoadElement(&u8, KIRSCH_U8, 0), 200);
  EXPECT_EQ(LoadElement(&s8, KIRSCH_S8, 0), -100);
  EXPECT_EQ(LoadElement(&s16, KIRSCH_S16, 0), -30000);
  EXPECT_EQ(LoadElement(&s32, KIRSCH_S32, 0), -2000000001);
}

// All types draw from the same numbers: what is narrow is what f32 has, rounded to nearest.
TEST(Element, NarrowFloatsAreRounded) {
  constexpr size_t kCount = 4096;
  std::vector<float> f32(kCount);
  std::vector<uint16_t> narrow(kCount);
  FillElements(f32.data(), KIRSCH_F32, kCount, 7, {0, 0});
  for (const auto& [type, half_ulp] : {std::pair(KIRSCH_BF16, 0x1p-8), std::pair(KIRSCH_F16, 0x1p-11)}) {
    FillElements(narrow.data(), type, kCount, 7, {0, 0});
    double sum = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const double error = LoadElement(narrow.data(), type, i) - f32[i];
      EXPECT_LE(std::abs(error), half_ulp * std::abs(f32[i]) + 0x1p-24) << i;
      sum += error / f32[i];
    }
    EXPECT_LT(std::abs(sum / kCount), half_ulp / 16) << "roundings go one way";
  }
}

// Smallest and largest value of an operand.
std::pair<double, double> Extremes(const Workload::Operand& operand) {
  std::pair<double, double> extremes = {INFINITY, -INFINITY};
  for (size_t i = 0; i < operand.elements; ++i) {
    const double value = LoadElement(operand.values, operand.type, i);
    extremes = {std::min(extremes.first, value), std::max(extremes.second, value)};
  }
  return extremes;
}

TEST(Workload, BytesTakeAllTheirValues) {
  const Placed placed(TypedWorkload({Dtype::kU8, Dtype::kS8, Dtype::kS32}, MatmulSpec(1, 60, 100, 60)));
  EXPECT_EQ(Extremes(placed.workload.operands[0]), std::pair(0.0, 255.0));
  EXPECT_EQ(Extremes(placed.workload.operands[1]), std::pair(-128.0, 127.0));
}

TEST(Workload, NoSumOverflows) {
  for (uint32_t k : {1u, 7u, 1000u, 60000u}) {
    const Placed placed(TypedWorkload({Dtype::kS32, Dtype::kS32, Dtype::kS32}, MatmulSpec(1, 3, k, 3)));
    const auto [low, high] = Extremes(placed.workload.operands[0]);
    EXPECT_LT(k * std::max(low * low, high * high), 0x1p31 - 2000) << k;
    EXPECT_GT(high, 1) << k;
  }
}

TEST(Workload, SomeNarrowSumsSaturateAndOthersDoNot) {
  for (uint32_t k : {64u, 1024u, 16384u}) {
    Placed placed(TypedWorkload({Dtype::kU8, Dtype::kS8, Dtype::kS16}, MatmulSpec(1, 20, k, 20)));
    Multiply(placed.problem);
    std::set<double> values;
    for (size_t i = 0; i < placed.workload.out().elements; ++i)
      values.insert(LoadElement(placed.problem.out, KIRSCH_S16, i));
    EXPECT_EQ(*values.begin(), -32768) << k;
    EXPECT_EQ(*values.rbegin(), 32767) << k;
    EXPECT_GT(values.size(), 50u) << k;
  }
}

TEST(Workload, CompulsoryBytesFollowTheTypes) {
  const MatmulTypes types = {Dtype::kBf16, Dtype::kS8, Dtype::kF32};
  Spec spec = MatmulSpec(2, 3, 5, 7);
  EXPECT_EQ(TypedWorkload(types, spec).compulsory_bytes, 2 * (3 * 5 * 2 + 5 * 7 * 1 + 3 * 7 * 4));
  spec.accumulate = true;
  EXPECT_EQ(TypedWorkload(types, spec).compulsory_bytes, 2 * (3 * 5 * 2 + 5 * 7 * 1 + 3 * 7 * 8));
}

// Plain ones, and one with everything else that a problem may have.
std::vector<Workload> Workloads(const MatmulTypes& types) {
  Spec strided = MatmulSpec(2, 17, 130, 33);
  strided.accumulate = true;
  strided.operand[0].layout = {LayoutKind::kStrided, Order::kCol, 0, 1, 20};
  strided.operand[1].layout = {LayoutKind::kStrided, Order::kCol, 0, 1, 132};
  strided.operand[2].layout.ld = 37;
  Spec transposed = MatmulSpec(1, 9, 40, 50);  // the rhs only, as weights are
  transposed.operand[1].layout = {LayoutKind::kStrided, Order::kCol, 0, 1, 40};
  std::vector<Workload> workloads;
  for (const Spec& spec : {MatmulSpec(1, 8, 64, 48), MatmulSpec(1, 1, 100, 70), strided, transposed})
    workloads.push_back(TypedWorkload(types, spec));
  return workloads;
}

class TypesTest : public ::testing::TestWithParam<MatmulTypes> {};

TEST_P(TypesTest, TheReferenceTakesARightProductAndRefusesAWrongOne) {
  for (const Workload& workload : Workloads(GetParam())) {
    Placed placed(workload);
    const Problem& p = placed.problem;
    const ExpectedResult reference = *ComputeReference(placed.workload);
    EXPECT_FALSE(CheckOutput(reference, placed.workload).correct) << "the output before any call";
    Multiply(p);
    EXPECT_TRUE(CheckOutput(reference, placed.workload).correct);
    FillOutputs(placed.workload);
    Multiply(p, /*skipped_k=*/p.k - 1);
    // Long sums of f16 may be off by as much.
    if (GetParam().lhs != Dtype::kF16Sums || p.k < 100) {
      EXPECT_FALSE(CheckOutput(reference, placed.workload).correct) << "one product of each sum left out";
    }
    if (!IsInteger(p.out_type)) continue;
    FillOutputs(placed.workload);
    Multiply(p);
    static_cast<char*>(p.out)[5 * Bytes(p.out_type)] ^= 1;
    EXPECT_FALSE(CheckOutput(reference, placed.workload).correct) << "integers are exact";
    EXPECT_EQ(CheckOutput(reference, placed.workload).max_error, 1);
  }
}

// A product as any, then `finish` over the whole output.
void ExpectFinished(const MatmulTypes& types, const Epilogue& epilogue, bool accumulate,
                    const std::function<double(double sum, double bias)>& finish) {
  Spec spec = MatmulSpec(2, 17, 60, 33);
  spec.op = OpWith(epilogue);
  spec.accumulate = accumulate;
  LayOutEpilogue(&spec);
  const Placed placed(TypedWorkload(types, spec));
  const ExpectedResult reference = *ComputeReference(placed.workload);
  EXPECT_FALSE(CheckOutput(reference, placed.workload).correct) << "the output before any call";
  const auto run = [&](double wrong) {
    FillOutputs(placed.workload);
    Multiply(placed.problem);
    for (size_t i = 0; i < placed.workload.out().elements; ++i) {
      float* const out = static_cast<float*>(placed.problem.out) + i;
      const double bias = LoadElement(placed.workload.operands[3].values, KIRSCH_F32, i % 33);
      *out = static_cast<float>(finish(*out, bias) + wrong);
    }
    return CheckOutput(reference, placed.workload).correct;
  };
  EXPECT_TRUE(run(0));
  EXPECT_FALSE(run(0.01));
}

TEST(Reference, WhatAnEpilogueMakesOfSumsIsCompared) {
  const Epilogue epilogue = *ParseEpilogue("test", {"mul:2,add:n,relu", {1, 1}}, Dtype::kF32);
  const auto finish = [](double sum, double bias) { return std::max(2 * sum + bias, 0.0); };
  for (bool accumulate : {false, true})
    for (const MatmulTypes& types : {MatmulTypes{Dtype::kF32, Dtype::kF32, Dtype::kF32},
                                     MatmulTypes{Dtype::kBf16, Dtype::kBf16, Dtype::kF32}})
      ExpectFinished(types, epilogue, accumulate, finish);
}

// Each method of oneDNN either says that it does not take the problem, or computes it rightly.
TEST_P(TypesTest, OneDnnIsRightOrDeclines) {
  const std::unique_ptr<Contender> onednn = MakePluginContender("kirsch_peer_onednn");
  const absl::StatusOr<ContenderInfo> info = onednn->Load();
  if (!info.ok()) GTEST_SKIP() << info.status();
  for (const Workload& workload : Workloads(GetParam())) {
    const Placed placed(workload);
    const ExpectedResult reference = *ComputeReference(placed.workload);
    for (size_t method = 0; method < info->methods.size(); ++method) {
      if (!onednn->Prepare(placed.workload, 0, method).ok()) continue;
      FillOutputs(placed.workload);
      onednn->Run();
      const OutputCheck check = CheckOutput(reference, placed.workload);
      EXPECT_TRUE(check.correct) << info->methods[method] << " " << placed.problem.m << ": "
                                 << check.max_error;
    }
  }
}

std::string NameOf(const MatmulTypes& types) {
  return std::string(Info(types.lhs).name) + "_" + std::string(Info(types.rhs).name) + "_" +
         std::string(Info(types.out).name);
}

INSTANTIATE_TEST_SUITE_P(All, TypesTest, ::testing::ValuesIn(kMatmulTypes),
                         [](const auto& info) { return NameOf(info.param); });

TEST(OneDnn, TakesWhatItIsAPeerFor) {
  using ::testing::ElementsAre;
  const std::unique_ptr<Contender> onednn = MakePluginContender("kirsch_peer_onednn");
  const absl::StatusOr<ContenderInfo> info = onednn->Load();
  if (!info.ok()) GTEST_SKIP() << info.status();
  EXPECT_THAT(info->methods,
              ElementsAre("sgemm", "gemm_bf16", "gemm_s32", "matmul", "matmul+packed", "plain",
                          "reorder-weights", "reorder-all", "weights+packed", "reorder-images+packed"));
  const auto takes = [&onednn](const MatmulTypes& types, size_t method) {
    const Placed placed(TypedWorkload(types, MatmulSpec(1, 64, 64, 64)));
    const bool ok = onednn->Prepare(placed.workload, 0, method).ok();
    return ok;
  };
  EXPECT_TRUE(takes({Dtype::kF32, Dtype::kF32, Dtype::kF32}, 0));
  EXPECT_FALSE(takes({Dtype::kBf16, Dtype::kBf16, Dtype::kF32}, 0));
  // What it multiplies rightly hangs on the CPU.
  const bool vnni = __builtin_cpu_supports("avx512vnni") != 0;
  EXPECT_EQ(takes({Dtype::kBf16, Dtype::kBf16, Dtype::kF32}, 1), __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_FALSE(takes({Dtype::kBf16, Dtype::kBf16, Dtype::kBf16}, 1));
  EXPECT_TRUE(takes({Dtype::kU8, Dtype::kS8, Dtype::kS32}, 2) || !vnni);
  EXPECT_TRUE(takes({Dtype::kS8, Dtype::kS8, Dtype::kS32}, 2) || !vnni);
  for (const MatmulTypes& types :
       {MatmulTypes{Dtype::kF32, Dtype::kF32, Dtype::kF32}, MatmulTypes{Dtype::kU8, Dtype::kS8, Dtype::kS32},
        MatmulTypes{Dtype::kS8, Dtype::kS8, Dtype::kS32}})
    EXPECT_TRUE(takes(types, 3) || (types.rhs == Dtype::kS8 && !vnni)) << NameOf(types);
  EXPECT_FALSE(takes({Dtype::kU8, Dtype::kS8, Dtype::kS16}, 3));
}

// Else it would be warm where everything else is cold.
TEST(OneDnn, TellsWhereItsPackedWeightsAre) {
  const std::unique_ptr<Contender> onednn = MakePluginContender("kirsch_peer_onednn");
  const absl::StatusOr<ContenderInfo> info = onednn->Load();
  if (!info.ok()) GTEST_SKIP() << info.status();
  const Placed placed(MatmulSpec(1, 1, 768, 512));
  ASSERT_TRUE(onednn->Prepare(placed.workload, 0, 3).ok());
  EXPECT_THAT(onednn->Own(), ::testing::IsEmpty());
  if (!onednn->Prepare(placed.workload, 0, 4).ok()) GTEST_SKIP() << "it likes the plain layout best";
  ASSERT_THAT(onednn->Own(), ::testing::SizeIs(1));
  EXPECT_GE(onednn->Own()[0].size(), 768 * 512 * sizeof(float));
  EXPECT_NE(static_cast<const void*>(onednn->Own()[0].data()), placed.workload.problem.rhs);
}

TEST(Cblas, TheBf16ProductIsUsedWhereThereIsOne) {
  constexpr size_t kSgemm = 0, kSbgemm = 3;
  const std::unique_ptr<Contender> cblas = MakeCblasContender({KIRSCH_FAKE_CBLAS});
  const absl::StatusOr<ContenderInfo> info = cblas->Load();
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->methods[kSbgemm], "cblas_sbgemm");
  for (const Workload& workload : Workloads({Dtype::kBf16, Dtype::kBf16, Dtype::kF32})) {
    const Placed placed(workload);
    const ExpectedResult reference = *ComputeReference(placed.workload);
    EXPECT_FALSE(cblas->Prepare(placed.workload, 0, kSgemm).ok());
    ASSERT_TRUE(cblas->Prepare(placed.workload, 0, kSbgemm).ok());
    cblas->Run();
    EXPECT_TRUE(CheckOutput(reference, placed.workload).correct) << placed.problem.m;
  }
  const Placed f32(MatmulSpec(1, 8, 8, 8));
  EXPECT_TRUE(cblas->Prepare(f32.workload, 0, kSgemm).ok());
  EXPECT_FALSE(cblas->Prepare(f32.workload, 0, kSbgemm).ok());
}

TEST(Cblas, TheF64ProductIsUsedForF64) {
  constexpr size_t kSgemm = 0, kDgemm = 4, kDgemv = 5;
  const std::unique_ptr<Contender> cblas = MakeCblasContender({KIRSCH_FAKE_CBLAS});
  const absl::StatusOr<ContenderInfo> info = cblas->Load();
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->methods[kDgemm], "cblas_dgemm");
  for (const Workload& workload : Workloads({Dtype::kF64, Dtype::kF64, Dtype::kF64})) {
    const Placed placed(workload);
    const ExpectedResult reference = *ComputeReference(placed.workload);
    EXPECT_FALSE(cblas->Prepare(placed.workload, 0, kSgemm).ok());
    EXPECT_FALSE(cblas->Prepare(placed.workload, 0, kDgemv).ok());  // it has none
    ASSERT_TRUE(cblas->Prepare(placed.workload, 0, kDgemm).ok());
    cblas->Run();
    EXPECT_TRUE(CheckOutput(reference, placed.workload).correct) << placed.problem.m;
  }
}

// The instructions of which a product of these types can be made.
std::set<std::string> InstructionsFor(const MatmulTypes& types) {
  const Problem problem = TypedWorkload(types, MatmulSpec(1, 8, 8, 8)).problem;
  std::set<std::string> instructions;
  for (const PeakMethod& method : PeakMethods())
    if (method.computes(problem)) instructions.insert(method.instruction);
  return instructions;
}

TEST(Peak, InstructionsFollowTheTypes) {
  using ::testing::ElementsAre;
  EXPECT_THAT(InstructionsFor({Dtype::kF32, Dtype::kF32, Dtype::kF32}), ElementsAre("fma"));
  EXPECT_THAT(InstructionsFor({Dtype::kF64, Dtype::kF64, Dtype::kF64}), ElementsAre("fmaf64"));
  EXPECT_THAT(InstructionsFor({Dtype::kF16Sums, Dtype::kF16Sums, Dtype::kF16Sums}), ElementsAre("fmaf16"));
  EXPECT_THAT(InstructionsFor({Dtype::kF32, Dtype::kBf16, Dtype::kF32}), ElementsAre("fma"));
  EXPECT_THAT(InstructionsFor({Dtype::kBf16, Dtype::kBf16, Dtype::kBf16}),
              ElementsAre("fma", "tdpbf16ps", "vdpbf16ps"));
  EXPECT_THAT(InstructionsFor({Dtype::kU8, Dtype::kS8, Dtype::kS16}),
              ElementsAre("tdpbusd", "vpdpbusd", "vpmaddwd+vpaddd", "vpmulld+vpaddd"));
  EXPECT_THAT(InstructionsFor({Dtype::kS32, Dtype::kS32, Dtype::kS32}), ElementsAre("vpmulld+vpaddd"));
}

TEST(Peak, EveryLoopThatIsPresentRuns) {
  const std::unique_ptr<Contender> peak = MakePeakContender(1);
  ASSERT_TRUE(peak->Load().ok());
  const Placed placed(MatmulSpec(1, 8, 8, 8));
  for (size_t method = 0; method < PeakMethods().size(); ++method) {
    const absl::Status status = peak->Prepare(placed.workload, 0, method);
    EXPECT_EQ(status.ok(), PeakMethods()[method].present()) << status;
    if (status.ok()) peak->Run();
  }
}

TEST(Bandwidth, EveryMethodReadsWholeLinesWithinTheBuffer) {
  constexpr size_t kBuffer = size_t{200} << 20;
  for (int threads : {1, 2, 3, 7, 12}) {
    const std::vector<BandwidthMethod> methods = BandwidthMethods(threads);
    EXPECT_EQ(methods.size(), threads == 1 ? 8u : 16u);
    for (const BandwidthMethod& method : methods) {
      const size_t bytes = BandwidthBytesPerRun(method, kBuffer);
      EXPECT_LE(bytes, kBuffer);
      EXPECT_GT(bytes, kBuffer / 8);
      EXPECT_EQ(bytes % static_cast<size_t>(64 * method.threads * method.streams), 0u);
    }
  }
}

TEST(Bandwidth, TheBufferIsLargerThanTheCachesWithinReason) {
  CacheInfo l2, l3;
  l2.bytes = 1 << 20;
  l3.bytes = 32 << 20;
  EXPECT_EQ(BandwidthBufferBytes({l2, l3}), size_t{128} << 20);
  EXPECT_EQ(BandwidthBufferBytes({l2}), size_t{64} << 20);
  l3.bytes = 480 << 20;
  EXPECT_EQ(BandwidthBufferBytes({l2, l3}), size_t{512} << 20);
}

}  // namespace
}  // namespace kirsch
