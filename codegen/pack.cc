#include "codegen/pack.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "codegen/procedure_builder.h"
#include "spec/check.h"

namespace kirsch {
namespace {

constexpr int kBlock = 4;       // transposes go by blocks of 4 x 4
constexpr int kLineBlocks = 4;  // blocks along the source's rows that are done together: a cache line of f32
constexpr int kRowsAtOnce = 4;  // rows a straight copy handles together, so that it writes longer runs
constexpr int kDenseVectors = 4;  // vectors of a chunk of a copy without panels

// The copy's inner axis goes by chunks: panels, or, without panels, a few vectors.
class Packer {
 public:
  explicit Packer(const Pack& pack)
      : pack_(pack),
        builder_(pack.Name()),
        from_(builder_.PointerParameter("from", pack.dtype, false)),
        to_(builder_.PointerParameter("to", pack.dtype, true)),
        lanes_(pack.to.panel != 0 && pack.to.panel % pack.lanes != 0 ? static_cast<int>(pack.to.panel)
                                                                     : pack.lanes),
        width_(pack.to.panel != 0 ? pack.to.panel : int64_t{kDenseVectors} * lanes_),
        chunk_stride_(pack.to.panel != 0 ? pack.to.panel_stride : width_) {
    KIRSCH_CHECK(pack.from.panel == 0);
    KIRSCH_CHECK(pack.to.panel != 0 || pack.to.outer_stride % lanes_ == 0);
  }

  Procedure Build() && {
    if (pack_.from.order == pack_.to.order) {
      straight_ = builder_.Vector("v", pack_.dtype, lanes_);
      StraightCopy();
    } else {
      for (int row = 0; row < kBlock; ++row)
        block_[static_cast<size_t>(row)] = builder_.Vector(absl::StrCat("v", row), pack_.dtype, kBlock);
      TransposingCopy();
    }
    return std::move(builder_).Build();
  }

 private:
  void StraightCopy() {
    builder_.Loop(Constant(pack_.outer / kRowsAtOnce), [&](VarId block) {
      StraightRows(Plus(Constant(0), block, kRowsAtOnce * pack_.from.outer_stride),
                   Plus(Constant(0), block, kRowsAtOnce * pack_.to.outer_stride), kRowsAtOnce);
    });
    const int64_t done = pack_.outer / kRowsAtOnce * kRowsAtOnce;
    if (done < pack_.outer)
      StraightRows(Constant(done * pack_.from.outer_stride), Constant(done * pack_.to.outer_stride),
                   static_cast<int>(pack_.outer - done));
  }

  void StraightRows(const Affine& from, const Affine& to, int rows) {
    builder_.Loop(Constant(pack_.inner / width_), [&](VarId chunk) {
      StraightChunk(Plus(from, chunk, width_), Plus(to, chunk, chunk_stride_), rows, width_);
    });
    const int64_t chunks = pack_.inner / width_;
    if (chunks * width_ < pack_.inner)
      StraightChunk(Plus(from, chunks * width_), Plus(to, chunks * chunk_stride_), rows,
                    pack_.inner - chunks * width_);
  }

  // `rows` rows of a chunk of which `filled` elements exist.
  void StraightChunk(const Affine& from, const Affine& to, int rows, int64_t filled) {
    const int64_t stored = pack_.to.panel != 0 ? width_ : filled;
    for (int row = 0; row < rows; ++row)
      for (int64_t lane = 0; lane < stored; lane += lanes_) {
        const int64_t count = std::clamp<int64_t>(filled - lane, 0, lanes_);
        if (count == 0) {
          builder_.Do(Zero{straight_});
        } else {
          builder_.Do(Load{
              straight_, {from_, Plus(from, row * pack_.from.outer_stride + lane)}, static_cast<int>(count)});
        }
        builder_.Do(Store{straight_, {to_, Plus(to, row * pack_.to.outer_stride + lane)}, lanes_});
      }
  }

  void TransposingCopy() {
    builder_.Loop(Constant(pack_.inner / width_), [&](VarId chunk) {
      TransposeChunk(Plus(Constant(0), chunk, width_ * pack_.from.outer_stride),
                     Plus(Constant(0), chunk, chunk_stride_), width_);
    });
    const int64_t chunks = pack_.inner / width_;
    if (chunks * width_ < pack_.inner)
      TransposeChunk(Constant(chunks * width_ * pack_.from.outer_stride), Constant(chunks * chunk_stride_),
                     pack_.inner - chunks * width_);
  }

  // A chunk of which `filled` elements exist: whole lines of the source first.
  void TransposeChunk(const Affine& from, const Affine& to, int64_t filled) {
    constexpr int64_t kColumns = int64_t{kBlock} * kLineBlocks;
    builder_.Loop(Constant(pack_.outer / kColumns), [&](VarId line) {
      TransposeColumns(Plus(from, line, kColumns), Plus(to, line, kColumns * pack_.to.outer_stride), filled,
                       kColumns);
    });
    const int64_t done = pack_.outer / kColumns * kColumns;
    if (done < pack_.outer)
      TransposeColumns(Plus(from, done), Plus(to, done * pack_.to.outer_stride), filled, pack_.outer - done);
  }

  // `columns` columns of the source (rows of the copy) of a chunk.
  void TransposeColumns(const Affine& from, const Affine& to, int64_t filled, int64_t columns) {
    builder_.Loop(Constant(filled / kBlock), [&](VarId block) {
      TransposeBlocks(Plus(from, block, kBlock * pack_.from.outer_stride), Plus(to, block, kBlock), kBlock,
                      columns);
    });
    int64_t done = filled / kBlock * kBlock;
    if (done < filled) {
      TransposeBlocks(Plus(from, done * pack_.from.outer_stride), Plus(to, done),
                      static_cast<int>(filled - done), columns);
      done += kBlock;
    }
    if (pack_.to.panel == 0) return;
    builder_.Loop(Constant((width_ - done) / kBlock), [&](VarId block) {
      TransposeBlocks(from, Plus(Plus(to, done), block, kBlock), 0, columns);
    });
  }

  // 4 rows of the source, of which `rows` exist.
  void TransposeBlocks(const Affine& from, const Affine& to, int rows, int64_t columns) {
    for (int64_t column = 0; column < columns; column += kBlock)
      TransposeBlock(Plus(from, column), Plus(to, column * pack_.to.outer_stride), rows,
                     static_cast<int>(std::min<int64_t>(kBlock, columns - column)));
  }

  void TransposeBlock(const Affine& from, const Affine& to, int rows, int columns) {
    for (int row = 0; row < kBlock; ++row) {
      const VarId v = block_[static_cast<size_t>(row)];
      if (row < rows) {
        builder_.Do(Load{v, {from_, Plus(from, row * pack_.from.outer_stride)}, columns});
      } else {
        builder_.Do(Zero{v});
      }
    }
    if (rows > 0) builder_.Do(Transpose{block_});
    for (int column = 0; column < columns; ++column)
      builder_.Do(Store{
          block_[static_cast<size_t>(column)], {to_, Plus(to, column * pack_.to.outer_stride)}, kBlock});
  }

  const Pack& pack_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  const int lanes_;
  const int64_t width_, chunk_stride_;
  VarId straight_ = kNoVar;
  std::array<VarId, kBlock> block_ = {kNoVar, kNoVar, kNoVar, kNoVar};
};

}  // namespace

std::string Pack::Name() const {
  return absl::StrCat("pack_", outer, "x", inner, "_", from.Name(), "_", to.Name());
}

Procedure PackProcedure(const Pack& pack) { return Packer(pack).Build(); }

}  // namespace kirsch
