// SPDX-License-Identifier: Apache-2.0
// Headers of families of graphs: every member is right through the public function, other sizes are refused,
// and the self-test that says so can fail.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "codegen/header/header_function.h"
#include "codegen/loop/loop_text.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kMlp[] =
    "kernel mlp[m = 1|2|5..6, n = 30..31](x: f32[m,40], w1: f32[40,72], w2: f32[72,n]):\n"
    " return matmul(gelu(matmul(x, w1)), w2)";

struct PlannedFamily {
  GraphFamily family;
  std::vector<ProgramTree> plans;

  MemberPrograms pointers() const {
    MemberPrograms pointers;
    for (const ProgramTree& plan : plans) pointers.push_back(&plan);
    return pointers;
  }
};

class GraphFamilyHeaderTest : public HeaderTest {
 protected:
  const Target planned_ = GetParam() ? Avx512Target() : Avx2Target();

  void SetUp() override {
    if (const std::string missing = MissingOnHost(planned_.features); !missing.empty())
      GTEST_SKIP() << "the host lacks " << missing;
  }

  PlannedFamily Planned(const std::string& text, int threads = 1, bool free_threads = false) const {
    const auto family = IsGraphShorthand(text) ? ParseShorthandFamily({text, {}}, "test")
                                               : ParseGraphFamily(Split({text, {}}, '\n'), "test");
    EXPECT_TRUE(family.ok()) << family.status();
    PlannedFamily planned{*family, {}};
    const Target target = free_threads ? WithFreeThreads(planned_) : planned_;
    for (int64_t i = 0; i < family->count(); ++i) {
      const auto result = PlanOf(family->member(i), target, threads);
      EXPECT_TRUE(result.ok()) << result.status();
      planned.plans.emplace_back(result->plan);
    }
    if (!family->member(0).HasConstants()) return planned;
    std::vector<Plan*> plans;
    for (ProgramTree& plan : planned.plans) plans.push_back(&std::get<Plan>(plan));
    SharePacking(plans);
    return planned;
  }

  HeaderFunction Function(const PlannedFamily& planned) const {
    HeaderFunction function = FunctionOf("kernel", planned.family, {{planned.pointers()}});
    function.variants = {
        {planned_, LowerMembers("kernel", planned.family, planned.pointers(), planned_), 0, 0, ""}};
    return function;
  }

  static std::string Print(const HeaderFunction& function, HeaderMode mode = HeaderMode::kAttributes) {
    return PrintHeaderFile({"kernel", mode, false, "", "0", {function}});
  }

  // What the self-test prints, and whether it passes.
  std::pair<std::string, bool> SelfTest(const std::string& header, const std::string& compiler) const {
    return RunSelfTest(header, "KERNEL_SELF_TEST", compiler);
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, GraphFamilyHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(GraphFamilyHeaderTest, EveryMemberIsRightWithEveryCompiler) {
  const PlannedFamily families[] = {
      Planned(kMlp),
      Planned(kMlp, 2),
      Planned("kernel q[m = 5..6](x: u8[m,67], w: s8[67,80], b: s32[80], s: f32[80]) -> u8[m,80]:\n"
              " sums = add(matmul(x, w), b)\n return cast(add(mul(cast(sums, f32), s), 3), u8)"),
      Planned("softmax bf16 1..20x70"),
      Planned("attention f32 heads=2 tokens=1..3|16 dim=20"),
      Planned("conv2d f32 1..2x20x9x9 filters=8|20 kernel=3x3 pad=1 layout=nhwc"),
      Planned("kernel gated[m = 1|4..5](x: f32[m,40], w1: const f32[40,72], w3: const f32[40,72], w2: const "
              "f32[72,40]):\n return matmul(mul(silu(matmul(x, w1)), matmul(x, w3)), w2)"),
      Planned("kernel mlp[m = 1|6, n = 2..3](x: bf16[m,30], p: f32[n,1,1], w: const bf16[30,72], b: const "
              "f32[72]):\n return mul(relu(add(matmul(x, w), b)), p)",
              2),
      Planned("conv2d f32 1..2x20x9x9 filters=20 kernel=3x3 pad=1 layout=nhwc const-filters"),
      Planned("kernel f[thread = 3..4, out = 1|7, phase = 2](x: f32[thread,out,phase]):\n return relu(x)"),
  };
  for (const std::string& compiler : Compilers())
    for (const PlannedFamily& planned : families) {
      const auto [text, passes] = SelfTest(Print(Function(planned)), compiler);
      EXPECT_TRUE(passes) << compiler << "\n" << planned.family.text() << text;
      EXPECT_EQ(text, "kernel: ok\n");
    }
}

TEST_P(GraphFamilyHeaderTest, TheSelfTestCanFail) {
  const HeaderFunction function = Function(Planned(kMlp));
  const std::string header = Print(function), gcc = Cat("gcc ", kC);
  ASSERT_TRUE(SelfTest(header, gcc).second);
  EXPECT_THAT(header, HasSubstr("int kernel(size_t m, size_t n, const float* __restrict x,"));
  EXPECT_THAT(header, HasSubstr("Returns 1 if m is one of 1..2|5..6, 30 <= n <= 31: its kernel ran."));
  const std::pair<std::string, std::string> mistakes[] = {
      {"kernel_m5_n31(x, ", "kernel_m5_n30(x, "},  // the wrong kernel
      {"kernel_m2_n30(x, ", "kernel_m1_n30(x, "},  // one that computes too little
      {"case 5:", "case 9:"},                      // a member refused
      {"case 6:", "case 7: case 6:"},              // sizes outside taken (without a look at the tensors)
      {"case 2:", "case 0: case 2:"},
  };
  for (const auto& [right, wrong] : mistakes) {
    std::string spoilt = header;
    const size_t at = spoilt.rfind(right, spoilt.find("KERNEL_SELF_TEST\n#include"));
    ASSERT_NE(at, std::string::npos) << right;
    spoilt.replace(at, right.size(), wrong);
    // Without operands there is nothing to compute.
    spoilt =
        absl::StrReplaceAll(spoilt, {{"NULL, NULL, NULL, NULL", "p0, p1, p2, out"}, {"NULL)", "scratch)"}});
    EXPECT_FALSE(SelfTest(spoilt, gcc).second) << wrong;
  }
}

// Each member's samples count.
TEST_P(GraphFamilyHeaderTest, SelfTestsRejectAnotherResult) {
  HeaderFunction function = Function(Planned("softmax f32 1..3x50"));
  for (GraphSamples& member : function.samples) {
    GraphSample& sample = member.samples.back();
    const GraphSample right = sample;
    sample.value += 3 * sample.error;
    const auto [text, passes] = SelfTest(Print(function), Cat("gcc ", kC));
    EXPECT_FALSE(passes);
    EXPECT_THAT(text, HasSubstr(Cat("kernel: size0 = ", &member - &function.samples[0] + 1, ": element ")));
    sample = right;
  }
}

TEST_P(GraphFamilyHeaderTest, LargeFamiliesHaveFewSamplesOfEach) {
  const HeaderFunction few = Function(Planned("softmax f32 3..19x50")),
                       many = Function(Planned("softmax f32 3..18x50"));
  for (const GraphSamples& member : few.samples) EXPECT_EQ(member.samples.size(), 3u);
  for (const GraphSamples& member : many.samples) EXPECT_EQ(member.samples.size(), 9u);
}

TEST_P(GraphFamilyHeaderTest, OfMembersThatSharePlansOneInSomeIsSampled) {
  PlannedFamily planned = Planned("softmax f32 1..600x5");
  for (size_t i = 0; i < planned.plans.size(); ++i)
    if (i != 298 && i != 599) std::get<Plan>(planned.plans[i]).nests.clear();
  const HeaderFunction function = FunctionOf("kernel", planned.family, {{planned.pointers()}});
  for (size_t i = 0; i < function.samples.size(); ++i) {
    const bool sampled = i % 9 == 0 || i == 298 || i == 599;
    EXPECT_EQ(function.samples[i].samples.size(), sampled ? 3u : 0u) << i;
    EXPECT_EQ(function.samples[i].elements.front(), static_cast<int64_t>(5 * (i + 1)));
  }
}

TEST_P(GraphFamilyHeaderTest, SizesThatNobodyLooksAtAreSampled) {
  PlannedFamily planned = Planned("softmax f32 1..9000x5");
  for (ProgramTree& plan : planned.plans) std::get<Plan>(plan).nests.clear();
  const HeaderFunction function = FunctionOf("kernel", planned.family, {{planned.pointers()}});
  const std::vector<uint32_t>& looked_at = function.sizes[0].values;
  int between = 0;
  for (const GraphSamples& member : function.samples) {
    EXPECT_EQ(member.elements.front(), 5 * member.sizes[0]);
    if (std::binary_search(looked_at.begin(), looked_at.end(), member.sizes[0])) continue;
    EXPECT_EQ(member.samples.size(), 3u);
    ++between;
  }
  EXPECT_GT(between, 25);
}

TEST_P(GraphFamilyHeaderTest, EqualProceduresArePrintedOnce) {
  const PlannedFamily planned = Planned("attention f32 heads=2 tokens=30..33 dim=16");
  const HeaderFunction function = Function(planned);
  const std::string header = Print(function);
  size_t procedures = 0;
  std::set<std::string> names;
  for (const LoopProgram& program : function.variants.front().programs) {
    procedures += program.procedures.size() - 1;
    for (size_t i = 1; i < program.procedures.size(); ++i) names.insert(program.procedures[i].name);
  }
  ASSERT_LT(names.size(), procedures);
  // Functions may be instances of macros, so they are looked for behind the preprocessor.
  const std::string text =
      Output(Cat("gcc -E -P -x c ", Write("kernel.h", header), " -o - | grep -o 'void kernel_[a-z0-9_]*('"));
  std::map<std::string, int> printed;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) ++printed[std::string(line)];
  EXPECT_EQ(printed.size(), names.size() + planned.plans.size()) << text;  // and the entries
  for (const auto& [name, times] : printed) EXPECT_EQ(times, 1) << name;
  for (const std::string& name : names)
    EXPECT_TRUE(printed.contains(Cat("void kernel_", WithoutHash(name), "("))) << name;
}

// Members with fewer phases than others do nothing in the rest, whatever thread calls.
constexpr char kPhases[] = R"(#include "kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void* Memory(size_t bytes) {
  char* block = (char*)calloc(bytes + 128, 1);
  return block + (64 - (size_t)block % 64);
}
int main(void) {
  static const size_t sizes[] = {$SIZES}, phases[] = {$PHASES};
  float* x = (float*)Memory(200 * 40 * 4);
  float* w1 = (float*)Memory(40 * 72 * 4);
  float* w2 = (float*)Memory(72 * 24 * 4);
  float* out = (float*)Memory(200 * 24 * 4);
  void* shared = Memory(kernel_shared_bytes());
  size_t i, phase, thread, j;
  if (kernel_phases() != $MOST) return 2;
  for (j = 0; j < 200 * 40; ++j) x[j] = 1;
  for (j = 0; j < 40 * 72; ++j) w1[j] = 1;
  for (j = 0; j < 72 * 24; ++j) w2[j] = 1;
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    memset(out, 0, 200 * 24 * 4);
    for (phase = 0; phase < kernel_phases(); ++phase) {
      if (phase == phases[i]) {
        for (j = 0; j < sizes[i] * 24; ++j)
          if (out[j] != 40 * 72) return printf("m %zu: element %zu is %g\n", sizes[i], j, out[j]), 1;
        memset(out, 0x7f, 200 * 24 * 4);
      }
      for (thread = 0; thread < 2; ++thread)
        if (kernel(sizes[i], x, w1, w2, out, $SCRATCHthread, 2, shared, phase) != 1) return 3;
    }
    for (j = 0; phases[i] < kernel_phases() && j < sizes[i] * 24 * 4; ++j)
      if (((char*)out)[j] != 0x7f) return printf("m %zu: touched in a later phase\n", sizes[i]), 1;
  }
  memset(out, 0x7f, 200 * 24 * 4);
  for (i = 0; i < 300; ++i) {
    for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]) && sizes[j] != i; ++j) continue;
    if (j < sizeof(sizes) / sizeof(sizes[0])) continue;
    for (phase = 0; phase < kernel_phases(); ++phase)
      if (kernel(i, x, w1, w2, out, $SCRATCH0, 1, shared, phase) != 0) return printf("m %zu is taken\n", i), 1;
  }
  for (j = 0; j < 200 * 24 * 4; ++j)
    if (((char*)out)[j] != 0x7f) return printf("touched for no member\n"), 1;
  return 0;
}
)";

TEST_P(GraphFamilyHeaderTest, PhasesAreTheMostOfAnyMember) {
  const PlannedFamily planned = Planned(
      "kernel p[m = 1..2|100|200](x: f32[m,40], w1: f32[40,72], w2: f32[72,24]):\n"
      " return matmul(relu(matmul(x, w1)), w2)",
      2, true);
  const HeaderFunction function = Function(planned);
  std::set<int> phases;
  std::vector<int> of_each;
  for (const ProgramTree& plan : planned.plans) of_each.push_back(std::get<Plan>(plan).phases());
  phases.insert(of_each.begin(), of_each.end());
  ASSERT_GT(phases.size(), 1u) << "members have the same phases";
  ASSERT_EQ(function.phases(), *phases.rbegin());
  const std::string header = Print(function);
  const std::string user = absl::StrReplaceAll(
      kPhases, {{"$SIZES", absl::StrJoin(planned.family.sizes().front().values, ", ")},
                {"$PHASES", absl::StrJoin(of_each, ", ")},
                {"$MOST", Cat(function.phases())},
                {"$SCRATCH", function.signature().scratch ? "Memory(kernel_scratch_bytes()), " : ""}});
  const auto passes = [&](const std::string& text) {
    Write("kernel.h", text);
    return Compile(Cat("gcc ", kC), "-O1", Write("user.c", user), Path("user")) &&
           std::system((Path("user") + " > " + Path("out")).c_str()) == 0;
  };
  EXPECT_TRUE(passes(header));
  ASSERT_THAT(header, HasSubstr("phase == 0) kernel_m"));
  EXPECT_FALSE(passes(absl::StrReplaceAll(
      header, {{"if (phase == 0) kernel_m", "kernel_m"}, {"&& phase == 0) kernel_m", ") kernel_m"}})));
  EXPECT_TRUE(SelfTest(header, Cat("gcc ", kC)).second);
}

TEST_P(GraphFamilyHeaderTest, EveryModeCompilesUnused) {
  const HeaderFunction function = Function(Planned("softmax f32 2..3x33"));
  for (const std::string& compiler : Compilers()) {
    for (HeaderMode mode : {HeaderMode::kAttributes, HeaderMode::kMacros}) {
      Write("kernel.h", Print(function, mode));
      const std::string user = Write("user.c", "#include \"kernel.h\"\n#include \"kernel.h\"\nint unused;\n");
      EXPECT_TRUE(Compile(compiler, "-c", user, Path("user.o")));
      EXPECT_TRUE(Compile(compiler, "-c " + Isa(), user, Path("user.o")));
    }
    Write("kernel.h", Print(function, HeaderMode::kBare));
    const std::string user =
        Write("user.c", "#include <immintrin.h>\n#include <stddef.h>\n#include \"kernel.h\"\nint unused;\n");
    EXPECT_TRUE(Compile(compiler, "-c " + Isa(), user, Path("user.o")));
  }
}

}  // namespace
}  // namespace kirsch::testing
