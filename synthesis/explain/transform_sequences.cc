// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/transform_sequences.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "synthesis/explain/main_path.h"

namespace kirsch {
namespace {

constexpr std::string_view kHandle = "!transform.any_op";

}  // namespace

TransformSequences::TransformSequences(std::string prefix, std::string_view match,
                                       std::vector<LinalgContraction::Loop> loops, const Spec& spec,
                                       bool swapped)
    : prefix_(std::move(prefix)),
      loops_(std::move(loops)),
      spec_(spec),
      swapped_(swapped),
      op_(Cat("%", prefix_, "op")) {
  // A program without items has the operation's as rows, one item's after the other's.
  for (LinalgContraction::Loop& loop : loops_)
    if (loop.dim == LinalgDim::kItem && spec.size[MatmulDims::kB] == 1) loop.dim = LinalgDim::kRow;
  main_ = Cat("  ", op_, " = transform.structured.match ", match, " in %root : (", kHandle, ") -> ", kHandle,
              "\n");
}

LinalgDim TransformSequences::DimOf(int dim) const {
  switch (dim) {
    case MatmulDims::kB:
      return LinalgDim::kItem;
    case MatmulDims::kK:
      return LinalgDim::kStep;
    default:
      return (dim == MatmulDims::kM) != swapped_ ? LinalgDim::kRow : LinalgDim::kColumn;
  }
}

bool TransformSequences::Suits() const {
  for (int dim = 0; dim < spec_.op_info().num_dims; ++dim) {
    int64_t all = 1;
    for (const LinalgContraction::Loop& loop : loops_) all *= loop.dim == DimOf(dim) ? loop.size : 1;
    if (spec_.size[static_cast<size_t>(dim)] > all) return false;
  }
  return true;
}

// Takes a tile of the dim's loops, the innermost whole as far as they go: of pixels whole rows of the image,
// or a part of one. Sets the sizes of loops that get smaller. False if no tile of the loops has that size.
bool TransformSequences::Tile(LinalgDim dim, int64_t size, std::vector<int64_t>* sizes) {
  std::vector<LinalgContraction::Loop> left = loops_;
  for (size_t i = left.size(); i-- > 0;) {
    if (left[i].dim != dim) continue;
    if (size >= left[i].size && size % left[i].size != 0) return false;
    const int64_t tile = std::min(size, left[i].size);
    if (tile < left[i].size) (*sizes)[i] = tile;
    left[i].size = tile;
    size /= tile;
  }
  if (size != 1) return false;
  loops_ = std::move(left);
  return true;
}

// `word`: "tile", or "split" where the program's main part is what such tiles leave.
void TransformSequences::AddTile(std::string_view word, int dim, int64_t size, bool threads) {
  int& number = word == "tile" ? tiles_[static_cast<size_t>(dim)] : splits_[static_cast<size_t>(dim)];
  const std::string name = Cat(word, "_", spec_.op_info().dims[static_cast<size_t>(dim)].name, "_", number++);
  std::vector<int64_t> sizes(loops_.size());
  if (!Tile(DimOf(dim), size, &sizes))
    return Remark(Cat(name, ": ", size, ", which is no tile of the operation's loops"));
  AddLoops(name, sizes, threads);
}

// Makes loops of those with a size; a tile of all of a dim is none.
void TransformSequences::AddLoops(const std::string& name, const std::vector<int64_t>& sizes, bool threads) {
  const auto count =
      static_cast<size_t>(std::ranges::count_if(sizes, [](int64_t size) { return size != 0; }));
  if (count == 0) return;
  std::vector<std::string> results = {"%tiled"}, types = {std::string(kHandle)};
  for (size_t i = 0; i < (threads ? 1 : count); ++i) {
    results.push_back(Cat("%loop", i));
    types.emplace_back(kHandle);
  }
  Include(name, Cat("  ", Join(results, ", "), " = transform.structured.",
                    threads ? "tile_using_forall" : "tile_using_for", " %op tile_sizes [", Join(sizes, ", "),
                    "] : (", kHandle, ") -> (", Join(types, ", "), ")\n  transform.yield %tiled : ", kHandle,
                    "\n"));
}

// A pack is a pad that pads nothing and is not folded: a copy of one operand. Its layout is left to what
// lowers it.
void TransformSequences::AddPack(const Decision& decision) {
  const auto operand = static_cast<size_t>(
      swapped_ && decision.operand < MatmulDims::kOut ? 1 - decision.operand : decision.operand);
  std::vector<std::string> numbers, dims;
  std::array<int, 3> copied = {};
  copied[operand] = 1;
  for (int each = 0; each < 3; ++each) {
    const int own = swapped_ && each < MatmulDims::kOut ? 1 - each : each;
    numbers.push_back(Cat("0.0 : ", Info(spec_.tensor(own).dtype).name));
  }
  for (size_t i = 0; i < loops_.size(); ++i) dims.push_back(Cat(i));
  Remark(PrintDecision(spec_.op, decision));
  Include(Cat("pack_", spec_.op_info().operands[decision.operand].name),
          Cat("  %copied, %pad, %back = transform.structured.pad %op {padding_values = [",
              Join(numbers, ", "), "], padding_dimensions = [", Join(dims, ", "), "], pack_paddings = [",
              Join(copied, ", "), "], copy_back_op = \"none\"} : (", kHandle, ") -> (", kHandle, ", ",
              kHandle, ", ", kHandle, ")\n  transform.yield %copied : ", kHandle, "\n"));
}

// The loop over the reduction has a step of one, and its body is the register tile.
void TransformSequences::AddVectors() {
  std::vector<int64_t> steps(loops_.size());
  Tile(LinalgDim::kStep, 1, &steps);
  AddLoops("steps", steps, false);
  Append(&main_, "  transform.structured.vectorize ", op_, " vector_sizes [",
         Join(loops_, ", ", &LinalgContraction::Loop::size), "] : ", kHandle, "\n");
}

void TransformSequences::AddRoot(bool threads) {
  for (int dim = 0; dim < spec_.op_info().num_dims; ++dim) {
    const int64_t size = spec_.size[static_cast<size_t>(dim)];
    int64_t all = 1;
    for (const LinalgContraction::Loop& loop : loops_) all *= loop.dim == DimOf(dim) ? loop.size : 1;
    if (size < all) AddTile("tile", dim, size, threads);
  }
}

// A program tiles by what a tile leaves where that is most of the work; MLIR's loop has it as its last trip.
// Of images, which overlap themselves, only tiles have words.
void TransformSequences::AddPath(const std::vector<const ExplainedNode*>& path) {
  const auto steps = std::ranges::count(loops_, LinalgDim::kStep, &LinalgContraction::Loop::dim);
  const bool plain = steps == 1 && spec_.op_info().window.operand < 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const Decision& decision = path[i]->impl->decision;
    if (decision.kind == RewriteKind::kTile || decision.kind == RewriteKind::kParallelTile)
      AddTile(IsTile(path, i) ? "tile" : "split", decision.dim, decision.size,
              decision.kind == RewriteKind::kParallelTile && decision.parts > 1);
    else if (decision.kind == RewriteKind::kPack && plain)
      AddPack(decision);
    else
      Remark(PrintDecision(spec_.op, decision));
  }
  if (plain) AddVectors();
}

// A sequence that makes one operation of another, and the line that includes it.
void TransformSequences::Include(const std::string& name, const std::string& body) {
  const std::string sequence = Cat(prefix_, name), result = Cat("%", sequence);
  Append(&sequences_, "transform.named_sequence @", sequence, "(%op: ", kHandle, " {transform.consumed}) -> ",
         kHandle, " {\n", body, "}\n");
  Append(&main_, "  ", result, " = transform.include @", sequence, " failures(propagate) (", op_, ") : (",
         kHandle, ") -> ", kHandle, "\n");
  op_ = result;
}

void TransformSequences::Remark(const std::string& text) { Append(&main_, "  // ", text, "\n"); }

}  // namespace kirsch
