// Searches that took minutes: bounds took narrow inputs for ready to be multiplied where they never would be.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <vector>

#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

constexpr int64_t kTenSeconds = 2'500'000;  // specs solved, by one thread

// Stops at the budget.
SearchResult SearchWithBudget(const Spec& spec, const Target& target, int64_t most_specs) {
  HashMemo memo;
  std::atomic<bool> enough = false;
  SearchOptions options;
  options.cancel = &enough;
  options.progress = [&](const SearchProgress& progress) {
    enough = progress.stats.specs_solved > most_specs;
  };
  return Search(PlaceOperands(spec, Residency::kWarm, target), CostModel(target), memo, options);
}

// Images in nchw are windows, which are not copied in groups.
TEST(SlowSearch, OfNarrowConvolutionsInNchw) {
  const struct {
    const char *spec, *target;
    int64_t most_specs;  // it took 122, 819 and 484 thousand
  } kCases[] = {{"conv2d u8*s8->s32 1x16x20x20 filters=16 kernel=3x3", "haswell", 80'000},
                {"conv2d bf16*bf16->f32 1x16x20x20 filters=16 kernel=3x3", "znver4", 200'000},
                {"conv2d f16*f16->f32 1x16x20x20 filters=16 kernel=3x3", "haswell", 300'000}};
  for (const auto& [spec, target, most_specs] : kCases)
    EXPECT_EQ(SearchWithBudget(ParseSpec(spec)->spec, FindTarget(target, "")->target, most_specs).stop,
              StopReason::kOptimal)
        << spec;
}

// KIRSCH_RANDOM_SPECS=200 for the long version, with operands of up to 64 MB.
TEST(SlowSearch, OfDrawnSpecs) {
  const char* const wanted = std::getenv("KIRSCH_RANDOM_SPECS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 40;
  const double most_bytes = wanted != nullptr ? 64e6 : 256e3;
  std::mt19937_64 random(42);
  for (int drawn = 0; drawn < count;) {
    const std::vector<MatmulTypes> types = testing::EveryTypes();
    const Spec spec = testing::RandomMatmulSpec(
        {.max_side = wanted != nullptr ? 16384u : 512u, .types = types[random() % types.size()]}, &random);
    double bytes = 0;
    for (int operand = 0; operand <= spec.op_info().output(); ++operand)
      bytes = std::max(bytes, static_cast<double>(Bytes(spec.tensor(operand).dtype)) *
                                  static_cast<double>(ExtentOf(spec, operand).elements()));
    if (bytes > most_bytes) continue;
    ++drawn;
    const Target target = FindTarget(random() % 2 == 0 ? "haswell" : "znver4", "")->target;
    EXPECT_EQ(SearchWithBudget(spec, target, kTenSeconds).stop, StopReason::kOptimal)
        << testing::Describe(spec) << " " << target.name;
  }
}

}  // namespace
}  // namespace kirsch
