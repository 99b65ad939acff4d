// The program of a contraction: its tree of decisions, written in the shapes of spec/program/program.h.
#ifndef KIRSCH_SPEC_PROGRAM_IMPL_PROGRAM_H_
#define KIRSCH_SPEC_PROGRAM_IMPL_PROGRAM_H_

#include <array>
#include <cstdint>
#include <optional>

#include "spec/impl.h"
#include "spec/program/matrix_layout.h"
#include "spec/program/program.h"
#include "spec/program/program_builder.h"
#include "spec/spec.h"
#include "spec/target/target.h"

namespace kirsch {

// The program that computes `impl`, which is complete: every leaf is a microkernel. Its buffers begin with
// the spec's operands. If one is constant, the first decision says how it is packed: that is made ahead.
// Of a tree for a range of rows, their number is the program's run-time size, called m. Thread-safe.
Program ProgramOf(const Impl& impl, const Target& target);

// One operand's current tile: where it starts, and how its elements lie from there.
struct OperandView {
  OperandPlace start;
  int64_t batch_stride = 0;
  MatrixLayout layout;
  bool packed = false;  // a copy of ours
};
using OperandViews = std::array<OperandView, kMaxOperands>;

// The tasks of a program that threads may share; 1: none.
int64_t TaskCount(const Impl& impl);

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
  // The variable that is the number of rows of a tree for a range of them.
  void SetRows(VarId rows) { rows_ = rows; }
  // The copy that the first decision of `impl` makes.
  void WriteCopy(const Impl& impl, const OperandPlace& from, const OperandPlace& to);
  // How an operand of a root lies that begins at `start`.
  OperandView ViewAt(const Spec& spec, int operand, const OperandPlace& start) const;

  // A temporary buffer behind those that are in use, there until `FreeOwn` gives back its bytes.
  int TakeOwn(int64_t bytes, Dtype dtype);
  void FreeOwn(int64_t bytes) { own_top_ -= bytes; }

  // The copy that a kPack makes of an operand that lies like `from`, and the bytes of its buffer.
  PackShape CopyOf(const Impl& impl, const MatrixLayout& from) const;
  int64_t CopyBytes(const Impl& impl) const;

 private:
  struct Tiles;
  struct TilePlace;

  void WriteNode(const Impl& impl, const OperandViews& views);
  void WriteTiles(const Impl& impl, const OperandViews& views, const std::optional<Affine>& task);
  void WriteRuns(const Tiles& tiles, int level, TilePlace place, int64_t trips);
  template <typename WriteBody>
  void Repeat(const Tiles& tiles, int level, const TilePlace& place, int64_t count, int64_t step,
              const WriteBody& body);
  void WriteTile(const Tiles& tiles, const TilePlace& place);
  void WriteRowTiles(const Impl& impl, const OperandViews& views);
  void WritePack(const Impl& impl, const OperandViews& views);
  void WriteRowsPack(const Spec& spec, const PackShape& most, const OperandView& from, const OperandView& to);
  void WriteWindowCopy(const Spec& spec, const PackShape& whole, const OperandPlace& from,
                       const OperandPlace& to);
  void WriteRegisterTile(const Impl& impl, const OperandViews& views);
  MatrixLayout PackedLayout(const TileExtent& extent, const Layout& layout, Dtype dtype) const;

  const Target& target_;
  ProgramBuilder& builder_;
  int64_t own_top_ = 0;  // bytes
  VarId rows_ = kNoVar;  // how many there are, where that is not a constant
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_IMPL_PROGRAM_H_
