// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/rewrite.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "rewrites/spec/registry.h"
#include "spec/check.h"
#include "spec/extension.h"

namespace kirsch {
namespace {

#define KIRSCH_ADDRESS_OF_SPEC_REWRITE(rewrite) &(rewrite),
constexpr const SpecRewrite* kSpecRewrites[] = {KIRSCH_SPEC_REWRITES(KIRSCH_ADDRESS_OF_SPEC_REWRITE)};
#undef KIRSCH_ADDRESS_OF_SPEC_REWRITE

// Constants come first, then blocks and threads, then tiles, down to the microkernel.
SpecStage StageOf(const Spec& spec) {
  if (ConstantOperand(spec) >= 0) return SpecStage::kConstant;
  if (spec.block != 0) return SpecStage::kBlocks;
  if (spec.threads > 1) return SpecStage::kThreads;
  return spec.out().level == Level::kVrf ? SpecStage::kRegisters : SpecStage::kTiles;
}

// The way to expand decisions of a kind.
auto* ExpandOf(RewriteKind kind) {
  static const auto expand = [] {
    std::array<decltype(SpecRewrite::expand), kRewriteKinds> of_kind = {};
    for (const SpecRewrite* rewrite : kSpecRewrites)
      if (rewrite->expand != nullptr) of_kind[static_cast<size_t>(rewrite->kind)] = rewrite->expand;
    return of_kind;
  }();
  return expand[static_cast<size_t>(kind)];
}

}  // namespace

void EnumerateDecisions(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  decisions->clear();
  const SpecStage stage = StageOf(spec);
  for (const SpecRewrite* rewrite : kSpecRewrites)
    if (rewrite->applies(spec, stage)) rewrite->enumerate(spec, target, decisions);
  if (target.extension == nullptr) return;
  std::erase_if(*decisions,
                [&](const Decision& decision) { return !target.extension->Allows(spec, decision); });
}

void Expand(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion) {
  expansion->num_children = 0;
  expansion->num_transfers = 0;
  expansion->copied_elements = 0;
  expansion->copy_transposes = false;
  expansion->filled = Level::kVrf;
  expansion->filled_lines = 0;
  auto* const expand = ExpandOf(decision.kind);
  KIRSCH_CHECK(expand != nullptr);
  expand(spec, decision, target, expansion);
}

// Asks the rewrites of the decision's kind only, which is quicker than to enumerate all. Which tiles there
// are depends on what was enumerated before.
bool IsLegal(const Spec& spec, const Decision& decision, const Target& target) {
  if (target.extension != nullptr && !target.extension->Allows(spec, decision)) return false;
  std::vector<Decision> decisions;
  const SpecStage stage = StageOf(spec);
  return std::any_of(std::begin(kSpecRewrites), std::end(kSpecRewrites), [&](const SpecRewrite* rewrite) {
    const bool has_kind = rewrite->kind == decision.kind;
    if (!rewrite->applies(spec, stage) || !(has_kind || decision.kind == RewriteKind::kTile)) return false;
    rewrite->enumerate(spec, target, &decisions);
    return has_kind && std::ranges::find(decisions, decision) != decisions.end();
  });
}

}  // namespace kirsch
