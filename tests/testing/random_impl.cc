// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/random_impl.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "rewrites/spec/rewrite.h"
#include "spec/block.h"
#include "spec/check.h"

namespace kirsch::testing {
namespace {

constexpr int kFreeDepth = 6;  // nodes from the root that choose freely

bool EndsInRegisters(const Decision& decision) {
  return decision.kind == RewriteKind::kMicrokernel ||
         (decision.kind == RewriteKind::kMove && decision.level == Level::kVrf);
}

// No register layout suits operands that are both contiguous along an outer axis, nor groups of rhs without
// those of lhs: one must be packed first. So must lhs beside blocks in panels.
bool NeedsPack(const Spec& spec) {
  const TensorSpec &lhs = spec.operand[MatmulDims::kLhs], &rhs = spec.operand[MatmulDims::kRhs];
  if (IsInPanels(rhs.dtype) && lhs.dtype != Dtype::kQ8) return true;
  if (lhs.dtype == Dtype::kQ8 && !IsInPanels(rhs.dtype) && RoundedBeside(rhs.dtype) != Dtype::kQ8)
    return true;
  return (InnerDim(spec, MatmulDims::kRhs) == MatmulDims::kK || rhs.layout.group > 1) &&
         InnerDim(spec, MatmulDims::kLhs) != MatmulDims::kK;
}

// How soon a decision leads to registers, and how few different tiles it leaves on the way there.
double Rank(const Spec& spec, const Decision& decision) {
  if (EndsInRegisters(decision)) return 1e18;
  if (decision.kind == RewriteKind::kPack) return NeedsPack(spec) ? 1e17 : 0.5;
  if (decision.kind == RewriteKind::kMove) return 0;
  if (spec.op_info().dims[decision.dim].reduction) return 0.25;
  return static_cast<double>(spec.size[decision.dim]) / decision.size;
}

const Decision& Finishing(const Spec& spec, const std::vector<Decision>& decisions) {
  return *std::max_element(decisions.begin(), decisions.end(), [&](const Decision& a, const Decision& b) {
    return Rank(spec, a) < Rank(spec, b);
  });
}

// First the kind is drawn, then one decision of it: otherwise packs and tiles drown the rest.
const Decision& Drawn(const std::vector<Decision>& decisions, std::mt19937_64* random) {
  std::vector<RewriteKind> kinds;
  for (const Decision& decision : decisions)
    if (std::find(kinds.begin(), kinds.end(), decision.kind) == kinds.end()) kinds.push_back(decision.kind);
  const RewriteKind kind = kinds[(*random)() % kinds.size()];
  std::vector<const Decision*> of_kind;
  for (const Decision& decision : decisions)
    if (decision.kind == kind) of_kind.push_back(&decision);
  return *of_kind[(*random)() % of_kind.size()];
}

class Walker {
 public:
  Walker(const Target& target, std::mt19937_64* random) : target_(target), random_(random) {}

  Impl Walk(const Spec& spec, int depth) {
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target_, &decisions);
    if (decisions.empty()) {
      // So few registers hold no tile as wide as some panels that keep blocks, and nothing cuts those.
      constexpr int kFewRegisters = 16;
      const Dtype rhs = spec.operand[MatmulDims::kRhs].dtype;
      KIRSCH_CHECK(IsInPanels(rhs) && HasFactors(rhs) && target_.vectors.front().registers <= kFewRegisters);
      stuck_ = true;
      return {spec, {}, {}};
    }
    const bool free = depth < kFreeDepth;
    return Take(spec, free ? Drawn(decisions, random_) : Finishing(spec, decisions), depth);
  }

  bool is_stuck() const { return stuck_; }

  Impl Take(const Spec& spec, const Decision& decision, int depth) {
    Expansion expansion;
    Expand(spec, decision, target_, &expansion);
    Impl impl{spec, decision, {}};
    for (int i = 0; i < expansion.num_children; ++i) {
      const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
      impl.children.push_back({child.trips, Walk(child.spec, depth + 1)});
    }
    return impl;
  }

 private:
  const Target& target_;
  std::mt19937_64* random_;
  bool stuck_ = false;
};

std::string Describe(const Decision& decision) {
  static constexpr std::array<std::string_view, 6> kNames = {"none", "tile", "parallel",
                                                             "move", "pack", "microkernel"};
  std::ostringstream text;
  text << kNames[static_cast<size_t>(decision.kind)] << " dim " << int{decision.dim} << " size "
       << decision.size << " operand " << int{decision.operand} << " to " << Name(decision.level)
       << " layout " << static_cast<int>(decision.layout.kind)
       << (decision.layout.order == Order::kRow ? " row " : " col ") << int{decision.layout.panel} << "x"
       << int{decision.layout.group} << " " << Info(decision.dtype).name;
  return text.str();
}

void Append(const Impl& impl, int64_t trips, int depth, std::ostringstream* text) {
  *text << std::string(static_cast<size_t>(2 * depth), ' ') << trips << " x b" << impl.spec.size[0] << " "
        << impl.spec.size[1] << "x" << impl.spec.size[2] << "x" << impl.spec.size[3]
        << (impl.spec.accumulate ? " += " : " = ") << Describe(impl.decision) << "\n";
  for (const Impl::Child& child : impl.children) Append(child.impl, child.trips, depth + 1, text);
}

}  // namespace

Impl RandomImpl(const Spec& spec, const Target& target, std::mt19937_64* random) {
  constexpr int kAttempts = 1000;
  for (int i = 0; i < kAttempts; ++i) {
    Walker walker(target, random);
    Impl impl = walker.Walk(spec, 0);
    if (!walker.is_stuck()) return impl;
  }
  KIRSCH_BUG("no program was found");
}

Impl RandomImplFrom(const Spec& spec, const Decision& first, const Target& target, std::mt19937_64* random) {
  Walker walker(target, random);
  Impl impl = walker.Take(spec, first, 0);
  KIRSCH_CHECK(!walker.is_stuck());
  return impl;
}

std::string Describe(const Impl& impl) {
  std::ostringstream text;
  Append(impl, 1, 0, &text);
  return text.str();
}

}  // namespace kirsch::testing
