// SPDX-License-Identifier: Apache-2.0
// Declares what a rewrite of specs is: the decisions that may be taken for a spec, and the specs that each of
// them makes of it. README.md lists all of them. A rewrite says what is legal; what is fast is cost/'s
// business.
//
// A rewrite is one file, which ends in a SpecRewrite, and a line of registry.h. What its decisions are called
// in schedules and in tables, and how they become programs, follows from their kind.
#ifndef KIRSCH_REWRITES_SPEC_SPEC_REWRITE_H_
#define KIRSCH_REWRITES_SPEC_SPEC_REWRITE_H_

#include <cstdint>
#include <vector>

#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// What is to be decided next for a spec, in the order in which programs decide.
enum class SpecStage : uint8_t {
  kConstant,   // an operand is constant: how it is prepacked
  kBlocks,     // the caller shares the columns out in blocks (Spec::block): these, or steps before them
  kThreads,    // how the work is shared out to threads
  kTiles,      // tiles, levels and copies, down to a register tile
  kRegisters,  // the output is in registers: how the microkernel computes it
};

// A way to rewrite specs. All functions are pure, so they may be called from any thread.
struct SpecRewrite {
  RewriteKind kind = RewriteKind::kNone;
  // True if the space has such decisions for a spec at that stage.
  bool (*applies)(const Spec& spec, SpecStage stage);
  // Appends all of them, always in the same order. There are those of the rewrites before it in the registry
  // already.
  void (*enumerate)(const Spec& spec, const Target& target, std::vector<Decision>* decisions);
  // Adds to an empty expansion what a decision makes of the spec. One rewrite of each kind has it, for all of
  // the kind.
  void (*expand)(const Spec& spec, const Decision& decision, const Target& target,
                 Expansion* expansion) = nullptr;
};

// True if a spec is still to be tiled: outside of blocks there has to be more than one.
inline bool MayBeTiled(const Spec& spec, SpecStage stage) {
  return stage == SpecStage::kTiles ||
         (stage == SpecStage::kBlocks && spec.block < spec.size[static_cast<size_t>(BlockDim(spec))]);
}

// True if operands may come closer: a batch is split before anything is moved or packed.
inline bool MayBePlaced(const Spec& spec, SpecStage stage) {
  return MayBeTiled(spec, stage) && spec.size[MatmulDims::kB] == 1;
}

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_SPEC_REWRITE_H_
