// SPDX-License-Identifier: Apache-2.0
// Products of tiles (AMX) through the whole path, with a rest of every side, and where tiles are configured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/host_cpu.h"
#include "codegen/loop/loop_text.h"
#include "codegen/loop/procedure_builder.h"
#include "codegen/loop/tile_configuration.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using testing::HostRuns;
using testing::MatmulSpec;
using ::testing::Not;

constexpr MatmulTypes kTiled[] = {{Dtype::kBf16, Dtype::kBf16, Dtype::kF32},
                                  {Dtype::kBf16, Dtype::kBf16, Dtype::kBf16},
                                  {Dtype::kU8, Dtype::kS8, Dtype::kS32},
                                  {Dtype::kS8, Dtype::kU8, Dtype::kS32},
                                  {Dtype::kS8, Dtype::kS8, Dtype::kS32}};

bool UsesTiles(const Impl& impl) {
  return impl.decision.layout.kind == LayoutKind::kTiles ||
         std::any_of(impl.children.begin(), impl.children.end(),
                     [](const Impl::Child& child) { return UsesTiles(child.impl); });
}

class TilesTest : public ::testing::Test {
 protected:
  Impl Chosen(const Spec& spec) const {
    HashMemo memo;
    return Search(PlaceOperands(spec, Residency::kWarm, target_), model_, memo, {}).impl;
  }
  // The interpreter runs anywhere, machine code where the CPU has it.
  void ExpectRight(const Spec& spec, bool header = false) {
    const Impl impl = Chosen(spec);
    programs_of_tiles_ += UsesTiles(impl) ? 1 : 0;
    VerifyOptions options;
    options.header = header;
    const VerifyReport report = VerifyKernel(impl, target_, options);
    EXPECT_TRUE(report.ok) << testing::Describe(spec) << "\n"
                           << report.first_mismatch << "\n"
                           << testing::Describe(impl);
  }
  void TearDown() override {
    if (!HostRuns(target_) && !HasFailure())
      GTEST_SKIP() << "interpreted only: this host lacks " << MissingOnHost(target_.features);
  }

  const Target target_ = testing::MatrixTarget();
  const CostModel model_{target_};
  int programs_of_tiles_ = 0;
};

TEST_F(TilesTest, EveryRestIsRight) {
  int round = 0;
  for (const MatmulTypes& types : kTiled)
    for (uint32_t m : {1, 5, 16, 17, 33, 50})
      for (uint32_t n : {16, 23, 80})
        for (uint32_t k : {3, 64, 101}) {
          Spec spec = MatmulSpec(
              {.m = m, .k = k, .n = n, .lhs_gap = k % 5, .accumulate = m % 2 == 0, .types = types});
          spec.operand[MatmulDims::kRhs].constant = 1;
          ExpectRight(spec, ++round % 40 == 0);
          ASSERT_FALSE(HasFailure());
        }
  EXPECT_GT(programs_of_tiles_, round / 2);
}

TEST_F(TilesTest, EpiloguesAndOrdersAndBatchesAreRight) {
  std::mt19937_64 random(5);
  for (const MatmulTypes& types : kTiled)
    for (int round = 0; round < 12 && !HasFailure(); ++round) {
      const Spec plain =
          testing::RandomMatmulSpec({.max_side = 120, .max_flops = 4e6, .types = types}, &random);
      ExpectRight(round % 2 == 0 ? plain : testing::WithRandomEpilogue(plain, &random), round == 1);
    }
  EXPECT_GT(programs_of_tiles_, 10);
}

TEST_F(TilesTest, ThreadsConfigureTheirOwn) {
  for (const MatmulTypes& types : kTiled) {
    Spec spec = MatmulSpec({.m = 100, .k = 96, .n = 200, .types = types});
    spec.threads = 3;
    ExpectRight(spec);
  }
  EXPECT_EQ(programs_of_tiles_, 5);
}

// Long sums of floats are not left to a chain of products.
TEST_F(TilesTest, LongSumsAreCutOrMadeOtherwise) {
  Spec spec = MatmulSpec({.m = 2, .k = 70000, .n = 16, .types = kTiled[0]});
  spec.operand[MatmulDims::kRhs].constant = 1;
  ExpectRight(spec);
}

class TilesHeaderTest : public testing::HeaderTest {};
INSTANTIATE_TEST_SUITE_P(, TilesHeaderTest, ::testing::Values(false));

// A header asks for permission when it is told to; without it, it takes the next best variant.
TEST_P(TilesHeaderTest, PermissionIsAskedForByACall) {
  const Target matrix = testing::MatrixTarget(), plain = testing::Avx2Target();
  Spec spec = MatmulSpec({.m = 40, .k = 70, .n = 50, .types = kTiled[0]});
  HeaderFunction function;
  function.name = "product";
  function.text = "matmul bf16*bf16->f32 40x70x50";
  function.members = {{spec, false}};
  for (const Target& target : {matrix, plain}) {
    HashMemo memo;
    const CostModel model(target);
    const Impl impl = Search(PlaceOperands(spec, Residency::kWarm, target), model, memo, {}).impl;
    const std::string name = target.name == plain.name ? "product_plain" : "product_tiles";
    function.variants.push_back({target, {Lower(impl, target, name)}, 0, 0, ""});
  }
  const std::string text = PrintHeaderFile({"product", HeaderMode::kAttributes, false, "", "0", {function}});
  EXPECT_THAT(text, HasSubstr("int product_enable(void)"));
  for (const std::string& compiler : testing::Compilers()) {
    const auto [out, passes] = RunSelfTest(text, "PRODUCT_SELF_TEST", compiler);
    EXPECT_EQ(passes, HostRuns(plain)) << compiler << "\n" << out;
    if (HostRuns(matrix)) {
      EXPECT_THAT(out, HasSubstr("product for matrix-test: ok")) << compiler;
    }
  }
  if (!HostRuns(matrix)) GTEST_SKIP() << "this host lacks " << MissingOnHost(matrix.features);
  const std::string user = Write("user.c",
                                 "#include \"kernel.h\"\n"
                                 "int main(void) {\n"
                                 "  if (!product_supported() || product_choose() != 2) return 1;\n"
                                 "  return product_enable() == 1 && product_choose() == 1 ? 0 : 2;\n"
                                 "}\n");
  Write("kernel.h", text);
  EXPECT_TRUE(Compile(testing::Compilers().front(), "-O1 -Wno-unused-function", user, Path("user")));
  EXPECT_TRUE(Run(Path("user")));
}

// A program of calls, in which procedure i needs tiles of i rows (0: none at all).
class Calls {
 public:
  void Call(int procedure) { builder_.Do(kirsch::Call{procedure, {}, {}}); }
  template <typename Body>
  void Loop(int64_t count, const Body& body) {
    builder_.Loop(Constant(count), [&](VarId) { body(); });
  }
  // Call i is "i", a configuration "(i)", a loop "[...]".
  std::string Configured() && {
    LoopProgram program;
    program.name = "entry";
    program.procedures.push_back(std::move(builder_).Build());
    for (uint8_t rows = 1; rows <= 3; ++rows) {
      program.procedures.push_back(ProcedureBuilder("tile").Build());
      if (rows == 3) continue;
      program.procedures.back().tiles.emplace().fill(rows);
    }
    ConfigureTiles(&program);
    return Text(program.procedures[0].body);
  }

 private:
  static std::string Text(const std::vector<Stmt>& block) {
    std::string text;
    for (const Stmt& stmt : block) {
      if (const auto* const call = std::get_if<kirsch::Call>(&stmt.op)) Append(&text, call->procedure);
      if (const auto* const tiles = std::get_if<TileConfigure>(&stmt.op))
        Append(&text, "(", static_cast<int>(tiles->rows[0]), ")");
      if (std::holds_alternative<TileRelease>(stmt.op)) text += ".";
      if (const auto* const loop = std::get_if<For>(&stmt.op)) Append(&text, "[", Text(loop->body), "]");
    }
    return text;
  }

  ProcedureBuilder builder_{"entry"};
};

std::string Configured(const std::function<void(Calls&)>& write) {
  Calls calls;
  write(calls);
  return std::move(calls).Configured();
}

TEST(ConfigureTiles, OnceForAllCallsOfOneKind) {
  EXPECT_EQ(Configured([](Calls& c) { c.Call(1), c.Call(3), c.Call(1); }), "(1)131.");
  EXPECT_EQ(Configured([](Calls& c) { c.Loop(4, [&] { c.Loop(5, [&] { c.Call(1), c.Call(3); }); }); }),
            "(1)[[13]].");
  EXPECT_EQ(Configured([](Calls& c) { c.Call(3); }), "3.");
}

TEST(ConfigureTiles, AgainWhereKindsTakeTurns) {
  EXPECT_EQ(Configured([](Calls& c) { c.Call(1), c.Call(2), c.Call(2), c.Call(1); }), "(1)1(2)22(1)1.");
  EXPECT_EQ(Configured([](Calls& c) {
              c.Loop(4, [&] {
                c.Loop(5, [&] { c.Call(1); });
                c.Call(2);
              });
            }),
            "[(1)[1](2)2].");
  // A trip ends as it began.
  EXPECT_EQ(Configured([](Calls& c) { c.Loop(4, [&] { c.Call(1), c.Call(2), c.Call(1); }), c.Call(1); }),
            "(1)[1(2)2(1)1]1.");
  // What follows a loop may follow none of its trips.
  EXPECT_EQ(Configured([](Calls& c) { c.Call(1), c.Loop(4, [&] { c.Call(1), c.Call(2); }), c.Call(2); }),
            "(1)1[(1)1(2)2](2)2.");
}

}  // namespace
}  // namespace kirsch
