// SPDX-License-Identifier: Apache-2.0
// Headers of families with a constant operand: packed once by one function, every member takes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "codegen/header/header_function.h"
#include "codegen/verify/verify.h"
#include "memo/hash_memo.h"
#include "search/families/shared_copy.h"
#include "search/families/spec_regions.h"
#include "search/solver/search.h"
#include "search/solver/search_within.h"
#include "spec/language/family.h"
#include "spec/language/printer.h"
#include "spec/program/impl_program.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

class SharedCopyHeaderTest : public HeaderTest {
 protected:
  struct Made {
    SpecFamily family;
    std::vector<UserRequest> requests;
    std::vector<ProgramTree> programs;        // for ranges of rows where members may share them
    std::vector<std::vector<int64_t>> users;  // of each program
    std::string header;
  };

  // With one of the copies that all members may make: the one with this number, modulo how many there are.
  Made Make(const std::string& text, size_t number, int threads) const {
    Made made{*ParseFamily(text), {}, {}, {}, ""};
    for (int64_t i = 0; i < made.family.count(); ++i) {
      const ParsedSpec parsed = made.family.member(i);
      Spec root = PlaceOperands(parsed.spec, Residency::kWarm, target_);
      root.threads = static_cast<uint8_t>(threads);
      made.requests.push_back({root, parsed.swapped});
    }
    const std::vector<CopiesOfConstant> copies = CommonCopies(made.requests, target_);
    EXPECT_FALSE(copies.empty()) << text;
    Solve(std::get<MatrixCopy>(*copies[number % copies.size()].begin()), &made);
    made.header = Print(made);
    return made;
  }

  std::string Print(const Made& made) const {
    HeaderFunction function = FunctionOf("family", made.family);
    HeaderVariant variant{target_, {}, 0, 0, ""};
    std::vector<SharedProgram> shared;
    for (size_t i = 0; i < made.programs.size(); ++i) {
      const size_t sizes = SymbolicDims(std::get<Impl>(made.programs[i])).size();  // the first one, if any
      shared.push_back({&made.programs[i], made.users[i], std::vector<SizeSum>(sizes, SizeSum(0))});
    }
    LowerShared("family", made.family, shared, {}, &variant);
    function.variants = {variant};
    return PrintHeaderFile({"family", HeaderMode::kAttributes, false, "", "0.0", {function}});
  }

  // Members that are asked for as their transposes have no rows in common: each has a program.
  void Solve(const MatrixCopy& copy, Made* made) const {
    const CostModel model(target_);
    HashMemo memo;
    const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      const PackedRequest packed = *WithCopy(made->requests[i], copy, target_);
      SearchOptions options;
      options.cutoff = cutoff;
      SearchResult result = SearchWithin(packed.kernel, packed.available, model, memo, options);
      return SolvedSize{packed.Program(std::move(result.impl)), result.cost, result.bound};
    };
    bool swapped = false;
    std::vector<Spec> roots;
    for (const UserRequest& request : made->requests) {
      swapped |= request.swapped;
      roots.push_back(request.placed_root);
    }
    for (size_t i = 0; swapped && i < roots.size(); ++i) {
      made->programs.emplace_back(solve(i, kInfiniteCost)->program);
      made->users.push_back({static_cast<int64_t>(i)});
    }
    if (swapped) return;
    const absl::StatusOr<SizeFamily> found = FindSpecRegions(roots, {MatmulDims::kM}, model, solve);
    for (const SpecRegion& region : found->regions) {
      made->programs.emplace_back(region.program);
      made->users.emplace_back();
      for (size_t i : region.members) made->users.back().push_back(static_cast<int64_t>(i));
    }
  }

  // The exit code of the self-test, which packs with the family's one function.
  int SelfTest(const std::string& header, const std::string& compiler, const std::string& flags = "") const {
    if (!Compile(compiler, Cat("-O1 -DFAMILY_SELF_TEST ", flags), Write("family.h", header), Path("test")))
      return -1;
    return WEXITSTATUS(std::system(Cat(Path("test"), " > /dev/null 2>&1").c_str()));
  }

  const std::string gcc_ = Cat("gcc ", kC);
};

INSTANTIATE_TEST_SUITE_P(Isa, SharedCopyHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(SharedCopyHeaderTest, EveryMemberTakesWhatOneFunctionPacks) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const std::string sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all";
  const std::pair<const char*, int> families[] = {
      {"matmul f32 1..30x33x70 const-rhs", 1},
      {"matmul f32 1..9x20x37 rhs=col ldb=24 const-rhs accumulate", 1},
      {"matmul f32 1..5x31x18 out=col const-rhs", 1},
      {"matmul f32 18x31x1..5 const-lhs", 1},
      {"matmul f32 1..4x31x1 const-rhs", 1},
      {"matmul bf16*bf16->f32 1..17x35x33 const-rhs", 1},
      {"matmul u8*s8->s32 3..20x30x50 rhs=col const-rhs", 1},
      {"matmul f32 1..20x33x70 const-rhs epilogue=add:n,relu", 1},
      {"matmul f32 1..40x64x96 const-rhs", 2}};
  for (const auto& [text, threads] : families)
    for (size_t number : {0, 1, 3}) {
      const Made made = Make(text, number, threads);
      EXPECT_EQ(SelfTest(made.header, gcc_, number == 1 ? sanitizers : ""), 0) << text << " " << number;
    }
  const Made made = Make(families[0].first, 0, 1);
  EXPECT_LT(made.programs.size(), 30u) << "nothing is shared";
  for (const std::string& compiler : Compilers()) EXPECT_EQ(SelfTest(made.header, compiler), 0);
}

TEST_P(SharedCopyHeaderTest, TheSelfTestCanFail) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const char* const text = "matmul f32 1..4x33x70 out=col const-rhs";
  Made made = Make(text, 0, 1);
  const std::string call = "  family_pack(rhs, packed);\n";
  ASSERT_THAT(made.header, HasSubstr(call));
  EXPECT_EQ(SelfTest(absl::StrReplaceAll(made.header, {{call, ""}}), gcc_, "-Wno-maybe-uninitialized"), 1);
  made.programs.back() = Make(text, 1, 1).programs.back();  // of a member that takes another copy
  EXPECT_EQ(SelfTest(Print(made), gcc_), 1);
}

// Interpreter and JIT, between guard pages, against the reference.
TEST_P(SharedCopyHeaderTest, RandomFamiliesAreTheReference) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  std::mt19937_64 random(17);
  const std::vector<MatmulTypes> types = EveryTypes();
  int shared = 0;
  for (int round = 0; round < 36; ++round) {
    const auto side = [&](uint32_t most) { return 1 + static_cast<uint32_t>(random() % most); };
    const MatmulTypes& type = types[static_cast<size_t>(round) % types.size()];
    const uint32_t k = side(70), n = side(90), first = side(4);
    const std::string text = Cat("matmul ", PrintTypes(type), " ", first, "..", first + side(30), "x", k, "x",
                                 n, random() % 2 == 0 ? " lhs=col" : "", random() % 2 == 0 ? " rhs=col" : "",
                                 random() % 3 == 0 ? Cat(" ldc=", n + 3) : "", " const-rhs",
                                 random() % 3 == 0 ? " accumulate" : "");
    if (!ParseFamily(text).ok()) continue;  // of a type that is only stored by an epilogue, say
    const Made made = Make(text, random() % 8, 1);
    for (size_t i = 0; i < made.programs.size(); ++i) {
      std::vector<Spec> roots;
      for (int64_t member : made.users[i])
        roots.push_back(made.requests[static_cast<size_t>(member)].placed_root);
      shared += roots.size() > 1;
      VerifyOptions options;
      options.header = false;
      for (const VerifyReport& report :
           VerifySizes(std::get<Impl>(made.programs[i]), roots, target_, "rows", options))
        EXPECT_TRUE(report.ok) << text << ": " << report.first_mismatch;
    }
  }
  EXPECT_GT(shared, 10);
}

}  // namespace
}  // namespace kirsch::testing
