// SPDX-License-Identifier: Apache-2.0
// Families of graphs on the command line. KIRSCH_BINARY is the path of the program.
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "tests/testing/cli_testing.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::Outcome;
using ::testing::StartsWith;

constexpr char kKernels[] =
    "kernel mlp[m = 1..3|8, n = 16|17](x: f32[m,24], w: f32[24,n], b: f32[n]):\n"
    "  return relu(add(matmul(x, w), b))  # one matmul\n"
    "narrow = softmax f32 1..2x50\n";

class GraphFamilyCliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        fs::path(::testing::TempDir()) /
        Cat("kirsch_family_", getpid(), "_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    ASSERT_TRUE(WriteFile(Path("k.kirsch"), kKernels).ok());
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  // With a table in the test's directory.
  Outcome Run(const std::string& arguments) const {
    return testing::RunKirsch(Cat("XDG_CACHE_HOME=", directory_.string()), arguments, directory_.string());
  }
  void ExpectRefused(const std::string& arguments, const std::string& message) const {
    testing::ExpectRefusal(Run(arguments), arguments, message);
  }
  nlohmann::json Json(const std::string& name) const {
    return nlohmann::json::parse(*ReadFile(Path(name)), nullptr, false);
  }

  fs::path directory_;
};

TEST_F(GraphFamilyCliTest, IsSynthesizedAndVerified) {
  const std::string command =
      Cat("synth -f ", Path("k.kirsch"), " --kernel mlp -o ", Path("k.h"), " --json ", Path("k.json"));
  const Outcome outcome = Run(command);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("mlp[m = 1..3|8, n = 16..17] on host: 8 members, "));
  EXPECT_THAT(outcome.err, HasSubstr("m            n            kernels  GFLOP/s, from - to  decision\n"));
  EXPECT_THAT(outcome.err, HasSubstr("verified: interpreter passed, jit passed, header passed"));
  EXPECT_THAT(*ReadFile(Path("k.h")), HasSubstr("kernels    8, one for each size"));
  const nlohmann::json json = Json("k.json");
  EXPECT_THAT(json["kernel"].get<std::string>(),
              StartsWith("kernel mlp[m = 1..3|8, n = 16|17](x: f32[m,24]"));
  EXPECT_EQ(json["members"], 8);
  EXPECT_EQ(json["verify"]["ok"], true);
  EXPECT_EQ(json["emit"]["bytes"], fs::file_size(Path("k.h")));
  EXPECT_GT(json["search"]["specs_solved"], 0);
  ASSERT_EQ(json["kernels"].size(), 8u);
  EXPECT_EQ(json["kernels"][7]["m"], 8);
  EXPECT_EQ(json["kernels"][7]["n"], 17);
  EXPECT_GT(json["kernels"][7]["cost_cycles"], 0);
  size_t covered = 0;
  for (const nlohmann::json& region : json["regions"]) {
    covered += region["kernels"].get<size_t>();
    EXPECT_LE(region["m"][0], region["m"][1]);
    EXPECT_THAT(region["decision"].get<std::string>(), StartsWith("matmul"));
    EXPECT_THAT(region["plan"].get<std::string>(), HasSubstr("contraction("));
  }
  EXPECT_EQ(covered, 8u);

  // What the members' stages need is in the table now.
  const std::string header = *ReadFile(Path("k.h"));
  ASSERT_EQ(Run(command).code, 0);
  EXPECT_EQ(Json("k.json")["search"]["specs_solved"], 0);
  EXPECT_EQ(*ReadFile(Path("k.h")), header);
}

TEST_F(GraphFamilyCliTest, StandsInAFileForSeveralTargets) {
  const Outcome outcome =
      Run(Cat("synth -f ", Path("k.kirsch"), " --target haswell,host --prefix my_ --threads 2 -o ",
              Path("k.h"), " --json ", Path("k.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("softmax f32 1..2x50 on haswell: "));
  const nlohmann::json json = Json("k.json");
  ASSERT_EQ(json["kernels"].size(), 4u);
  EXPECT_EQ(json["kernels"][0]["name"], "my_mlp");
  EXPECT_EQ(json["kernels"][3]["members"], 2);
  EXPECT_EQ(json["verify"]["ok"], true);
  EXPECT_EQ(json["verify"]["engines"].back()["text"], "10 of 10 members, through the public functions");
  const std::string header = *ReadFile(Path("k.h"));
  EXPECT_THAT(header, HasSubstr("int my_mlp(size_t m, size_t n, const float* __restrict x, "));
  EXPECT_THAT(header, HasSubstr("int my_narrow(size_t size0, const float* __restrict x, "));
  EXPECT_THAT(header, HasSubstr("my_mlp_haswell_m8_n17("));
  EXPECT_THAT(header, HasSubstr("my_narrow_haswell_size0_2("));
}

// For each number of queries; whichever size is said first.
TEST_F(GraphFamilyCliTest, PlansForAnyNumberOfKeysAreSharedWhereQueriesVaryToo) {
  for (const char* sizes : {"queries = 1..2, keys = 5..60", "keys = 5..60, queries = 1..2"}) {
    ASSERT_TRUE(WriteFile(Path("a.kirsch"),
                          Cat("kernel attend[", sizes,
                              "](q: f32[2,queries,16], k: f32[2,keys,16] strides=[16,32,1], v: f32[2,keys,8] "
                              "strides=[480,8,1]) -> f32[2,queries,8]:\n"
                              "  return matmul(softmax(matmul(q, transpose(k))), v)\n"))
                    .ok());
    const Outcome outcome =
        Run(Cat("synth -f ", Path("a.kirsch"), " -o ", Path("a.h"), " --json ", Path("a.json")));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("verified: interpreter passed, jit passed, header passed"));
    const nlohmann::json json = Json("a.json");
    EXPECT_EQ(json["members"], 112);
    EXPECT_LT(json["regions"].size(), 24u);
    size_t covered = 0;
    for (const nlohmann::json& region : json["regions"]) {
      EXPECT_EQ(region["queries"][0], region["queries"][1]);
      covered += region["kernels"].get<size_t>();
    }
    EXPECT_EQ(covered, 112u);
    EXPECT_THAT(*ReadFile(Path("a.h")),
                HasSubstr(Cat("kernels    ", json["regions"].size(), ", each for a range of sizes")));
  }
}

// Programs serve all sizes between those of a list; the function takes those of the list alone.
TEST_F(GraphFamilyCliTest, SizesBetweenTwoStepsAreRefused) {
  ASSERT_TRUE(WriteFile(Path("a.kirsch"),
                        "kernel attend[t = 8..80 step 8](q: f32[2,16], k: f32[t,16], v: f32[t,8]):\n"
                        "  return matmul(softmax(matmul(q, transpose(k))), v)\n")
                  .ok());
  const Outcome outcome =
      Run(Cat("synth -f ", Path("a.kirsch"), " -o ", Path("a.h"), " --json ", Path("a.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("verified: interpreter passed, jit passed, header passed"));
  const nlohmann::json json = Json("a.json");
  EXPECT_EQ(json["members"], 10);
  EXPECT_LT(json["regions"].size(), 8u);
  EXPECT_THAT(*ReadFile(Path("a.h")), HasSubstr("Returns 1 if 8 <= t <= 80 in steps of 8"));
  ASSERT_TRUE(
      WriteFile(Path("a.c"),
                "#include \"a.h\"\n"
                "static float q[32], k[90 * 16], v[90 * 8], out[16];\n"
                "static char scratch[1 << 20] __attribute__((aligned(64)));\n"
                "int main(void) {\n"
                "  for (size_t t = 0; t < 90; ++t)\n"
                "    if (attend(t, q, k, v, out SCRATCH) != (t > 0 && t <= 80 && t % 8 == 0)) return 1;\n"
                "  return 0;\n"
                "}\n")
          .ok());
  const bool scratch = absl::StrContains(*ReadFile(Path("a.h")), "attend_scratch_bytes");
  EXPECT_EQ(std::system(Cat("gcc -std=gnu99 -O1 ", scratch ? "'-DSCRATCH=, scratch'" : "-DSCRATCH=", " ",
                            Path("a.c"), " -o ", Path("a"), " -lm && ", Path("a"))
                            .c_str()),
            0);
}

// No number is the result.
TEST_F(GraphFamilyCliTest, NothingToCompareIsNoFailure) {
  ASSERT_TRUE(
      WriteFile(Path("nan.kirsch"), "kernel f[m = 1..2](x: f32[m,4]):\n  return sqrt(neg(exp(x)))\n").ok());
  const Outcome outcome = Run("verify -f " + Path("nan.kirsch"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("not run  header: no element of a result"));
  EXPECT_EQ(Run("synth -f " + Path("nan.kirsch") + " -o " + Path("nan.h")).code, 0);
}

TEST_F(GraphFamilyCliTest, OtherCommands) {
  const Outcome verify = Run("verify 'softmax f32 1..3x9'");
  EXPECT_EQ(verify.code, 0) << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("passed  jit: 3 of 3 members\n"));
  EXPECT_THAT(verify.out, HasSubstr("passed  header: 3 of 3 members, through the public functions\n"));
  const Outcome explain = Run("explain 'attention f32 heads=2 tokens=2..3 dim=4'");
  EXPECT_EQ(explain.code, 0) << explain.err;
  EXPECT_THAT(explain.out, StartsWith("attention f32 heads=2 tokens=2..3 dim=4\n\ntokens       kernels "));
  EXPECT_THAT(explain.out, HasSubstr("contraction("));
  const Outcome c = Run("synth 'softmax f32 1..3x9' --no-verify --emit c");
  EXPECT_EQ(c.code, 0) << c.err;
  EXPECT_THAT(c.out, HasSubstr("\nint softmax_f32_1to3x9(size_t size0, "));
  EXPECT_EQ(Run("synth 'softmax f32 1..3x9' --header-mode bare -o " + Path("k.h")).code, 0);
  EXPECT_EQ(Run("synth 'softmax f32 1..3x9' --time-budget 0.000001 -o " + Path("k.h")).code, 0);
  EXPECT_EQ(Run("synth 'softmax f32 3..3x9' --no-verify --emit asm").code, 0);  // a family of one
}

// One buffer for all members: in headers, for several targets, in what is said, and out of the table.
TEST_F(GraphFamilyCliTest, ConstantsArePackedOnceForAll) {
  ASSERT_TRUE(
      WriteFile(Path("c.kirsch"),
                "kernel mlp[m = 1..3|40 mixture=1:0.7,40:0.3](x: f32[m,64], w: const f32[64,200], b: const "
                "f32[200], v: const f32[200,48]) -> f32[m,48]:\n"
                "  return matmul(relu(add(matmul(x, w), b)), v)\n")
          .ok());
  const std::string command = Cat("synth -f ", Path("c.kirsch"), " --target haswell,host -o ", Path("c.h"),
                                  " --json ", Path("c.json"));
  const Outcome outcome = Run(command);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("packed once: w "));
  EXPECT_THAT(outcome.err, HasSubstr("; b as it is; v 200x48 row as "));
  EXPECT_THAT(outcome.err, HasSubstr("above each size's own packing, for 1:0.7,40:0.3\n"));
  EXPECT_THAT(outcome.err, HasSubstr("most loss"));
  const nlohmann::json json = Json("c.json");
  ASSERT_EQ(json["kernels"].size(), 2u);
  for (const nlohmann::json& kernel : json["kernels"]) {
    EXPECT_THAT(kernel["shared_copy"]["layout"].get<std::string>(),
                HasSubstr("; b as it is; v 200x48 row as "));
    EXPECT_EQ(kernel["shared_copy"]["mixture"], "1:0.7,40:0.3");
    EXPECT_GE(kernel["shared_copy"]["loss"], 0);
    // Those that the mixture names are known.
    int64_t known = 0;
    for (const nlohmann::json& region : kernel["regions"]) known += region["loss"]["known"].get<int64_t>();
    EXPECT_EQ(known, 2);
  }
  EXPECT_EQ(json["verify"]["ok"], true);
  EXPECT_GE(json["emit"]["packed_bytes"], (64 * 200 + 200 + 200 * 48) * 4);
  const std::string header = *ReadFile(Path("c.h"));
  EXPECT_THAT(header, HasSubstr("void mlp_pack(const float* __restrict w, const float* __restrict b, "
                                "const float* __restrict v, void* __restrict packed)"));
  EXPECT_THAT(header,
              HasSubstr("int mlp(size_t m, const float* __restrict x, const void* __restrict packed, "));

  // The table has it all.
  ASSERT_EQ(Run(command).code, 0);
  EXPECT_EQ(*ReadFile(Path("c.h")), header);

  const Outcome verify = Run(Cat("verify --threads 2 -f ", Path("c.kirsch")));
  EXPECT_EQ(verify.code, 0) << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("passed  header: 4 of 4 members, through the public functions\n"));
  const Outcome explain = Run(Cat("explain -f ", Path("c.kirsch")));
  EXPECT_EQ(explain.code, 0) << explain.err;
  EXPECT_THAT(explain.out, HasSubstr("contraction("));
  const Outcome convolution =
      Run("verify 'conv2d f32 1..3x8x9x9 filters=16 kernel=3x3 pad=1 layout=nhwc const-filters' "
          "--allow-winograd");
  EXPECT_EQ(convolution.code, 0) << convolution.err;
  EXPECT_EQ(Run(Cat("synth --time-budget 0.000001 -f ", Path("c.kirsch"), " -o ", Path("c.h"))).code, 0);
}

TEST_F(GraphFamilyCliTest, WhatItCannotBeIsRefused) {
  ASSERT_TRUE(WriteFile(Path("s"), "microkernel").ok());
  const std::string mlp = Cat(" -f ", Path("k.kirsch"), " --kernel mlp");
  ExpectRefused(
      Cat("synth", mlp, " -o ", Path("o"), " --emit schedule"),
      "--emit: expected header, c, ll, asm, obj, program or loops for a family of graphs, got 'schedule'");
  ASSERT_TRUE(WriteFile(Path("c.kirsch"),
                        "kernel f[m = 1..3](x: f32[m,8], w: const f32[8,8]):\n return matmul(exp(x), w)\n")
                  .ok());
  ExpectRefused("synth --tune -f " + Path("c.kirsch") + " -o " + Path("o"),
                "f: expected a single size where programs are tuned and a parameter is constant");
  ExpectRefused("verify 'softmax f32 1..3x4' --schedule " + Path("s"),
                "--schedule: expected a single kernel for a single target");
  ExpectRefused("db precompute 'softmax f32 1..3x4'", "FAMILY: expected a family of specs");
  ExpectRefused("synth 'softmax f32 3..1x4'", "spec:1:16: expected the last size of a range from 3");
  // A member that no plan is known for.
  ASSERT_TRUE(WriteFile(Path("bad.kirsch"), "kernel f[n = 1..2](x: s32[n,4]):\n  return x\n").ok());
  const Outcome bad = Run("synth --no-verify -f " + Path("bad.kirsch"));
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.kirsch:1:20: expected an operation at least"));
  EXPECT_THAT(bad.err, HasSubstr("(for n = 1)"));
}

}  // namespace
}  // namespace kirsch
