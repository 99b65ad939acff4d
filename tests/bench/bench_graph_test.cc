// SPDX-License-Identifier: Apache-2.0
// Graphs in bench/: the peers are right on each operation, suites, reports.
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "bench/contenders/contenders.h"
#include "bench/contenders/peers.h"
#include "bench/harness/expected_result.h"
#include "bench/harness/run.h"
#include "bench/loops/loops.h"
#include "bench/loops/loops_storage.h"
#include "bench/results/report.h"
#include "bench/workload/entries.h"
#include "bench/workload/suite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/bench_testing.h"
#include "tests/testing/graph_testing.h"
#include "tests/testing/temp_directory.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;

// A kernel's parameters and statements, by name.
struct Case {
  const char* name;
  const char* text;
};

void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

class GraphPeers : public ::testing::TestWithParam<Case> {
 protected:
  GraphPeers() : graph_(GraphOf(Cat("kernel f", GetParam().text))), placed_(graph_) {
    loops_.push_back(*CompiledLoops::Compile(graph_, LoopsKind::kLoops, false));
    cblas_.push_back(*CompiledLoops::Compile(graph_, LoopsKind::kCblas, false));
    const CompiledLoops reference = *CompiledLoops::Compile(graph_, LoopsKind::kReference, false);
    reference_ = *ComputeReference(placed_.workload, &reference);
  }

  // Every method either declines the graph or computes it. Returns how many did.
  int Check(Contender& contender) {
    const absl::StatusOr<ContenderInfo> info = contender.Load();
    if (!info.ok()) return -1;
    int taken = 0;
    for (size_t method = 0; method < info->methods.size(); ++method) {
      const absl::Status prepared = contender.Prepare(placed_.workload, 0, method);
      if (absl::IsUnimplemented(prepared)) continue;
      EXPECT_TRUE(prepared.ok()) << prepared;
      ++taken;
      for (int run = 0; run < 2; ++run) {  // what a run leaves behind must not matter
        FillOutputs(placed_.workload);
        contender.Run();
        const OutputCheck check = CheckOutput(reference_, placed_.workload);
        EXPECT_TRUE(check.correct) << info->methods[method] << ", run " << run << ": " << check.max_error
                                   << " of " << reference_.tolerances[0];
      }
    }
    return taken;
  }

  Graph graph_;
  Placed placed_;
  std::vector<CompiledLoops> loops_, cblas_;
  ExpectedResult reference_;
};

TEST_P(GraphPeers, AreRight) {
  const std::vector<double> slow = SlowGraph(*placed_.workload.graph).Result();
  ASSERT_EQ(reference_.values.size(), slow.size());
  const bool narrow = graph_.at(graph_.only_result()).type.dtype != Dtype::kF32;
  for (size_t i = 0; i < slow.size(); ++i) {
    const double tolerance =
        narrow ? reference_.tolerances[0] + std::abs(slow[i]) * 0x1p-7 : reference_.tolerances[0] * 1e-4;
    ASSERT_NEAR(reference_.values[i], slow[i], tolerance) << i;
  }
  EXPECT_FALSE(CheckOutput(reference_, placed_.workload).correct) << "the output before any call";
  EXPECT_EQ(Check(*MakeLoopsContender(loops_)), 1);
  Check(*MakeCblasLoopsContender({"libopenblas.so.0", "libopenblas.so"}, cblas_));
  const int taken = Check(*MakePluginContender("kirsch_peer_onednn"));
  // It multiplies narrow types rightly only where the CPU has instructions for them.
  const bool may_decline = absl::StartsWith(GetParam().name, "Declined") ||
                           (graph_.at(0).type.dtype != Dtype::kF32 && !__builtin_cpu_supports("avx512vnni"));
  EXPECT_TRUE(taken != 0 || may_decline) << "by oneDNN";
}

INSTANTIATE_TEST_SUITE_P(
    All, GraphPeers,
    ::testing::Values(
        Case{"Add", "(x: f32[5,33], y: f32[5,33]):\n return add(x, y)"},
        Case{"AddVector", "(x: f32[2,5,33], y: f32[33]):\n return add(y, x)"},
        Case{"SubColumn", "(x: f32[5,33], y: f32[5,1]):\n return sub(y, x)"},
        Case{"MulBothWays", "(x: f32[5,1], y: f32[1,7]):\n return mul(x, y)"},
        Case{"DivElement", "(x: f32[5,33], y: f32[]):\n return div(x, add(mul(y, y), 1))"},
        Case{"MaxMin", "(x: f32[5,33], y: f32[5,33]):\n return max(min(x, y), -0.25)"},
        Case{"Numbers", "(x: f32[9,33]):\n return sub(1, mul(add(div(x, 3), -2), max(min(x, 0.5), -0.5)))"},
        Case{"NumberOver", "(x: f32[9,33]):\n return div(2, add(mul(x, x), 1))"},
        Case{"NegSqrtExp", "(x: f32[9,33]):\n return neg(sqrt(exp(x)))"},
        Case{"Tanh", "(x: f32[9,33]):\n return tanh(mul(x, 3))"},
        Case{"DeclinedErf", "(x: f32[9,33]):\n return erf(mul(x, 3))"},
        Case{"DeclinedHardswish", "(x: f32[9,33]):\n return hardswish(mul(x, 5))"},
        Case{"DeclinedElu", "(x: f32[9,33]):\n return elu(mul(x, 3), alpha=0.5)"},
        Case{"DeclinedSoftplus", "(x: f32[9,33]):\n return softplus(mul(x, 9))"},
        Case{"Sigmoid", "(x: f32[9,33]):\n return sigmoid(mul(x, 5))"},
        Case{"Relus", "(x: f32[9,33]):\n return add(relu(x), leaky_relu(x, slope=0.3))"},
        Case{"Gelu", "(x: f32[9,33]):\n return gelu(mul(x, 4))"},
        Case{"GeluTanh", "(x: f32[9,33]):\n return gelu_tanh(mul(x, 4))"},
        Case{"Silu", "(x: f32[70]):\n return silu(mul(x, 4))"},
        Case{"Square", "(x: f32[9,33]):\n y = add(x, 1)\n return mul(y, y)"},
        Case{"SumRows", "(x: f32[9,33]):\n return reduce_sum(x, axis=1)"},
        Case{"MaxColumns", "(x: f32[9,33]):\n return reduce_max(x, axis=0)"},
        Case{"MeanOuterAndInner", "(x: f32[4,5,33]):\n return reduce_mean(x, axis=0, axis=2)"},
        Case{"MeanMiddle", "(x: f32[4,5,33]):\n return reduce_mean(mul(x, 2), axis=1)"},
        Case{"DeclinedSlices",
             "(x: f32[4,9,33]):\n return mul(slice(x, axis=1, from=1, to=8, step=3), slice(x, axis=1, "
             "from=6))"},
        Case{"DeclinedConcatAndPad",
             "(x: f32[9,33], y: f32[9,5]):\n return concat(pad(x, axis=1, before=2, value=-3), exp(y), "
             "axis=1)"},
        Case{"DeclinedWindows",
             "(x: f32[9,33,4]):\n return window_sum(window_max(x, axis=0, size=3, stride=2, before=1, "
             "after=1), "
             "axis=1, size=3, stride=2, before=1, after=1)"},
        Case{"DeclinedIntegersAlongAxis",
             "(x: u8[9,33]):\n return window_max(pad(x, axis=0, after=2, value=7), axis=1, size=2)"},
        Case{"DeclinedBatchesOfBothSides", "(x: f32[2,1,5,6], w: f32[1,3,6,7]):\n return matmul(x, w)"},
        Case{"Softmax", "(x: f32[3,5,100]):\n return softmax(mul(x, 9))"},
        Case{"SoftmaxOne", "(x: f32[1000]):\n return softmax(x)"},
        Case{"SoftmaxBf16", "(x: bf16[5,100]):\n return cast(softmax(x), bf16)"},
        Case{"Layernorm",
             "(x: f32[3,5,100], s: f32[100], t: f32[100]):\n return layernorm(x, s, t, eps=1e-3)"},
        Case{"ResidualLayernorm",
             "(x: f32[5,100], r: f32[5,100], s: f32[100], t: f32[100]):\n return layernorm(add(x, r), s, t)"},
        Case{"Rmsnorm", "(x: f32[5,100], s: f32[100]):\n return rmsnorm(x, s, eps=1e-2)"},
        Case{"Transpose", "(x: f32[3,5,7]):\n return transpose(x)"},
        Case{"TransposeAdd", "(x: f32[5,7], y: f32[7,5]):\n return add(transpose(x), y)"},
        Case{"TransposeComputed", "(x: f32[5,7], y: f32[7,5]):\n return transpose(add(x, transpose(y)))"},
        Case{"Casts", "(x: f32[5,40]):\n return cast(cast(mul(x, 300), s8), f32)"},
        Case{"ToBf16", "(x: f32[5,40]):\n return add(cast(x, bf16), 1)"},
        Case{"Parameter", "(x: f32[5,40], y: f32[3]):\n return x"},
        Case{"Matmul", "(x: f32[17,65], w: f32[65,33]):\n return matmul(x, w)"},
        Case{"MatmulRow", "(x: f32[1,65], w: f32[65,33]):\n return matmul(x, w)"},
        Case{"MatmulColumn", "(x: f32[17,65], w: f32[65,1]):\n return matmul(x, w)"},
        Case{"MatmulTransposed",
             "(x: f32[65,17], w: f32[33,65]):\n return matmul(transpose(x), transpose(w))"},
        Case{"MatmulBatch", "(x: f32[2,3,17,65], w: f32[2,3,65,33]):\n return matmul(x, w)"},
        Case{"MatmulBf16", "(x: bf16[17,64], w: bf16[64,32]):\n return matmul(x, w)"},
        Case{"DeclinedIntegers",
             "(x: u8[5,33], y: s32[33], z: s8[5,33]):\n"
             " return cast(max(neg(sub(mul(x, z), y)), -100), s8)"},
        Case{"MatmulInt8", "(x: u8[17,64], w: s8[64,32], b: s32[32]):\n return add(matmul(x, w), b)"},
        Case{"BiasRelu", "(x: f32[17,65], w: f32[65,33], b: f32[33]):\n return relu(add(matmul(x, w), b))"},
        Case{"BiasGelu",
             "(x: f32[17,65], w: f32[65,33], b: f32[33]):\n return gelu_tanh(add(matmul(x, w), b))"},
        Case{"ScaleResidual",
             "(x: f32[17,65], w: f32[65,33], r: f32[17,33], s: f32[17,1]):\n"
             " return add(r, mul(leaky_relu(matmul(x, w)), s))"},
        Case{"SubDivOfProduct",
             "(x: f32[17,65], w: f32[65,33], r: f32[17,33]):\n"
             " m = matmul(x, w)\n return div(sub(r, m), add(mul(m, m), 1))"},
        Case{"SwappedSub", "(x: f32[17,65], w: f32[65,33], r: f32[17,33]):\n return sub(r, matmul(x, w))"},
        Case{"SmallProduct", "(x: f32[1,65], w: f32[65,33], r: f32[17,33]):\n return mul(r, matmul(x, w))"},
        Case{"Gated",
             "(x: f32[17,65], w1: f32[65,33], w3: f32[65,33]):\n"
             " return mul(silu(matmul(x, w1)), matmul(x, w3))"},
        Case{"Chain", "(x: f32[17,65], y: f32[65,33], z: f32[33,9]):\n return matmul(matmul(x, y), z)"},
        Case{"Attention",
             "(q: f32[3,17,64], k: f32[3,17,64], v: f32[3,17,64]):\n"
             " return matmul(softmax(mul(matmul(q, transpose(k)), 0.125)), v)"},
        Case{"NormMatmul",
             "(x: f32[9,64], s: f32[64], t: f32[64], w: f32[64,33]):\n return matmul(layernorm(x, s, t), w)"},
        Case{"RmsMatmul", "(x: f32[9,64], s: f32[64], w: f32[64,33]):\n return matmul(rmsnorm(x, s), w)"},
        Case{"ProductUsedTwice",
             "(x: f32[9,64], w: f32[64,64]):\n y = matmul(x, w)\n return add(matmul(relu(y), w), y)"},
        Case{"ConvNhwc", "(i: f32[2,9,8,6], w: f32[3,3,6,10]):\n return conv2d(i, w, pad=1, layout=nhwc)"},
        Case{"ConvNchw", "(i: f32[2,6,9,8], w: f32[10,6,3,3]):\n return conv2d(i, w, pad=1)"},
        Case{"ConvStrided",
             "(i: f32[1,9,10,6], w: f32[3,2,6,16]):\n return conv2d(i, w, stride=2, pad=1, layout=nhwc)"},
        Case{"ConvStridedNchw",
             "(i: f32[1,6,9,10], w: f32[16,6,3,2]):\n return conv2d(i, w, stride=2, pad=1)"},
        Case{"ConvDilated",
             "(i: f32[1,9,10,6], w: f32[3,3,6,16]):\n"
             " return conv2d(i, w, dilation=2, pad=3, layout=nhwc)"},
        Case{"ConvDilatedNchw",
             "(i: f32[1,6,9,10], w: f32[16,6,3,3]):\n return conv2d(i, w, dilation=2, pad=3)"},
        Case{"Conv1dNwc",
             "(i: f32[2,17,6], w: f32[3,6,10]):\n return conv1d(i, w, stride=2, pad=0,1, layout=nwc)"},
        Case{"Conv1dNcw", "(i: f32[2,6,17], w: f32[10,3,3]):\n return conv1d(i, w, groups=2, dilation=2)"},
        Case{"ConvStridesOfAxes",
             "(i: f32[1,9,10,6], w: f32[3,2,6,16]):\n return conv2d(i, w, stride=2x1, pad=1, layout=nhwc)"},
        Case{"Conv3dNdhwc",
             "(i: f32[1,5,6,7,4], w: f32[3,2,3,4,9]):\n"
             " return conv3d(i, w, stride=1x2x1, pad=1,0,1,1,1,0, layout=ndhwc)"},
        Case{"Conv3dNcdhw",
             "(i: f32[2,4,5,6,7], w: f32[6,2,3,2,3]):\n return conv3d(i, w, pad=1, groups=2, stride=2x1x2)"},
        Case{"DeclinedConvTransposed",
             "(i: f32[2,5,6,8], w: f32[3,4,8,10]):\n"
             " return conv2d_transpose(i, w, stride=2x3, pad=1,0,2,0, layout=nhwc)"},
        Case{"DeclinedConvTransposedNcw",
             "(i: f32[2,8,6], w: f32[8,10,4]):\n return conv1d_transpose(i, w, stride=2, dilation=3, pad=1)"},
        Case{"ConvWidePad", "(i: f32[1,4,3,3], w: f32[5,4,2,2]):\n return conv2d(i, w, stride=3, pad=4)"},
        Case{"Conv1x1", "(i: f32[2,7,7,32], w: f32[1,1,32,48]):\n return conv2d(i, w, layout=nhwc)"},
        Case{"Conv1x1Nchw", "(i: f32[2,32,7,7], w: f32[48,32,1,1]):\n return conv2d(i, w)"},
        Case{"ConvGroups",
             "(i: f32[1,7,7,12], w: f32[3,3,4,18]):\n return conv2d(i, w, groups=3, layout=nhwc)"},
        Case{"ConvGroupsNchw", "(i: f32[1,12,7,7], w: f32[18,4,3,3]):\n return conv2d(i, w, groups=3)"},
        Case{"Depthwise",
             "(i: f32[1,9,9,32], w: f32[3,3,1,32]):\n"
             " return conv2d(i, w, groups=32, stride=2, pad=1, layout=nhwc)"},
        Case{"DepthwiseNchw",
             "(i: f32[1,32,9,9], w: f32[32,1,3,3]):\n return conv2d(i, w, groups=32, pad=1)"},
        Case{"ConvBiasRelu",
             "(i: f32[1,7,7,32], w: f32[3,3,32,48], b: f32[48]):\n"
             " return relu(add(conv2d(i, w, pad=1, layout=nhwc), b))"},
        Case{"ConvBiasReluNchw",
             "(i: f32[1,32,7,7], w: f32[48,32,3,3], b: f32[48,1,1]):\n"
             " return relu(add(conv2d(i, w, pad=1), b))"},
        Case{"ConvResidual",
             "(i: f32[1,7,7,32], w: f32[3,3,32,48], s: f32[48], b: f32[48], r: f32[1,7,7,48]):\n"
             " return relu(add(add(mul(conv2d(i, w, pad=1, layout=nhwc), s), b), r))"},
        Case{"ConvResidualNchw",
             "(i: f32[1,32,7,7], w: f32[48,32,3,3], b: f32[48,1,1], r: f32[1,48,7,7]):\n"
             " return relu(add(add(conv2d(i, w, pad=1), b), r))"},
        Case{"ConvPool",
             "(i: f32[1,7,7,32], w: f32[3,3,32,48]):\n"
             " return reduce_mean(relu(conv2d(i, w, layout=nhwc)), axis=1, axis=2)"},
        Case{"ConvChain",
             "(i: f32[1,7,7,16], w: f32[3,3,16,32], v: f32[1,1,32,16]):\n"
             " return conv2d(relu(conv2d(i, w, pad=1, layout=nhwc)), v, layout=nhwc)"}),
    [](const auto& info) { return std::string(info.param.name); });

// Weights of blocks are decoded for the reference; loops take none.
TEST(GraphPeersOfBlocks, TheReferenceIsRight) {
  for (const DtypeInfo& type : kDtypes) {
    if (!IsOfBlocks(type.dtype) || type.ours) continue;
    const Graph graph = GraphOf(Cat("kernel f(x: f32[3,512], w: ", type.name,
                                    "[5,512], b: f32[5]):\n return relu(add(matmul(x, transpose(w)), b))"));
    const Placed placed(graph);
    const CompiledLoops loops = *CompiledLoops::Compile(graph, LoopsKind::kReference, false);
    const ExpectedResult reference = *ComputeReference(placed.workload, &loops);
    const std::vector<double> slow = SlowGraph(*placed.workload.graph).Result();
    ASSERT_EQ(reference.values.size(), slow.size());
    for (size_t i = 0; i < slow.size(); ++i)
      EXPECT_NEAR(reference.values[i], slow[i], reference.tolerances[0] * 1e-4) << type.name << " " << i;
    std::vector<CompiledLoops> others;
    others.push_back(*CompiledLoops::Compile(graph, LoopsKind::kLoops, false));
    const std::unique_ptr<Contender> contender = MakeLoopsContender(others);
    ASSERT_TRUE(contender->Load().ok());
    EXPECT_TRUE(absl::IsUnimplemented(contender->Prepare(placed.workload, 0, 0)));
  }
}

struct GraphSuite {
  std::string name;
  size_t graphs;
};

void PrintTo(const GraphSuite& of, std::ostream* out) { *out << of.name; }

// What is quickly told of a change: a few of everything, which are measured together.
TEST(QuickSuite, HasRowsOfAllKinds) {
  absl::StatusOr<std::vector<BenchEntry>> entries = ReadSuite(Cat(KIRSCH_SUITE_DIR, "/quick.json"));
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(entries->size(), 12u);
  EXPECT_TRUE(MakeAlike(&*entries).ok());
}

class GraphSuiteTest : public ::testing::TestWithParam<GraphSuite> {};

TEST_P(GraphSuiteTest, EveryEntryIsAGraph) {
  const absl::StatusOr<Suite> suite = LoadSuite(Cat(KIRSCH_SUITE_DIR, "/", GetParam().name, ".json"));
  ASSERT_TRUE(suite.ok()) << suite.status();
  EXPECT_EQ(suite->name, GetParam().name);
  EXPECT_EQ(suite->specs.size(), GetParam().graphs);
  std::set<std::string> texts, names;
  for (const SuiteSpec& spec : suite->specs) {
    const absl::StatusOr<std::vector<BenchEntry>> entries = ReadEntries(spec.text, "spec");
    ASSERT_TRUE(entries.ok()) << entries.status();
    ASSERT_TRUE(entries->size() == 1 && entries->front().graph) << spec.text;
    const Graph& graph = *entries->front().graph;
    EXPECT_GT(Flops(graph), 0);
    names.insert(entries->front().text);
    texts.insert(PrintGraph(graph).substr(graph.name.size()));
  }
  EXPECT_EQ(names.size(), suite->specs.size()) << "a name is there twice";
  EXPECT_EQ(texts.size(), suite->specs.size()) << "a graph is there twice";
}

INSTANTIATE_TEST_SUITE_P(Shipped, GraphSuiteTest,
                         ::testing::Values(GraphSuite{"conv", 53}, GraphSuite{"conv_nchw", 23},
                                           GraphSuite{"conv_nchw16c", 12}, GraphSuite{"conv_axes", 14},
                                           GraphSuite{"conv_groups", 6}, GraphSuite{"fused", 29},
                                           GraphSuite{"softmax", 27}),
                         [](const auto& info) { return info.param.name; });

std::string ErrorOf(const std::string& text, const std::string& kernel = "") {
  return std::string(ReadEntries(text, "f", kernel).status().message());
}

TEST(BenchEntries, FilesHaveKernels) {
  const std::string two =
      "# two\nkernel f(x: f32[3]):\n  return relu(x)  # the first\n\n"
      "kernel g(x: f32[4]):\n  return exp(x)\n";
  const auto both = ReadEntries(two, "f");
  ASSERT_TRUE(both.ok()) << both.status();
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[1].text, "g");
  EXPECT_EQ(ReadEntries(two, "f", "g")->front().graph->at(0).type.dims[0], 4u);
  EXPECT_THAT(ErrorOf(two, "h"), HasSubstr("expected a kernel h"));
  EXPECT_THAT(ErrorOf("kernel f(x: f32[3]):\n  return rel(x)\n"), HasSubstr("f:2:10: expected a value"));
  EXPECT_THAT(ErrorOf("kernel f(x: f32[3]):\n"), HasSubstr("expected a line 'return"));
  EXPECT_THAT(ErrorOf("relu\n"), HasSubstr("f:1:1: expected an operation"));
}

std::vector<BenchEntry> AlikeOf(const std::string& text) {
  absl::StatusOr<std::vector<BenchEntry>> entries = ReadEntries(text, "f");
  EXPECT_TRUE(entries.ok()) << entries.status();
  EXPECT_TRUE(MakeAlike(&*entries).ok());
  return *std::move(entries);
}

// Each member for itself; what libraries of matmuls can't do makes graphs of all.
TEST(BenchEntries, FamiliesAndEpilogues) {
  const std::vector<BenchEntry> matmuls = AlikeOf("matmul f32 2..3x4x5 lda=9");
  ASSERT_EQ(matmuls.size(), 2u);
  EXPECT_EQ(matmuls[1].matmul->text, "matmul f32 3x4x5 lda=9");
  const std::vector<BenchEntry> graphs = AlikeOf(
      "matmul u8*s8->u8 3:4x5x6 rhs=col epilogue=add:n,f32,mul:m,relu\nmatmul f32 2x3x4\n"
      "c = softmax f32 1..2x4\nkernel f(x: f32[3,5], w: f32[5,6]):\n return matmul(x, w)\n");
  ASSERT_EQ(graphs.size(), 5u);
  EXPECT_EQ(PrintGraph(*graphs[0].graph),
            "kernel matmul_u8_s8__u8_3_4x5x6_rhs_col_epilogue_add_n_f32_mul_m_relu(lhs: u8[3,4,5], rhs: "
            "s8[3,6,5], bias: s32[6], scale: f32[4,1]) -> u8[3,4,6]:\n"
            "  v4 = transpose(rhs)\n  v5 = matmul(lhs, v4)\n  v6 = add(v5, bias)\n  v7 = cast(v6, f32)\n"
            "  v8 = mul(v7, scale)\n  v10 = max(v8, 0)\n  v11 = cast(v10, u8)\n  return v11\n");
  EXPECT_EQ(graphs[3].text, "c (size0 = 2)");
  absl::StatusOr<std::vector<BenchEntry>> wide = ReadEntries("matmul f32 2x3x4 lda=9 epilogue=relu", "f");
  ASSERT_TRUE(wide.ok());
  EXPECT_THAT(std::string(MakeAlike(&*wide).message()), HasSubstr("expected a matmul of dense operands"));
}

// Adds, of each 64 floats every thread its own part; wrong where it is asked for `offset`.
Kernel AddKernel(float offset) {
  Kernel kernel;
  kernel.scratch_bytes = 100;
  kernel.run = [offset](const KernelCall& call) {
    static_cast<char*>(call.scratch)[99] = 1;  // what was asked for is there
    const auto values = [&call](size_t tensor) { return static_cast<float*>(call.tensors[tensor]); };
    for (size_t i = call.thread; i < 64; i += call.n_threads)
      values(2)[i] = values(0)[i] + values(1)[i] + offset;
  };
  return kernel;
}

BenchRequest AddRequest(float offset) {
  BenchRequest request;
  request.entries = {{"adding", {}, GraphOf("kernel f(x: f32[64], y: f32[64]):\n return add(x, y)")},
                     {"refused", {}, GraphOf("kernel g(x: f32[64]):\n return exp(x)")}};
  request.peers = {"loops", "eigen"};
  request.ours = [offset](const BenchEntry& entry) -> absl::StatusOr<Kernel> {
    if (entry.graph->name == "g") return absl::UnimplementedError("no exp");
    return AddKernel(offset);
  };
  return request;
}

const BenchResult* Find(const BenchReport& report, const std::string& spec, const std::string& peer) {
  for (const BenchResult& result : report.results)
    if (result.spec == spec && result.peer == peer) return &result;
  return nullptr;
}

TEST(RunGraphBench, MeasuresOursAndThePeers) {
  for (const bool cold : {false, true}) {
    BenchRequest request = AddRequest(0);
    request.cold = cold;
    setenv("KIRSCH_PEER_DIR", "/nonexistent", 1);
    const absl::StatusOr<BenchReport> report = RunBench(request);
    unsetenv("KIRSCH_PEER_DIR");
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(report->results.size(), 3u);
    const BenchResult* const ours = Find(*report, "adding", kOurName);
    ASSERT_NE(ours, nullptr);
    EXPECT_TRUE(ours->correct);
    EXPECT_EQ(ours->compulsory_bytes, 3 * 64 * 4);
    EXPECT_NEAR(ours->gflops_median * ours->seconds_median, 64e-9, 1e-12);
    EXPECT_TRUE(Find(*report, "adding", "loops")->correct);
    EXPECT_TRUE(Find(*report, "refused", "loops")->correct);
    ASSERT_EQ(report->missing.size(), 1u);
    EXPECT_EQ(report->missing[0].peer, "eigen");
    ASSERT_EQ(report->failed.size(), 1u);
    EXPECT_EQ(report->failed[0].spec, "refused");
    EXPECT_EQ(report->failed[0].reason, "no exp");
    EXPECT_EQ(SummarizeAgainst(*report, "loops").shapes, 1);
    EXPECT_THAT(FormatTable(*report), HasSubstr("adding"));
    EXPECT_TRUE(ToJson(*report)["summary_against"].contains("loops"));
  }
}

TEST(RunGraphBench, AWrongKernelIsMarked) {
  const absl::StatusOr<BenchReport> report = RunBench(AddRequest(1e-3f));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(Find(*report, "adding", kOurName)->correct);
  EXPECT_NEAR(Find(*report, "adding", kOurName)->max_error, 1e-3, 1e-6);
  EXPECT_EQ(Summarize(*report).shapes, 0);
}

// Our own kernels of single operations are a peer like others.
TEST(RunGraphBench, PartsAreAPeer) {
  BenchRequest request = AddRequest(0);
  request.peers = {kPartsPeer};
  request.made[kPartsPeer] = AddRequest(1e-3f).ours;
  const absl::StatusOr<BenchReport> report = RunBench(request);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(Find(*report, "adding", kOurName)->correct);
  ASSERT_NE(Find(*report, "adding", kPartsPeer), nullptr);
  EXPECT_FALSE(Find(*report, "adding", kPartsPeer)->correct);
  ASSERT_EQ(report->failed.size(), 2u);
}

// So are headers; those of a compiler that is missing are missing as a whole.
TEST(RunGraphBench, HeadersArePeers) {
  BenchRequest request = AddRequest(0);
  request.peers = {"header:wrong", "header:right", "header:none"};
  request.made["header:wrong"] = AddRequest(1e-3f).ours;
  request.made["header:right"] = AddRequest(0).ours;
  request.made["header:none"] = [](const BenchEntry&) { return absl::NotFoundError("no compiler none"); };
  const absl::StatusOr<BenchReport> report = RunBench(request);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_NE(Find(*report, "adding", "header:wrong"), nullptr);
  EXPECT_FALSE(Find(*report, "adding", "header:wrong")->correct);
  EXPECT_TRUE(Find(*report, "adding", "header:right")->correct);
  ASSERT_EQ(report->missing.size(), 1u);
  EXPECT_EQ(report->missing[0].peer, "header:none");
  for (const BenchFailure& failure : report->failed) EXPECT_NE(failure.name, "header:none");
  EXPECT_THAT(FormatTable(*report), HasSubstr("missing: header:none: no compiler none\n"));
  EXPECT_THAT(FormatTable(*report), HasSubstr("\nheader:right / kirsch: geometric mean"));
  EXPECT_EQ(ToJson(*report)["summary_of_headers"]["header:right"]["shapes"], 1);
}

// Bad input is an error, not a report without us.
TEST(RunGraphBench, ThereIsAKernelOfOurs) {
  BenchRequest request = AddRequest(0);
  request.entries.erase(request.entries.begin());
  EXPECT_EQ(RunBench(request).status(), absl::UnimplementedError("no exp"));
}

TEST(RunGraphBench, RefusesRequestsThatMakeNoSense) {
  BenchRequest request = AddRequest(0);
  request.peers = {"numpy"};
  EXPECT_THAT(std::string(RunBench(request).status().message()),
              HasSubstr("unknown peer 'numpy', expected one of openblas"));
}

// Every value keeps its memory until the last that reads it.
TEST(LoopsStorage, MemoryIsUsedAgainButNotTooEarly) {
  const Graph chain = GraphOf(
      "kernel f(x: f32[64,64], w: f32[64,64]):\n a = matmul(x, w)\n b = softmax(a)\n c = matmul(b, w)\n"
      " return matmul(c, w)");
  EXPECT_EQ(PlanStorage(chain, 4).bytes, 2u * 64 * 64 * 4);  // b takes the place of a
  const Graph kept = GraphOf(
      "kernel f(x: f32[64,64], w: f32[64,64]):\n a = matmul(x, w)\n b = softmax(a)\n c = matmul(b, w)\n"
      " return add(c, a)");
  EXPECT_EQ(PlanStorage(kept, 4).bytes, 3u * 64 * 64 * 4);
  const Graph transposed = GraphOf(
      "kernel f(x: f32[64,64], w: f32[64,64]):\n a = matmul(x, w)\n b = add(a, transpose(a))\n return "
      "matmul(b, w)");
  EXPECT_EQ(PlanStorage(transposed, 4).bytes, 2u * 64 * 64 * 4);  // not in place
  EXPECT_EQ(PlanStorage(transposed, 8).bytes, 4u * 64 * 64 * 4);
}

}  // namespace
}  // namespace kirsch
