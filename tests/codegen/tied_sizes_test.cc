// SPDX-License-Identifier: Apache-2.0
// Families in which sizes follow from others (t = q + p): members are the kernel with numbers in its text,
// their kernels are right, alone or shared, on one and two threads, and so is the public function.
// KIRSCH_TIED_FAMILIES=50 draws so many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <variant>
#include <vector>

#include "codegen/llvm/emit.h"
#include "codegen/verify/verify.h"
#include "spec/language/graph_parser.h"
#include "spec/language/kernel_file.h"
#include "spec/text/cat.h"
#include "synthesis/kernel_library.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

using Values = std::map<std::string, uint32_t>;  // of names

// A kernel's text in pieces, and what its names are worth. The arithmetic is the test's own.
struct TiedText {
  std::string sizes, rest;                // "q = 1..5, t = q + 3", and "(x: f32[q,t], ..."
  std::vector<std::string> passed;        // what callers pass, in order
  std::function<void(Values*)> add_ties;  // to the values that callers pass
  std::string rows, keys;                 // the names that count them; empty: none does
  std::string text() const { return Cat("kernel f[", sizes, "]", rest); }

  // The kernel with numbers in its text.
  Graph Member(const Values& values) const {
    std::string text = rest;
    for (const auto& [name, value] : values)
      text = std::regex_replace(text, std::regex("([,\\[])" + name + "(?=[,\\]])"), Cat("$01", value));
    const auto graph = ParseGraph(Split({Cat("kernel f", text), {}}, '\n'), "test");
    EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
    return graph.value_or(Graph());
  }
  Values Of(const std::vector<uint32_t>& passed_values) const {
    Values values;
    for (size_t i = 0; i < passed.size(); ++i) values[passed[i]] = passed_values[i];
    add_ties(&values);
    return values;
  }
};

// A text that is like what users write: queries that see what was there before them.
class Drawer {
 public:
  explicit Drawer(uint64_t seed) : random_(seed) {}

  TiedText Draw() {
    switch (Below(6)) {
      case 0:
        return AfterOthers(/*number=*/0);
      case 1:
        return AfterOthers(1 + Below(9));
      case 2:
        return WithANumber();
      case 3:
        return OfThemselves();
      case 4:
        return OneByTwoNames();
      default:
        return RowsOfBoth();
    }
  }

 private:
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  std::string Range(uint32_t least, uint32_t more) { return Cat(least, "..", least + more); }

  // An attention whose names of rows and keys are q and t.
  std::string Attention() {
    const uint32_t heads = 1 + Below(3), d = 8 * (1 + Below(2));
    const std::string row = Below(2) == 0 ? Cat(d) : Cat(heads * d),
                      head = row == Cat(d) ? Cat(200 * d) : Cat(d);
    const std::string cache = Cat("f32[", heads, ",t,", d, "] strides=[", head, ",", row, ",1]");
    const bool masked = Below(2) == 0;
    return Cat("(x: f32[", heads, ",q,", d, "], k: ", cache, ", v: ", cache,
               masked ? ", mask: f32[q,t] strides=[200,1]" : "", "):\n  return matmul(softmax(",
               masked ? "add(mul(matmul(x, transpose(k)), 0.3), mask)" : "mul(matmul(x, transpose(k)), 0.3)",
               "), v)");
  }
  TiedText AfterOthers(uint32_t number) {
    const std::string queries = Range(1 + Below(2), Below(3) == 0 ? 2 : 8 + Below(4)),
                      before = Below(4) == 0 ? "0..48 step 16" : Range(Below(2) * Below(9), 9 + Below(60)),
                      sum = number == 0 ? Below(2) == 0 ? "q + p" : "p + q" : Cat("q + ", number, " + p");
    return {Cat("q = ", queries, ", p = ", before, ", t = ", sum),
            Attention(),
            {"q", "p"},
            [number](Values* values) { (*values)["t"] = (*values)["q"] + (*values)["p"] + number; },
            "q",
            "t"};
  }
  TiedText WithANumber() {
    const uint32_t number = 1 + Below(40);
    return {Cat("q = ", Range(1, 9 + Below(20)), ", t = q + ", number),
            Attention(),
            {"q"},
            [number](Values* values) { (*values)["t"] = (*values)["q"] + number; },
            "q",
            "t"};
  }
  TiedText OfThemselves() {
    return {Cat("q = ", Range(1, 9 + Below(30)), ", t = q"),         Attention(), {"q"},
            [](Values* values) { (*values)["t"] = (*values)["q"]; }, "q",         "t"};
  }
  // Two names that must be worth the same: neither varies alone.
  TiedText OneByTwoNames() {
    const uint32_t number = 1 + Below(5);
    return {Cat("q = ", Range(1, 9 + Below(12)), ", t = q + ", number, ", s = q + ", number),
            "(x: f32[t,8], y: f32[s,8], z: f32[q,8]) -> (f32[t,8], f32[q,8]):\n  r = add(x, y)\n  e = "
            "exp(z)\n  return r, e",
            {"q"},
            [number](Values* values) { (*values)["t"] = (*values)["s"] = (*values)["q"] + number; },
            "",
            ""};
  }
  // Sizes that are there for their sum only, and a sum of a sum.
  TiedText RowsOfBoth() {
    const uint32_t in = 5 + Below(30), out = 5 + Below(30);
    return {Cat("a = ", Range(1, 9 + Below(5)), ", b = ", Range(0, 10 + Below(6)), ", s = a + b, u = s + a"),
            Cat("(x: f32[u,", in, "], w: f32[", in, ",", out, "], y: f32[s,3]) -> (f32[u,", out,
                "], f32[s,3]):\n  r = relu(matmul(x, w))\n  z = exp(y)\n  return r, z"),
            {"a", "b"},
            [](Values* values) {
              (*values)["s"] = (*values)["a"] + (*values)["b"];
              (*values)["u"] = (*values)["s"] + (*values)["a"];
            },
            "",
            ""};
  }

  std::mt19937_64 random_;
};

int Families() {
  const char* const asked = std::getenv("KIRSCH_TIED_FAMILIES");
  return asked != nullptr ? std::atoi(asked) : 6;
}

std::vector<uint32_t> PassedBy(const KernelRequest& request, int64_t member) {
  return ValuesOf(request.sizes(), member);
}

class TiedSizesTest : public HeaderTest {
 protected:
  const Target target_ = GetParam() ? Avx512Target() : Avx2Target();

  void SetUp() override {
    if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  }

  Library Solved(const TiedText& drawn, int threads) const {
    const auto request = ParseKernelLine(drawn.text(), "test");
    EXPECT_TRUE(request.ok()) << request.status();
    const DbOptions no_table{.path = "", .none = true};
    SolveArguments arguments;
    arguments.db = &no_table;
    arguments.threads = threads;
    const auto library = SolveLibrary(arguments, "f", {*request}, {target_});
    EXPECT_TRUE(library.ok()) << library.status() << "\n" << drawn.text();
    return library.value_or(Library());
  }

  // Members of a shared program, for the sizes that the test says it takes. How many there were.
  static size_t ExpectSharedAreRight(const TiedText& drawn, const FamilySynthesis& solved) {
    size_t count = 0;
    for (size_t i = 0; i < solved.shared.size(); ++i) {
      const auto& plan = std::get<Plan>(solved.shared[i]);
      std::deque<Graph> graphs;
      std::vector<MemberOfSize> members;
      for (int64_t member : solved.regions.list[i].members) {
        const Values values = drawn.Of(PassedBy(solved.request, member));
        graphs.push_back(drawn.Member(values));
        MemberOfSize& one = members.emplace_back(MemberOfSize{&graphs.back(), {}});
        for (const SymbolRange& range : plan.symbols)
          one.sizes.push_back(values.at(range.symbol == SizeSymbol::kKeys ? drawn.keys : drawn.rows));
      }
      VerifyOptions options;
      options.header = false;
      const auto reports = VerifySizes(solved.shared[i], members, solved.target(), "f", options);
      for (size_t j = 0; j < reports.size(); ++j)
        EXPECT_TRUE(reports[j].ok) << drawn.text() << "\n" << reports[j].first_mismatch;
      count += members.size();
    }
    return count;
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, TiedSizesTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(TiedSizesTest, MembersAreTheKernelWithNumbers) {
  Drawer drawer(3);
  for (int round = 0; round < 5 * Families() && !HasFailure(); ++round) {
    const TiedText drawn = drawer.Draw();
    const auto request = ParseKernelLine(drawn.text(), "test");
    ASSERT_TRUE(request.ok()) << request.status() << "\n" << drawn.text();
    const GraphFamily& family = *request->family.graphs();
    for (int64_t i = 0; i < family.count(); ++i) {
      Graph expected = drawn.Member(drawn.Of(PassedBy(*request, i)));
      expected.name = family.member(i).name;
      ASSERT_EQ(PrintGraph(family.member(i)), PrintGraph(expected)) << drawn.text();
    }
  }
}

TEST_P(TiedSizesTest, EveryMemberIsRight) {
  Drawer drawer(7);
  size_t shared = 0;
  for (int round = 0; round < Families() && !HasFailure(); ++round) {
    const TiedText drawn = drawer.Draw();
    for (const int threads : {1, 2}) {
      // With threads, each member has a program of its own: few are enough.
      if (threads > 1 && ParseKernelLine(drawn.text(), "test")->count() > 40) continue;
      const Library library = Solved(drawn, threads);
      const FamilySynthesis& solved = library.kernels.front().variants.front();
      const size_t members = ExpectSharedAreRight(drawn, solved);
      shared += members;
      EXPECT_EQ(members, solved.shares() ? solved.members.size() : 0) << drawn.text();
      const LibraryStyle style;
      const auto [text, passes] =
          RunSelfTest(PrintHeaderFile(MakeHeaderFile(library, style)), "F_SELF_TEST", Cat("gcc ", kC));
      EXPECT_TRUE(passes) << drawn.text() << "\n" << text;
      const VerifyReport report = VerifyLibrary(library, style, nullptr);
      EXPECT_TRUE(report.ok) << drawn.text() << "\n" << report.first_mismatch;
    }
  }
  EXPECT_GT(shared, 100u);  // else nothing was tried
}

// Calls a function of queries and the keys before them, computes what it should give, and what it refuses.
constexpr char kCaller[] = R"(#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#ifdef OBJECT
int f(size_t q, size_t p, const float* x, const float* k, const float* v, float* out, void* scratch);
#else
#include "kernel.h"
#endif
static float x[2 * 9 * 8], k[2 * 64 * 8], v[2 * 64 * 8], out[2 * 9 * 8];
static char scratch[1 << 20] __attribute__((aligned(64)));
static float number(void) { return (float)(rand() % 17 - 8) / 8; }
int main(void) {
  for (int i = 0; i < 2 * 9 * 8; ++i) x[i] = number();
  for (int i = 0; i < 2 * 64 * 8; ++i) k[i] = number(), v[i] = number();
  for (size_t q = 0; q <= 10; ++q)
    for (size_t p = 0; p <= 41; ++p) {
      if (f(q, p, x, k, v, out, scratch) != (q >= 1 && q <= 9 && p <= 40)) return 1;
      for (size_t row = 0; q >= 1 && q <= 9 && p <= 40 && row < 2 * q; ++row) {
        double weights[64], sum = 0;
        const size_t head = row / q * 64 * 8, t = 2 + q + p;
        for (size_t j = 0; j < t; ++j) {
          double score = 0;
          for (size_t c = 0; c < 8; ++c) score += (double)x[row * 8 + c] * k[head + j * 8 + c];
          sum += weights[j] = exp(score);
        }
        for (size_t c = 0; c < 8; ++c) {
          double right = 0;
          for (size_t j = 0; j < t; ++j) right += weights[j] / sum * v[head + j * 8 + c];
          if (!(fabs(right - out[row * 8 + c]) < 1e-5)) return 2;
        }
      }
    }
  return 0;
}
)";

// Callers pass sizes, never sums, in C and to an object. A size of 0 is passed like any other; wrong sizes
// are refused.
TEST_P(TiedSizesTest, TheFunctionTakesNoSums) {
  const TiedText drawn = {
      "q = 1..9, p = 0..40, t = 2 + q + p",
      "(x: f32[2,q,8], k: f32[2,t,8] strides=[512,8,1], v: f32[2,t,8] strides=[512,8,1]):\n"
      "  return matmul(softmax(matmul(x, transpose(k))), v)",
      {"q", "p"},
      [](Values* values) { (*values)["t"] = (*values)["q"] + (*values)["p"] + 2; },
      "q",
      "t"};
  const Library library = Solved(drawn, 1);
  EXPECT_TRUE(library.kernels.front().variants.front().shares());
  LibraryStyle style;
  style.always.scratch = true;
  const HeaderFile file = MakeHeaderFile(library, style);
  const std::string header = PrintHeaderFile(file);
  EXPECT_THAT(header, ::testing::HasSubstr("int f(size_t q, size_t p, const float* __restrict x,"));
  EXPECT_THAT(header, ::testing::HasSubstr("Returns 1 if 1 <= q <= 9, 0 <= p <= 40, t = q + p + 2: "));
  EXPECT_THAT(header, ::testing::HasSubstr("if (p > 40) return 0;"));
  Write("kernel.h", header);
  const std::string caller = Write("caller.c", kCaller), program = Path("caller");
  EXPECT_TRUE(Run(Cat("gcc -std=c11 -Wall -Wextra -Werror -O1 ", caller, " -o ", program, " -lm")));
  EXPECT_TRUE(Run(program));
  const auto object = EmitFunction(file.functions.front(), CodeForm::kObject, Abi::kSystemV);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_TRUE(
      Run(Cat("gcc -std=c11 -DOBJECT -O1 ", caller, " ", Write("f.o", *object), " -o ", program, " -lm")));
  EXPECT_TRUE(Run(program));
}

}  // namespace
}  // namespace kirsch::testing
