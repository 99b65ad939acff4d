// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/brute_force.h"

#include <algorithm>
#include <vector>

#include "rewrites/spec/rewrite.h"

namespace kirsch::testing {

Lines LinesOf(const Target& target, Level level, const Spec& spec) {
  if (level == Level::kRam) return kUnlimited;
  const MemoryLevel& cache = target.at(level);
  double usable = cache.capacity_share;
  for (int input = 0; input < spec.op_info().output(); ++input)
    if (spec.tensor(input).level == Level::kRam) usable = std::min(usable, cache.capacity_share_beside_ram);
  const double bytes = static_cast<double>(cache.bytes) * usable;
  return static_cast<Lines>(bytes / target.line_bytes /
                            std::min<int>(spec.active_threads, cache.threads_per_cache));
}

Lines LinesLeftAtHome(const Spec& placed_root, const Target& target) {
  const Level home = FillingLevel(placed_root);
  if (home == Level::kRam) return kUnlimited;
  int64_t lines = target.at(home).bytes / target.line_bytes;
  for (int operand = 0; operand < placed_root.op_info().num_operands; ++operand)
    lines -= FootprintOf(placed_root, operand, target).lines;
  // What waits at home may take more than the share that may be filled, and leaves the rest.
  return static_cast<Lines>(std::clamp<int64_t>(lines, 0, LinesOf(target, home, placed_root)));
}

Cost BruteForce::Best(const Spec& spec, Lines available) {
  const std::pair<Spec::Words, Lines> question(spec.words(), available);
  const auto answer = answers_.find(question);
  if (answer != answers_.end()) return answer->second;
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, model_.target(), &decisions);
  Cost best = kInfiniteCost;
  for (const Decision& decision : decisions) best = std::min(best, CostWith(spec, decision, available));
  answers_[question] = best;
  return best;
}

Cost BruteForce::CostWith(const Spec& spec, const Decision& decision, Lines available) {
  Expansion expansion;
  Expand(spec, decision, model_.target(), &expansion);
  if (expansion.filled != Level::kVrf && expansion.filled != Level::kRam) {
    if (expansion.filled != FillingLevel(spec))  // a level that is still empty
      available = LinesOf(model_.target(), expansion.filled, expansion.children[0].spec);
    if (expansion.filled_lines > available) return kInfiniteCost;
    available -= static_cast<Lines>(expansion.filled_lines);
  }
  Cost cost = model_.Base(spec, decision, expansion);
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    if (child.spec.active_threads !=
        spec.active_threads)  // of a cache that they share, threads have a part each
      available = std::min(available, LinesOf(model_.target(), FillingLevel(child.spec), child.spec));
    const Cost once = Best(child.spec, available);
    if (once == kInfiniteCost) return kInfiniteCost;
    cost += child.weight * once;
  }
  return cost;
}

Cost CostOf(const Impl& impl, const CostModel& model) {
  Expansion expansion;
  Expand(impl.spec, impl.decision, model.target(), &expansion);
  Cost cost = model.Base(impl.spec, impl.decision, expansion);
  for (size_t i = 0; i < impl.children.size(); ++i)
    cost += expansion.children[i].weight * CostOf(impl.children[i].impl, model);
  return cost;
}

}  // namespace kirsch::testing
