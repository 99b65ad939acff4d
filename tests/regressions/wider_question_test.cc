// SPDX-License-Identifier: Apache-2.0
// Questions that contain another one, and cost more: sums in a fixed order were cheaper than sums in any.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

// Where its operands are is up to the search.
Cost CostOf(const Spec& spec, const Target& target) {
  HashMemo memo;
  const CostModel model(target);
  return AtCheapest(Placements(spec, Residency::kWarm, target), kInfiniteCost,
                    [&](const Spec& placed, Cost cutoff) -> absl::StatusOr<SearchResult> {
                      return Search(placed, model, memo, {.cutoff = cutoff});
                    })
      ->cost;
}

struct Question {
  std::string narrow, wide;
};

// A matmul of any types, and it with a word that allows more, or without one that allows less.
Question DrawnQuestion(uint64_t most_bits, std::mt19937_64* random) {
  const auto below = [&](uint64_t count) { return (*random)() % count; };
  const auto side = [&] { return 1 + below(uint64_t{2} << below(most_bits)); };
  const std::vector<MatmulTypes> types = testing::EveryTypes();
  const MatmulTypes& type = types[below(types.size())];
  uint64_t m = side(), n = side(), k = side() * (IsOfBlocks(type.rhs) ? BlockOf(type.rhs) : 1);
  // A third of the problems just fill the 32 KiB that L1 has.
  if (below(3) == 0 && !IsOfBlocks(type.rhs)) {
    m = 2 + below(40), n = 2 + below(40);
    const uint64_t a_step =
        m * static_cast<uint64_t>(Bytes(type.lhs)) + n * static_cast<uint64_t>(Bytes(type.rhs));
    k = (32768 - m * n * static_cast<uint64_t>(Bytes(type.out))) / a_step - below(4);
  }
  std::string text = Cat("matmul ", PrintTypes(type), " ", m, "x", k, "x", n);
  for (const char* word : {" lhs=col", " rhs=col", " accumulate"})
    if (below(3) == 0) text += word;
  constexpr const char* kAs[] = {" lhs-as=bf16", " lhs-as=f16", " lhs-as=q8_0"};
  const uint64_t word = below(5);
  if (word < 2) return {text + " fixed-order", text};
  if (word < 4) return {text, text + kAs[below(3)]};
  return {text, text + " const-rhs"};
}

// A matmul, and its transpose: lhs and rhs change places, and every order is the other one.
Question DrawnTranspose(std::mt19937_64* random) {
  const auto below = [&](uint64_t count) { return (*random)() % count; };
  const auto side = [&] { return 1 + below(uint64_t{1} << below(6)); };
  const std::vector<MatmulTypes> types = testing::EveryTypes();
  const MatmulTypes& type = types[below(types.size())];
  const uint64_t m = side(), k = side(), n = side();
  Question question{Cat("matmul ", PrintTypes(type), " ", m, "x", k, "x", n),
                    Cat("matmul ", PrintTypes({type.rhs, type.lhs, type.out}), " ", n, "x", k, "x", m)};
  const uint64_t rows[] = {m, k}, columns[] = {k, n};
  for (size_t operand = 0; operand < 2; ++operand) {
    const bool by_columns = below(2) == 0;
    const uint64_t ld = (by_columns ? rows : columns)[operand] + below(2) * below(9);
    const size_t other = 1 - operand;
    constexpr const char *kNames[] = {" lhs=", " rhs="}, *kDistances[] = {" lda=", " ldb="};
    Append(&question.narrow, kNames[operand], by_columns ? "col" : "row", kDistances[operand], ld);
    Append(&question.wide, kNames[other], by_columns ? "row" : "col", kDistances[other], ld);
  }
  Append(&question.wide, " out=col");
  return question;
}

TEST(WiderQuestion, TransposesCostTheSame) {
  std::mt19937_64 random(11);
  for (int drawn = 0; drawn < 300;) {
    const Question question = DrawnTranspose(&random);
    const auto one = ParseSpec(question.narrow), other = ParseSpec(question.wide);
    if (!one.ok() || !other.ok() || IsOfBlocks(one->spec.operand[MatmulDims::kRhs].dtype)) continue;
    ++drawn;
    const Target target = FindTarget(random() % 2 == 0 ? "haswell" : "znver4", "")->target;
    // An output of one element has no order, so out=col exchanges nothing there.
    if (ExtentOf(one->spec, MatmulDims::kOut).elements() == 1) continue;
    EXPECT_EQ(ToCycles(CostOf(one->spec, target)), ToCycles(CostOf(other->spec, target)))
        << question.narrow << ", " << question.wide << ", " << target.name;
  }
}

// KIRSCH_RANDOM_PAIRS=2000 for the long version.
TEST(WiderQuestion, CostsNoMore) {
  const char* const wanted = std::getenv("KIRSCH_RANDOM_PAIRS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 200;
  std::mt19937_64 random(7);
  for (int drawn = 0; drawn < count;) {
    const Question question = DrawnQuestion(wanted != nullptr ? 9 : 7, &random);
    const auto narrow = ParseSpec(question.narrow), wide = ParseSpec(question.wide);
    if (!narrow.ok() || !wide.ok()) continue;
    ++drawn;
    constexpr const char* kTargets[] = {"haswell", "znver4", "skylake-avx512", "sapphirerapids"};
    const Target target = FindTarget(kTargets[random() % 4], "")->target;
    EXPECT_LE(ToCycles(CostOf(wide->spec, target)), ToCycles(CostOf(narrow->spec, target)))
        << question.wide << " costs more than " << question.narrow << ", " << target.name;
  }
}

}  // namespace
}  // namespace kirsch
