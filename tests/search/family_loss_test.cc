// SPDX-License-Identifier: Apache-2.0
// What members of a family lose by sharing programs, against programs that are searched for them alone.
// Families of two sizes are drawn: those whose members are all looked at, and those that are sampled.
// KIRSCH_FAMILY_LOSS=50 draws so many.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/families/spec_regions.h"
#include "search/solver/program_cost.h"
#include "search/solver/search.h"
#include "spec/language/family.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

constexpr size_t kM = MatmulDims::kM, kK = MatmulDims::kK, kN = MatmulDims::kN;

// Makes the program of one size out of a program for a range, by what impl.h says that a range means.
class OfOneSize {
 public:
  OfOneSize(const Target& target, const Spec& root) : target_(target), root_(root) {}

  Impl Make(const Impl& range) const { return Make(range, root_); }

 private:
  static Decision TileOf(size_t dim, uint32_t size) {
    Decision decision;
    decision.kind = RewriteKind::kTile;
    decision.dim = static_cast<uint8_t>(dim);
    decision.size = size;
    return decision;
  }

  // A move of what is there already is none.
  static bool IsDone(const Impl& node, const Spec& spec) {
    return node.decision.kind == RewriteKind::kMove && node.decision.level != Level::kVrf &&
           spec.tensor(node.decision.operand).level <= node.decision.level;
  }

  Impl Make(const Impl& node, const Spec& spec) const {
    if (IsDone(node, spec)) return Make(node.children.front().impl, spec);
    for (const size_t dim : {kN, kM})
      if (node.decision.kind == RewriteKind::kMove && node.decision.level == Level::kVrf &&
          node.range.varies(dim)) {
        const auto unit = static_cast<uint32_t>(SizesOfTile(node.decision.layout, dim));
        const uint32_t first = (node.range.least[dim] - 1) / unit;
        return Make(node.children.at((spec.size[dim] - 1) / unit - first).impl, spec);
      }
    const size_t dim = node.decision.dim;
    if (node.decision.kind == RewriteKind::kTile && node.range.varies(dim)) return MakeTiles(node, spec, dim);
    return MakeNode(node, spec, node.decision);
  }

  Impl MakeNode(const Impl& node, const Spec& spec, const Decision& decision) const {
    Expansion expansion;
    Expand(spec, decision, target_, &expansion);
    Impl made{spec, decision, {}};
    for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i)
      made.children.push_back(
          {expansion.children[i].trips, Make(node.children.at(i).impl, expansion.children[i].spec)});
    return made;
  }

  // Whole tiles, and what is left. A reduction leaves up to a whole tile.
  Impl MakeTiles(const Impl& node, const Spec& spec, size_t dim) const {
    const uint32_t total = spec.size[dim], tile = node.children.front().impl.spec.size[dim];
    const auto tail = dim == kK ? 1u : static_cast<uint32_t>(MinTail(node));
    const uint32_t left = total < tail ? total : tail + (total - tail) % tile, whole = total - left;
    const Impl &of_whole = node.children.front().impl, &of_rest = node.children.back().impl;
    if (whole == 0) return Make(of_rest, spec);
    if (left == 0 && whole == tile) return Make(of_whole, spec);
    // The loop over tiles as it is decided, without a rest behind whole ones if there is none.
    Expansion expansion;
    const Decision decision = TileOf(dim, whole < left ? left : tile);
    Impl made{spec, decision, {}};
    if (whole == left) {  // halves would be one tile, twice; so a whole tile is apart
      made.decision = TileOf(dim, total - tile);
      Expand(spec, made.decision, target_, &expansion);
      made.children.push_back({1, MakeTiles(node, expansion.children[0].spec, dim)});
      made.children.push_back({1, Make(of_whole, expansion.children[1].spec)});
      return made;
    }
    Expand(spec, decision, target_, &expansion);
    if (whole <
        left) {  // more than a tile is left: it is the first part, and a tile no smaller than the rest
      made.children.push_back({1, Make(of_rest, expansion.children[0].spec)});
      made.children.push_back({1, MakeWhole(of_whole, expansion.children[1].spec, dim, tile)});
      return made;
    }
    if (left > tile) {
      made.decision = TileOf(dim, whole);
      Expand(spec, made.decision, target_, &expansion);
      made.children.push_back({1, MakeWhole(of_whole, expansion.children[0].spec, dim, tile)});
      made.children.push_back({1, Make(of_rest, expansion.children[1].spec)});
      return made;
    }
    for (int i = 0; i < expansion.num_children; ++i) {
      const Spec& part = expansion.children[static_cast<size_t>(i)].spec;
      const bool rest = left != 0 && i + 1 == expansion.num_children && (left < tile || dim != kK);
      made.children.push_back(
          {expansion.children[static_cast<size_t>(i)].trips, Make(rest ? of_rest : of_whole, part)});
    }
    return made;
  }

  Impl MakeWhole(const Impl& of_whole, const Spec& spec, size_t dim, uint32_t tile) const {
    if (spec.size[dim] == tile) return Make(of_whole, spec);
    const Decision decision = TileOf(dim, tile);
    Expansion expansion;
    Expand(spec, decision, target_, &expansion);
    Impl made{spec, decision, {}};
    for (int i = 0; i < expansion.num_children; ++i)
      made.children.push_back({expansion.children[static_cast<size_t>(i)].trips,
                               Make(of_whole, expansion.children[static_cast<size_t>(i)].spec)});
    return made;
  }

  const Target& target_;
  const Spec& root_;
};

// What some members lose, and which one loses most.
class Losses {
 public:
  void Add(double cycles, double best, const Spec& member) {
    const double loss = cycles / best - 1;
    sum_ += loss;
    ++count_;
    if (loss <= worst_) return;
    worst_ = loss;
    where_ = Cat(member.size[kM], "x", member.size[kK], "x", member.size[kN]);
  }
  void ExpectAtMost(double worst, double mean) const {
    EXPECT_LE(worst_, worst) << where_;
    EXPECT_LE(sum_, mean * std::max(count_, 1));
  }

 private:
  double worst_ = 0, sum_ = 0;
  int count_ = 0;
  std::string where_;
};

// The members of a family of rows and columns, or of rows and the reduction, and their regions.
class LossyFamily {
 public:
  LossyFamily(const std::string& text, const Target& target)
      : target_(target), model_(target), family_(*ParseFamily(text)), sizes_(family_.varying_sizes()) {
    // The dims in the order of SizeRule: N and then M, or M and then K. The last one varies fastest.
    const bool reduces = family_.varying().back() == static_cast<int>(kK);
    dims_ = reduces ? std::vector{kM, kK} : std::vector{kN, kM};
    const std::vector<uint32_t>&rows = sizes_[0].values, &others = sizes_[1].values;
    for (uint32_t outer : reduces ? rows : others)
      for (uint32_t inner : reduces ? others : rows)
        roots_.push_back(reduces ? Root(outer, inner) : Root(inner, outer));
    const auto solve = [&](size_t member, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      const SearchResult result = Own(roots_[member], cutoff);
      return SolvedSize{result.impl, result.cost, result.bound};
    };
    const auto least = [&](size_t dim, uint32_t size) {
      return sizes_[dim == kM ? 0 : 1].LeastServedAs(size);
    };
    found_ = *FindSpecRegions(roots_, dims_, model_, solve, least);
    region_of_.resize(roots_.size());
    for (size_t i = 0; i < found_.regions.size(); ++i)
      for (size_t member : found_.regions[i].members) region_of_[member] = i;
  }

  size_t members() const { return roots_.size(); }
  size_t regions() const { return found_.regions.size(); }

  // All members that were solved. Others may serve those below a sample, whatever they lose (CheapestRegion).
  void ExpectSolvedLoseLittle() const {
    Losses losses;
    const bool sampled = sizes_[0].sampled || sizes_[1].sampled;
    for (size_t i = 0; i < roots_.size(); ++i)
      if (const SizeMember& member = found_.members[i]; member.best)
        losses.Add(ToCycles(member.cost), ToCycles(*member.best), roots_[i]);
    losses.ExpectAtMost(sampled ? 2 * kMostLoss : kMostLoss, kMostLoss);
  }

  // A member by chance, and one between samples that its region serves. What the region's program costs is
  // worked out from the program alone.
  void AddDrawn(std::mt19937_64* random, Losses* looked_at, Losses* between) {
    const size_t member = (*random)() % roots_.size();
    const Spec& root = roots_[member];
    const Impl& range = found_.regions[region_of_[member]].program;
    const double cycles = CyclesOf(range, root);
    EXPECT_NEAR(cycles / ToCycles(found_.members[member].cost), 1, 0.02) << PrintSpec(root);
    looked_at->Add(cycles, ToCycles(Own(root, kInfiniteCost).cost), root);
    std::array<uint32_t, 2> values = {root.size[kM], root.size[dims_.back() == kK ? kK : kN]};
    for (size_t i = 0; i < values.size(); ++i) {
      const uint32_t least = sizes_[i].LeastServedAs(values[i]);
      values[i] = least + static_cast<uint32_t>((*random)() % (values[i] - least + 1));
    }
    const Spec one = Root(values[0], values[1]);
    if (one != root) between->Add(CyclesOf(range, one), ToCycles(Own(one, kInfiniteCost).cost), one);
  }

 private:
  Spec Root(uint32_t rows, uint32_t other) const {
    return PlaceOperands(family_.MemberOf({rows, other}).spec, Residency::kWarm, target_);
  }
  SearchResult Own(const Spec& root, Cost cutoff) {
    SearchOptions options;
    options.cutoff = cutoff;
    return Search(root, model_, memo_, options);
  }
  double CyclesOf(const Impl& range, const Spec& root) const {
    return ProgramCost(OfOneSize(target_, root).Make(range), target_).Cycles(model_);
  }

  const Target& target_;
  const CostModel model_;
  const SpecFamily family_;
  const std::vector<VaryingSize> sizes_;
  std::vector<size_t> dims_;
  std::vector<Spec> roots_;
  HashMemo memo_;
  SizeFamily found_;
  std::vector<size_t> region_of_;
};

// A family of two sizes. Every second one has so many members that it is sampled.
std::string DrawnFamily(bool large, std::mt19937_64* random) {
  const auto between = [&](uint32_t least, uint32_t most) {
    return static_cast<uint32_t>(least + (*random)() % (most - least + 1));
  };
  const auto range = [&] { return Cat(between(2, 4), "..", large ? between(100, 512) : between(8, 48)); };
  const std::string rows = range(), other = range(), fixed = Cat(between(8, 300));
  return between(0, 1) == 0 ? Cat("matmul f32 ", rows, "x", fixed, "x", other)
                            : Cat("matmul f32 ", rows, "x", other, "x", fixed);
}

TEST(FamilyLossTest, DrawnMembersLoseLittle) {
  constexpr int kDrawn = 60;
  const char* const asked = std::getenv("KIRSCH_FAMILY_LOSS");
  const int families = asked != nullptr ? std::atoi(asked) : 2;
  std::mt19937_64 random(5);
  for (int i = 0; i < families && !HasFailure(); ++i) {
    const std::string text = DrawnFamily(i % 2 != 0, &random);
    const Target target = FindTarget(random() % 2 == 0 ? "haswell" : "znver4", "")->target;
    SCOPED_TRACE(Cat(text, " ", target.name));
    LossyFamily family(text, target);
    EXPECT_LT(family.regions(), family.members() / 12);
    family.ExpectSolvedLoseLittle();
    Losses looked_at, between;
    for (int j = 0; j < kDrawn; ++j) family.AddDrawn(&random, &looked_at, &between);
    looked_at.ExpectAtMost(0.10, 0.025);
    between.ExpectAtMost(0.12, 0.03);
  }
}

// A microkernel that prefetches so many steps ahead serves what is left of a reduction, too, if that is less.
TEST(FamilyLossTest, ProgramsThatPrefetchServeRests) {
  const Target target = FindTarget("haswell", "")->target;
  const CostModel model(target);
  HashMemo memo;
  std::vector<Spec> roots;
  for (uint32_t k = 256; k <= 400; ++k)
    roots.push_back(
        PlaceOperands(ParseSpec(Cat("matmul f32 1x", k, "x256"))->spec, Residency::kWarm, target));
  const auto solve = [&](size_t member, Cost cutoff) -> absl::StatusOr<SolvedSize> {
    SearchOptions options;
    options.cutoff = cutoff;
    const SearchResult result = Search(roots[member], model, memo, options);
    return SolvedSize{result.impl, result.cost, result.bound};
  };
  const absl::StatusOr<SizeFamily> found = FindSpecRegions(roots, {kK}, model, solve);
  ASSERT_TRUE(found.ok());
  EXPECT_LE(found->regions.size(), 2u);  // there were 73
}

}  // namespace
}  // namespace kirsch
