// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/expansion_parts.h"

#include "rewrites/spec/operand_order.h"

namespace kirsch {
namespace {

// True if the operand is written. Epilogue operands come after the output.
bool IsOutput(const Spec& spec, int operand) { return operand == spec.op_info().output(); }

// True if the tile is a whole row of a matrix without gaps, along the reduction: the next row follows it.
bool IsOneStream(const Spec& spec, int operand, const Target& target) {
  const TensorSpec& tensor = Operand(spec, operand);
  const TileExtent extent = ExtentOf(spec, operand);
  return tensor.layout.kind == LayoutKind::kStrided && extent.outer * extent.batch == 1 &&
         Bytes(tensor.dtype, int64_t{tensor.layout.ld} - extent.inner) <= target.line_bytes;
}

}  // namespace

Spec WithSize(const Spec& spec, int dim, uint32_t size) {
  Spec child = spec;
  child.size[static_cast<size_t>(dim)] = size;
  NarrowWindow(&child);
  return child;
}

void AddChild(const Spec& spec, int64_t trips, Expansion* expansion) {
  if (trips == 0) return;
  expansion->children[static_cast<size_t>(expansion->num_children++)] = {spec, trips, trips};
}

void AddTransfer(const Spec& spec, int operand, Level to, const Footprint& footprint, const Target& target,
                 Expansion* expansion) {
  Transfer transfer{Operand(spec, operand).level, to, {}, {}};
  // A line that is only written is still fetched first (write-allocate), so the output is always read.
  transfer.read = footprint;
  if (IsReduction(spec, InnerDim(spec, operand))) {
    transfer.one_stream = IsOneStream(spec, operand, target);
    transfer.new_runs = transfer.one_stream ? 0 : footprint.runs;
  }
  if (IsOutput(spec, operand)) transfer.written = footprint;
  expansion->transfers[static_cast<size_t>(expansion->num_transfers++)] = transfer;
}

}  // namespace kirsch
