// SPDX-License-Identifier: Apache-2.0
// The program of a contraction: its tree of decisions, written in the shapes of spec/program/program.h.
#ifndef KIRSCH_SPEC_PROGRAM_IMPL_PROGRAM_H_
#define KIRSCH_SPEC_PROGRAM_IMPL_PROGRAM_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "spec/impl.h"
#include "spec/program/matrix_layout.h"
#include "spec/program/program.h"
#include "spec/program/program_builder.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// The program that computes `impl`, which is complete: every leaf is a microkernel. Its buffers begin with
// the spec's operands. If one is constant, the first decision says how it is packed: that is made ahead.
// Copies that the blocks of a spec in blocks have in common are a phase of their own (HasCommonCopies).
// Of a tree for a range of sizes of a dim, that is the program's run-time size, called by the dim's name.
// Thread-safe.
Program WriteProgram(const Impl& impl, const Target& target);

// One operand's current tile: where it starts, and how its elements lie from there.
struct OperandView {
  OperandPlace start;
  int64_t batch_stride = 0;
  MatrixLayout layout;
  bool packed = false;  // a copy of ours
};
using OperandViews = std::array<OperandView, kMaxOperands>;

// The dims whose sizes are a program's Program::sizes, in their order: that of symbolic strides is the first.
// Such strides are those of one dim.
std::vector<size_t> VaryingDims(const Impl& impl);

// The tasks of a program that threads may share; 1: none.
int64_t TaskCount(const Impl& impl);

// Of a tree in blocks: are there copies, outside of the blocks, of an operand that all of them read whole?
// Every block would make the same ones, so that is done before the first of them. (None of a tree for a range
// of sizes, which say how much there is to copy.)
bool HasCommonCopies(const Impl& impl);

// Can the size along `dim` of an operand's copy, as `copied` has it, be known at run time only?
bool CopyMayVary(const Spec& from, const Spec& copied, int operand, int dim, const Target& target);

// Can the length of the reduction of a register tile be known at run time only?
bool LengthMayVary(const Spec& spec, const Layout& registers, const Target& target);

// Writes the trees of contractions as parts of a program. It aborts (KIRSCH_CHECK) on a tree that is not a
// program of its spec: tiles that do not cover the dim, a panel or group entered in its middle, an operand
// that is not of the type and layout that the spec says. Copies that a tree makes for itself take a thread's
// own memory; those of siblings share it.
class ImplWriter {
 public:
  // Both outlive this.
  ImplWriter(const Target& target, ProgramBuilder& builder) : target_(target), builder_(builder) {}

  // What computes `impl`, whose operands lie as `views` say.
  void Write(const Impl& impl, const OperandViews& views) { WriteNode(impl, views); }
  // The same, its tasks, numbered from `first` on, shared out over the threads.
  void WriteShared(const Impl& impl, const OperandViews& views, const Affine& first);
  // The variable that is the size of a tree for a range of them, along `dim`; kNoVar: it does not vary there.
  void SetSize(VarId size, size_t dim) { sizes_[dim] = {size, size}; }
  // Of a tree in blocks: the copies in common, and nothing else. All threads make them together, a range of
  // columns the parts that correspond to it. What is written of `impl` from then on finds them made.
  void WriteCommonCopies(const Impl& impl, const OperandViews& views);
  // The copy that the first decision of `impl` makes.
  void WriteCopy(const Impl& impl, const OperandPlace& from, const OperandPlace& to);
  // How an operand of a root lies that begins at `start`.
  OperandView ViewAt(const Spec& spec, int operand, const OperandPlace& start) const;

  // A temporary buffer behind those that are in use, there until `FreeOwn` gives back its bytes.
  int TakeOwn(int64_t bytes, Dtype dtype);
  void FreeOwn(int64_t bytes) { own_top_ -= bytes; }

  // The copy that a kPack makes of an operand that lies like `from` (of a batch: of each matrix), its
  // elements (of the whole batch), and the bytes of its buffer.
  PackShape CopyOf(const Impl& impl, const MatrixLayout& from) const;
  int64_t CopyElements(const Impl& impl) const;
  int64_t CopyBytes(const Impl& impl) const;

 private:
  struct Tiles;
  struct TilePlace;

  void WriteNode(const Impl& impl, const OperandViews& views);
  void WriteTiles(const Impl& impl, const OperandViews& views, const std::optional<Affine>& task);
  OperandPlace CommonPlace(const Impl& impl, Dtype dtype);
  void WriteCommonCopy(const Spec& spec, const PackShape& whole, const OperandPlace& from,
                       const OperandPlace& to);
  void WriteBlocksPack(const Impl& impl, const PackShape& pack, const OperandView& from,
                       const OperandView& to);
  template <typename WriteBlock>
  void ForBlocks(const Spec& spec, const WriteBlock& body);
  void WriteRuns(const Tiles& tiles, int level, TilePlace place, int64_t trips);
  template <typename WriteBody>
  void Repeat(const Tiles& tiles, int level, const TilePlace& place, int64_t count, int64_t step,
              const WriteBody& body);
  void WriteTile(const Tiles& tiles, const TilePlace& place);
  Affine Behind(const Affine& offset, const OperandView& view, const Spec& spec, int operand, int dim,
                int64_t size, VarId tiles) const;
  void WriteVaryingTiles(const Impl& impl, const OperandViews& views);
  using WriteSize = std::function<void(int64_t number, int64_t size, const Affine& last)>;
  void ForSizes(size_t dim, int64_t unit, int64_t least, int64_t most, const WriteSize& write);
  void WriteRegisterTiles(const Impl& impl, const OperandViews& views);
  Count LengthOf(const Impl& impl) const;
  void WritePack(const Impl& impl, const OperandViews& views);
  void WriteRowsPack(const Impl& impl, const PackShape& most, const OperandView& from, const OperandView& to);
  void WritePanelsPack(const Impl& impl, const PackShape& most, const OperandView& from,
                       const OperandView& to);
  void WriteWindowCopy(const Spec& spec, const PackShape& whole, const OperandPlace& from,
                       const OperandPlace& to);
  void WriteRegisterTile(const Impl& impl, const OperandViews& views);
  bool Varies(size_t dim) const { return sizes_[dim].all != kNoVar; }
  std::optional<size_t> VaryingDimOf(const Impl& impl, size_t operand) const;
  // `body`, where so much is left of the dim.
  template <typename WriteBody>
  void WithLeft(size_t dim, VarId left, const WriteBody& body) {
    std::swap(sizes_[dim].left, left);
    body();
    std::swap(sizes_[dim].left, left);
  }
  MatrixLayout PackedLayout(const TileExtent& extent, const Layout& layout, Dtype dtype) const;

  const Target& target_;
  ProgramBuilder& builder_;
  int64_t own_top_ = 0;  // bytes
  // Of a dim that varies: all there is, and what there is of the tile that is being written.
  struct DimSize {
    VarId all = kNoVar, left = kNoVar;
  };
  std::array<DimSize, kMaxDims> sizes_;
  Affine last_;  // not 0: so much there is of the last vector of the register tile
  // Of tiles of a reduction whose number is known at run time only: 0 in the first one.
  Affine tiles_before_;
  Affine first_block_;  // the number of the first block's task
  bool only_common_ = false;
  std::map<const Impl*, int> common_;  // the buffers of copies in common
  // Which of how many times the node that is being written is run.
  Affine turn_;
  int64_t turns_ = 1;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_IMPL_PROGRAM_H_
