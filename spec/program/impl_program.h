// SPDX-License-Identifier: Apache-2.0
// Writes the program of a contraction: the tree of decisions becomes loops, kernel runs and buffers in the
// shapes of spec/program/program.h. Plans use the same writer for the contractions in their stages.
//
// Example: tile m 6 - tile n 16 - move out VRF - microkernel, for M = N = 96, becomes
//    loop i0 < 16: loop i1 < 6: k0(lhs + i0 * 6 * ld, rhs + i1 * 16, out + ...; 64)
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

// Writes the program that computes `impl`. The tree must be complete: every leaf is a microkernel. The
// buffers begin with the spec's operands. If one operand is constant, the first decision says how it is
// packed; the program's prepack makes that copy, once before all calls. Copies that all blocks have in common
// are made in a phase of their own (HasCommonCopies). If the tree is for a range of sizes of a dim, that size
// is a symbol of the program, with the dim's name. Thread-safe.
Program WriteProgram(const Impl& impl, const Target& target);

// One operand's current tile: where it starts, and how its elements lie from there.
struct OperandView {
  OperandPlace start;
  int64_t batch_stride = 0;
  MatrixLayout layout;
  bool packed = false;  // a copy of ours
};
using OperandViews = std::array<OperandView, kMaxOperands>;

// The dims whose sizes are the program's symbols (Program::symbols), in their order. If strides are symbolic,
// they all are the size of one dim, and that one comes first.
std::vector<size_t> SymbolicDims(const Impl& impl);

// The number of tasks in a program that threads may share. 1 means that there is nothing to share.
int64_t TaskCount(const Impl& impl);

// True if a tree in blocks copies an operand that all blocks read whole. Every block would make the same
// copy, so the program makes it once, before the first block. False for a tree for a range of sizes, since
// the parts of a common copy are for a known number of rows.
bool HasCommonCopies(const Impl& impl);

// True if the size along `dim` of an operand's copy may be a symbol. `from` has the operand as
// it is read, `copied` the layout of the copy.
bool CopyMayVary(const Spec& from, const Spec& copied, int operand, int dim, const Target& target);

// True if the length of a register tile's reduction may be a symbol.
bool LengthMayVary(const Spec& spec, const Layout& registers, const Target& target);

// Writes the trees of contractions as parts of a program. It aborts (KIRSCH_CHECK) on a tree that is not a
// program of its spec: tiles that do not cover the dim, a panel or group entered in its middle, an operand
// whose type or layout is not the spec's. Copies that a tree makes for itself take a thread's own memory, as
// a stack: siblings reuse the same bytes.
class ImplWriter {
 public:
  // Both outlive this.
  ImplWriter(const Target& target, ProgramBuilder& builder) : target_(target), builder_(builder) {}

  // Writes the code that computes `impl`, whose operands lie as `views` say.
  void Write(const Impl& impl, const OperandViews& views) { WriteNode(impl, views); }
  // Does the same with the tasks shared out over the threads. They are numbered from `first` on.
  void WriteShared(const Impl& impl, const OperandViews& views, const Affine& first);
  // Sets the variable that holds the size along `dim`, for trees of a range of sizes; kNoVar: the size does
  // not vary.
  void SetSize(VarId size, size_t dim) { sizes_[dim] = {size, size}; }
  // Writes only the copies that the blocks of a tree have in common. All threads make them together; a range
  // of columns makes the parts that correspond to it. A later Write of the same `impl` reads these copies
  // instead of making them.
  void WriteCommonCopies(const Impl& impl, const OperandViews& views);
  // Writes the copy that the first decision of `impl` makes, as prepacks do.
  void WriteCopy(const Impl& impl, const OperandPlace& from, const OperandPlace& to);
  // The view of an operand of a root, if it begins at `start`.
  OperandView ViewAt(const Spec& spec, int operand, const OperandPlace& start) const;

  // Takes a temporary buffer behind those that are in use. It is there until FreeOwn gives back its bytes;
  // last taken, first freed.
  int TakeOwn(int64_t bytes, Dtype dtype);
  void FreeOwn(int64_t bytes) { own_top_ -= bytes; }

  // For the copy that a kPack makes of an operand that lies like `from`: its shape (of a batch, that of each
  // matrix), its elements (of the whole batch), and the bytes of its buffer.
  PackShape CopyOf(const Impl& impl, const MatrixLayout& from) const;
  int64_t CopyElements(const Impl& impl) const;
  int64_t CopyBytes(const Impl& impl) const;

 private:
  struct Tiles;
  struct TilePlace;
  // Tiles that run one after the other, around the node that is being written. Distances are in elements of
  // rhs.
  struct Turn {
    VarId variable = kNoVar;  // of the loop over them; kNoVar: there is only one
    int64_t trips = 1;
    bool goes_on = false;  // other tiles of the same node come behind them
    bool known = true;     // false: they are any thread's, so what comes next is not known
    Affine before, step;   // from the beginning of the node to the first tile; from each to the next
  };
  // The tile of rhs after the one that has been copied, which register tiles ask for: one of its rows with
  // each step of the reduction. The trips of all loops between share its lines; this is trip number `trip`.
  struct AskedTile {
    OperandPlace place;
    MatrixLayout layout;
    int64_t rows = 0, columns = 0;
    Affine trip = {};
    int64_t trips = 1;
  };

  // Each Write function below handles one kind of node, or one form of it; WriteNode chooses.
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
  void WriteSymbolicTiles(const Impl& impl, const OperandViews& views);
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
  Turn TurnOf(const Impl& impl, const OperandViews& views, int64_t position, int64_t step) const;
  using UsePlace = std::function<void(const Affine& place)>;
  void WithNextTile(const Affine& start, const UsePlace& use);
  void WithNextTile(size_t levels, const Affine& place, const Affine& last, const UsePlace& use);
  void AskForNext(const Impl& impl, const OperandView& from, const std::function<void()>& body);
  void AddTile(TileShape shape, std::vector<OperandPlace> at, const Count& length, const Affine& adds);
  bool Varies(size_t dim) const { return sizes_[dim].all != kNoVar; }
  std::optional<size_t> SymbolicDimOf(const Impl& impl, size_t operand) const;
  // Runs `body` while `left` is what there is of the dim: of a boundary tile, what is left of the division.
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
  // The sizes of a dim that varies: the whole of it, and how much of it the tile has that is being written.
  struct DimSize {
    VarId all = kNoVar, left = kNoVar;
  };
  std::array<DimSize, kMaxDims> sizes_;
  // KernelRun::last of the run that is being written.
  Affine last_;  // not 0: so much there is of the last vector of the register tile
  // For a reduction in tiles whose number is a symbol: 0 in the first tile, which overwrites
  // the output, and more in all others, which add to it.
  Affine tiles_before_;
  Affine first_block_;  // the number of the first block's task
  // True while WriteCommonCopies runs: only copies are written.
  bool only_common_ = false;
  std::map<const Impl*, int> common_;  // the buffers of copies in common
  // The number of the run of the node that is being written, of `turns_` in all. Copies in common inside of
  // loops take one place for each run.
  Affine turn_;
  int64_t turns_ = 1;
  // The loops around the node that is being written, the innermost last.
  std::vector<Turn> around_;
  std::optional<AskedTile> asked_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_IMPL_PROGRAM_H_
