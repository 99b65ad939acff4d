// SPDX-License-Identifier: Apache-2.0
// Computes a register tile: the only leaf. Its operands beyond L1 stream through, as transfers.
#include "spec/microkernel.h"

#include <algorithm>

#include "rewrites/spec/expansion_parts.h"
#include "rewrites/spec/operand_order.h"
#include "rewrites/spec/prefetch.h"
#include "rewrites/spec/registry.h"

namespace kirsch {
namespace {

// The microkernel that prefetches nothing, then those that do.
void EnumerateMicrokernels(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  Decision microkernel;
  microkernel.kind = RewriteKind::kMicrokernel;
  decisions->push_back(microkernel);
  if (!spec.op_info().lanewise()) EnumeratePrefetches(spec, target, decisions);
}

// A microkernel has no children. Its transfers are those operands that it reads from beyond L1.
void ExpandMicrokernel(const Spec& spec, const Decision& decision, const Target& target,
                       Expansion* expansion) {
  for (int operand = 0; operand < spec.op_info().output(); ++operand) {
    const TensorSpec& tensor = Operand(spec, operand);
    const bool by_tiles = operand == MatmulDims::kRhs && decision.size == 0 && PrefetchesNextTile(spec);
    if (tensor.level <= Level::kL1 && !by_tiles) continue;
    Footprint footprint = FootprintOf(spec, operand, target);
    const bool walks_rows = IsReduction(spec, InnerDim(spec, operand));
    // A line that is evicted before the walk along its row comes back to it is fetched once for each element.
    if (walks_rows && RowsEvictEachOther(spec, operand, target))
      footprint.lines = std::min(ExtentOf(spec, operand).elements(),
                                 footprint.lines * ElementsIn(tensor.dtype, target.line_bytes));
    AddTransfer(spec, operand, Level::kVrf, footprint, target, expansion);
    if (operand != MatmulDims::kRhs) continue;
    // A panel that is read whole goes on where the one before it ends: one after the other they are a single
    // stream. Of several side by side only the first does, the others begin where nobody has read or asked
    // for anything. (Pieces of panels that tiles of the reduction read are priced there.)
    if (tensor.layout.panel != 0) {
      LastTransfer(expansion).new_runs = footprint.runs - 1;
      LastTransfer(expansion).one_stream = footprint.runs == 1;
    }
    PrefetchRhs(spec, decision, target, &LastTransfer(expansion));
    LastTransfer(expansion).by_tiles = by_tiles;
    LastTransfer(expansion).rows_conflict = !walks_rows && RowsConflict(spec, operand, target);
  }
}

}  // namespace

const SpecRewrite kMicrokernel = {
    .kind = RewriteKind::kMicrokernel,
    .applies = [](const Spec&, SpecStage stage) { return stage == SpecStage::kRegisters; },
    .enumerate = EnumerateMicrokernels,
    .expand = ExpandMicrokernel};

}  // namespace kirsch
