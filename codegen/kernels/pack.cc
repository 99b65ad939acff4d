// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/pack.h"

#include <algorithm>
#include <array>
#include <optional>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/block_encoder.h"
#include "codegen/kernels/block_panels.h"
#include "codegen/kernels/copy_prefetch.h"
#include "codegen/kernels/register_transpose.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int64_t kStripRows = RegisterTranspose::kStripRows;
constexpr int kRowsAtOnce = 4;    // rows a straight copy handles together, so that it writes longer runs
constexpr int kDenseVectors = 4;  // vectors of a chunk of a copy without panels

// True if the copy rounds, from f32 to a narrower float.
bool Narrows(const Pack& pack) {
  return pack.from.dtype == Dtype::kF32 && (pack.to.dtype == Dtype::kBf16 || pack.to.dtype == Dtype::kF16);
}

// Returns the type of the vectors that are stored. A store narrows them where the copy rounds.
Dtype StoredFrom(const Pack& pack) { return Narrows(pack) ? Dtype::kF32 : pack.to.dtype; }

// Returns how many elements along the copy's inner axis are handled as one vector. In panels these are as
// many as a vector has words, since groups make them wider.
int LanesOf(const Pack& pack) {
  if (pack.to.panel == 0) return pack.vector_bytes / Bytes(StoredFrom(pack));
  return static_cast<int>(PanelVector(pack.to.panel, pack.vector_bytes, pack.to.dtype));
}

// Copies between layouts of elements; types of blocks are decoded on the way. The copy's inner axis goes by
// chunks: panels, or, without panels, a few vectors. Its outer axis goes by groups. If both sides have the
// same order, rows stay rows. With panels of 4 and no groups:
//   from: a0 a1 a2 a3 a4 a5      to: a0 a1 a2 a3  b0 b1 b2 b3
//         b0 b1 b2 b3 b4 b5          a4 a5  0  0  b4 b5  0  0
// Else the copy transposes, and the elements of a chunk are as many rows of the source.
class Packer {
 public:
  explicit Packer(const Pack& pack)
      : pack_(pack),
        builder_(pack.Name()),
        from_(builder_.PointerParameter("from", PointeeOf(pack.from.dtype), false)),
        to_(builder_.PointerParameter("to", pack.to.dtype, true)),
        any_(Takes(pack, SizeSymbol::kCount) ? builder_.IndexParameter("count") : kNoVar),
        size_(Takes(pack, SizeSymbol::kStride) ? builder_.IndexParameter("size") : kNoVar),
        last_(Takes(pack, SizeSymbol::kLast) ? builder_.IndexParameter("last") : kNoVar),
        group_(static_cast<int>(pack.to.group)),
        lanes_(LanesOf(pack)),
        width_(pack.to.panel != 0 ? pack.to.panel : int64_t{kDenseVectors} * lanes_),
        chunk_stride_(pack.to.panel != 0 ? pack.to.panel_stride : width_),
        parts_(pack.inner_stride == 2 && pack.from.dtype == Dtype::kF32 && pack.to.dtype == Dtype::kF32),
        step_(pack.inner_stride == 1 || parts_ ? lanes_ : 1),
        prefetch_(pack, builder_, from_, LineColumns(), size_),
        rows_at_once_(pack.to.panel != 0 || pack.to.outer_stride % lanes_ == 0 ? kRowsAtOnce : 1) {
    // Combinations that this copy has no code for.
    KIRSCH_CHECK(pack.from.panel == 0);
    KIRSCH_CHECK(rows_at_once_ > 1 || pack.from.order == pack.to.order);
    KIRSCH_CHECK(pack.inner_stride == 1 || (pack.from.order == pack.to.order && group_ == 1));
    KIRSCH_CHECK(!pack.exact || pack.to.panel == 0);
    KIRSCH_CHECK(!Narrows(pack) || group_ == 1);
    KIRSCH_CHECK(last_ == kNoVar ||
                 (pack.inner.most_of_symbol() == lanes_ && pack.from.order == pack.to.order));
    KIRSCH_CHECK(any_ == kNoVar || (!IsOfBlocks(pack.from.dtype) && pack.inner_stride == 1 && !pack.exact));
    KIRSCH_CHECK(!any_inner() || (pack.to.panel == 0 && pack.from.order == pack.to.order));
    if (!IsOfBlocks(pack.from.dtype)) return;
    KIRSCH_CHECK(size_ == kNoVar);
    KIRSCH_CHECK(pack.from.order == Order::kCol && pack.inner_stride == 1);
    // Where codes are decoded as bytes, a block is a vector.
    const bool as_bytes = FormatOf(pack.from.dtype).codes == BlockCodes::kFloats8;
    const int bytes = std::min(pack.vector_bytes, as_bytes ? block() : kBlockRun * kWordBytes);
    const Dtype number = DecodedFor(pack.to.dtype, pack.from.dtype);
    decoded_ = builder_.Vector("decoded", number, bytes / Bytes(number));
    decoder_.emplace(builder_, pack.from.dtype, number, bytes, /*by_tables=*/false);
  }

  // Only the vectors that this kind of copy needs are declared.
  Procedure Build() && {
    if (decoder_) {
      pack_.from.order == pack_.to.order ? DecodingCopy() : DecodingTranspose();
    } else if (pack_.from.order == pack_.to.order) {
      straight_ = builder_.Vector("v", StoredFrom(pack_), lanes_ * group_);
      for (int row = 0; group_ > 1 && (any_outer() || row < pack_.outer) && row < group_; ++row)
        rows_[static_cast<size_t>(row)] = builder_.Vector(Cat("r", row), pack_.to.dtype, lanes_);
      if (parts_) odd_ = builder_.Vector("odd", pack_.to.dtype, lanes_);
      StraightCopy();
    } else {
      TransposingCopy();
    }
    return std::move(builder_).Build();
  }

 private:
  // Decodes blocks that stay in rows: whole ones, one after the other.
  void DecodingCopy() {
    builder_.Loop(Constant(pack_.outer), [&](VarId row) {
      const Affine from = Plus(Constant(0), row, pack_.from.outer_stride);
      const Affine to = Plus(Constant(0), row, pack_.to.outer_stride);
      builder_.Loop(Constant(pack_.inner / block()), [&](VarId number) {
        Decode(Plus(from, number, block()), {to_, Plus(to, number, block())});
      });
    });
  }

  // Transposes blocks: of a few rows of the source at a time a block is decoded into an array, which is then
  // transposed.
  void DecodingTranspose() {
    array_ = builder_.Array("rows", pack_.to.dtype, lanes_, RegisterTranspose::kLeast * block());
    TransposingCopy();
  }

  int block() const { return BlockOf(pack_.from.dtype); }
  // Returns how many columns of the source are transposed together: a cache line of words, or a block.
  int64_t LineColumns() const { return IsOfBlocks(pack_.from.dtype) ? block() : kStripRows * group_; }

  // Decodes a block of the source to `to`, a vector at a time.
  void Decode(const Affine& from, const Address& to) {
    const int lanes = builder_.var(decoded_).lanes;
    decoder_->Begin(0, {from_, InBytes(pack_.from.dtype, from)});
    for (int element = 0; element < block(); element += lanes) {
      decoder_->Read(decoded_, 0, element);
      builder_.Do(Store{decoded_, {to.pointer, Plus(to.offset, element)}, lanes});
    }
  }

  // Returns the place `rows` rows of the source behind `from`, or `number` times so many. Rows are a constant
  // apart, or kStride.
  Affine Behind(const Affine& from, int64_t rows) const {
    if (size_ == kNoVar) return Plus(from, rows * pack_.from.outer_stride);
    return rows == 0 ? from : Plus(from, size_, rows);
  }
  Affine Behind(const Affine& from, VarId number, int64_t rows) const {
    return Plus(from, number, rows * (size_ == kNoVar ? pack_.from.outer_stride.most() : 1), size_);
  }

  bool any_outer() const { return !pack_.outer.IsConstant(); }
  bool any_inner() const { return pack_.inner.symbol() == SizeSymbol::kCount; }

  // Copies all of an outer axis of any size by copy(from, to, rows). It takes the largest of `pieces` as
  // often as it fits, then the next one in what is left, and so on; in the end what is left of a group. For
  // example, 11 rows in pieces of 4 and 2 are 4, 4 and 2 rows, and 1 is left. behind(from, number, rows)
  // returns the place so many times so many rows behind. The loop over the largest piece prefetches `turned`
  // rows of the source, where copies prefetch.
  template <typename Next, typename Copy>
  void ForAnyOuter(const std::vector<int64_t>& pieces, int64_t turned, Affine from, Affine to,
                   const Next& behind, const Copy& copy) {
    VarId left = any_;
    for (const int64_t rows : pieces) {
      const Affine whole = IndexOf(builder_.Quotient(IndexOf(left), rows, false));
      const int64_t stride = pack_.to.OuterOffset(rows);
      const auto piece = [&](const Affine& number) {
        copy(behind(from, number, rows), Plus(to, Times(number, stride)), rows);
      };
      if (rows == pieces.front())
        prefetch_.ForSteps(turned, whole, piece);
      else
        builder_.Loop(whole, [&](VarId number) { piece(IndexOf(number)); });
      // Nothing is left of single rows; else the next piece begins behind those of this one.
      if (rows == 1) return;
      from = behind(from, whole, rows);
      to = Plus(to, Times(whole, stride));
      left = builder_.Quotient(IndexOf(left), rows, true);
    }
    builder_.SwitchOn(left, 1, static_cast<size_t>(group_ - 1),
                      [&](size_t i) { copy(from, to, static_cast<int64_t>(i) + 1); });
  }

  // Copies rows that stay rows, rows_at_once_ at a time, so that each chunk of the copy is written in longer
  // runs.
  void StraightCopy() {
    if (any_outer())
      return ForAnyOuter(
          rows_at_once_ > group_ ? std::vector<int64_t>{rows_at_once_, group_} : std::vector<int64_t>{group_},
          0, Constant(0), Constant(0),
          [&](const Affine& from, const Affine& number, int64_t rows) {
            return Plus(from, size_ == kNoVar ? Times(number, rows * pack_.from.outer_stride)
                                              : TimesVariable(Times(number, rows), size_));
          },
          [&](const Affine& from, const Affine& to, int64_t rows) {
            StraightRows(from, to, static_cast<int>(rows));
          });
    builder_.Loop(Constant(pack_.outer / rows_at_once_), [&](VarId block) {
      StraightRows(Behind(Constant(0), block, rows_at_once_),
                   Plus(Constant(0), block, pack_.to.OuterOffset(rows_at_once_)), rows_at_once_);
    });
    const int64_t done = pack_.outer / rows_at_once_ * rows_at_once_;
    if (done < pack_.outer)
      StraightRows(Behind(Constant(0), done), Constant(pack_.to.OuterOffset(done)),
                   static_cast<int>(pack_.outer - done));
  }

  // Copies so many rows, chunk by chunk; the last chunk may have fewer elements.
  void StraightRows(const Affine& from, const Affine& to, int rows) {
    if (any_inner()) return StraightAnyRows(from, to, rows);
    builder_.Loop(Constant(pack_.inner / width_), [&](VarId chunk) {
      StraightChunk(Plus(from, chunk, width_ * pack_.inner_stride), Plus(to, chunk, chunk_stride_), rows,
                    width_, last_);
    });
    const int64_t chunks = pack_.inner / width_;
    if (chunks * width_ < pack_.inner)
      StraightChunk(Plus(from, chunks * width_ * pack_.inner_stride), Plus(to, chunks * chunk_stride_), rows,
                    pack_.inner - chunks * width_, last_);
  }

  // Copies so many rows of any length: chunks, then vectors, the last of which may be partial. It is copied
  // element by element where there are no masks.
  void StraightAnyRows(const Affine& from, const Affine& to, int rows) {
    const VarId chunks = builder_.Quotient(IndexOf(any_), width_, false, 1),
                left = builder_.Quotient(IndexOf(any_), width_, true, 1),
                vectors = builder_.Quotient(IndexOf(left), lanes_, false, 1),
                last = builder_.Quotient(IndexOf(left), lanes_, true, 1);
    builder_.Loop(IndexOf(chunks), [&](VarId chunk) {
      StraightChunk(Plus(from, chunk, width_), Plus(to, chunk, width_), rows, width_, kNoVar);
    });
    const Affine rest_from = Plus(from, chunks, width_), rest_to = Plus(to, chunks, width_);
    builder_.Loop(IndexOf(vectors), [&](VarId vector) {
      StraightChunk(Plus(rest_from, vector, lanes_), Plus(rest_to, vector, lanes_), rows, lanes_, kNoVar);
    });
    const Affine last_from = Plus(rest_from, vectors, lanes_), last_to = Plus(rest_to, vectors, lanes_);
    if (pack_.lanes_vary) return StraightChunk(last_from, last_to, rows, lanes_, last);
    builder_.Loop(IndexOf(last), [&](VarId element) {
      for (int row = 0; row < rows; ++row) {
        builder_.Do(Load{straight_, {from_, Plus(Behind(last_from, row), element, 1)}, 1});
        builder_.Do(Store{straight_, {to_, Plus(Plus(last_to, element, 1), pack_.to.OuterOffset(row))}, 1});
      }
    });
  }

  // Copies `rows` rows of a chunk of which `filled` elements exist. If `last` is a variable, the last vector
  // has as many as that says. A panel is written to its width; elements that don't exist are loaded as zeros.
  void StraightChunk(const Affine& from, const Affine& to, int rows, int64_t filled, VarId last) {
    const int64_t stored = pack_.to.panel != 0 ? width_ : filled;
    for (int row = 0; row < rows; row += group_)
      for (int64_t lane = 0; lane < stored; lane += step_) {
        LaneCount count = static_cast<int>(std::clamp<int64_t>(filled - lane, 0, step_));
        if (last != kNoVar && lane + step_ == filled) count.index = last;
        LoadGroup(Plus(Behind(from, row), lane * pack_.inner_stride), std::min(group_, rows - row), count);
        builder_.Do(Store{straight_,
                          {to_, Plus(to, pack_.to.OuterOffset(row) + lane * group_)},
                          pack_.exact ? count : LaneCount(step_ * group_)});
      }
  }

  // straight_ = `count` elements of each of `rows` rows, the rows' elements by turns.
  void LoadGroup(const Affine& from, int rows, const LaneCount& count) {
    if (count.most == 0) return builder_.Do(Zero{straight_});
    if (parts_) return LoadEverySecond(from, count.most);
    if (group_ == 1) return builder_.Do(Load{straight_, {from_, from}, count});
    Interleave interleave{straight_, {kNoVar, kNoVar, kNoVar, kNoVar}};
    for (int row = 0; row < rows; ++row) {
      const VarId v = interleave.from[static_cast<size_t>(row)] = rows_[static_cast<size_t>(row)];
      builder_.Do(Load{v, {from_, Behind(from, row)}, count});
    }
    builder_.Do(interleave);
  }

  // straight_ = every second element from `from` on: two vectors side by side are loaded, and the even
  // elements kept.
  void LoadEverySecond(const Affine& from, int count) {
    const int spanned = 2 * count - 1;
    builder_.Do(Load{straight_, {from_, from}, std::min(spanned, lanes_)});
    if (spanned > lanes_)
      builder_.Do(Load{odd_, {from_, Plus(from, lanes_)}, spanned - lanes_});
    else
      builder_.Do(Zero{odd_});
    builder_.Do(Deinterleave{straight_, odd_});
  }

  // Copies chunk by chunk; the last chunk may have fewer elements.
  void TransposingCopy() {
    // Of blocks, the decoder's code is there once for each row, so squares are small.
    const int bytes = decoder_ ? RegisterTranspose::kLeast * kWordBytes : pack_.vector_bytes;
    square_.emplace(builder_, StoredFrom(pack_), group_, bytes, std::min<int64_t>(pack_.inner, width_),
                    pack_.outer / group_);
    builder_.Loop(Constant(pack_.inner / width_), [&](VarId chunk) {
      TransposeChunk(Behind(Constant(0), chunk, width_), Plus(Constant(0), chunk, chunk_stride_), width_);
    });
    const int64_t chunks = pack_.inner / width_;
    if (chunks * width_ < pack_.inner)
      TransposeChunk(Behind(Constant(0), chunks * width_), Constant(chunks * chunk_stride_),
                     pack_.inner - chunks * width_);
  }

  // Transposes a chunk of which `filled` elements exist: strips of kStripRows rows of the source, then one
  // with the rows that are left. A panel goes on with zeros, which are strips without rows.
  void TransposeChunk(const Affine& from, const Affine& to, int64_t filled) {
    const auto strips = [&](int64_t first, int64_t count, int64_t rows, int64_t stored) {
      builder_.Loop(Constant(count), [&](VarId strip) {
        TransposeStrip(Behind(Behind(from, first), strip, kStripRows),
                       Plus(Plus(to, first * group_), strip, kStripRows * group_), rows, stored);
      });
    };
    const int64_t whole = filled / kStripRows, rest = filled % kStripRows;
    strips(0, whole, kStripRows, kStripRows);
    int64_t done = whole * kStripRows;
    if (rest > 0) {
      const int64_t stored = StoredOf(rest, width_ - done);
      strips(done, 1, rest, stored);
      done += stored;
    }
    if (pack_.to.panel == 0) return;
    const int64_t zeros = (width_ - done) / kStripRows;
    strips(done, zeros, 0, kStripRows);
    done += zeros * kStripRows;
    if (done < width_) strips(done, 1, 0, width_ - done);
  }

  // Returns how many of the `left` elements that the copy still has are written if so many rows exist. It is
  // no more than these if the copy is exact; else whole squares, or the panel's zeros, too.
  int64_t StoredOf(int64_t rows, int64_t left) const {
    if (pack_.exact) return rows;
    if (pack_.to.panel != 0) return std::min(left, kStripRows);
    return (rows + RegisterTranspose::kLeast - 1) / RegisterTranspose::kLeast * RegisterTranspose::kLeast;
  }

  // Transposes a strip of `rows` rows of the source. Of each row of the copy it writes `stored` elements.
  // Whole lines of the source come first, then what is left of them.
  void TransposeStrip(const Affine& from, const Affine& to, int64_t rows, int64_t stored) {
    const int64_t columns = LineColumns();
    if (any_outer())
      return ForAnyOuter(
          {columns, int64_t{RegisterTranspose::kLeast} * group_, group_}, rows, from, to,
          [](const Affine& at, const Affine& number, int64_t count) {
            return Plus(at, Times(number, count));
          },
          [&](const Affine& at, const Affine& copied, int64_t count) {
            TransposeColumns(at, copied, rows, stored, count);
          });
    prefetch_.ForSteps(rows, Constant(pack_.outer / columns), [&](const Affine& line) {
      TransposeColumns(Plus(from, Times(line, columns)), Plus(to, Times(line, pack_.to.OuterOffset(columns))),
                       rows, stored, columns);
    });
    const int64_t done = pack_.outer / columns * columns;
    if (done < pack_.outer)
      TransposeColumns(Plus(from, done), Plus(to, pack_.to.OuterOffset(done)), rows, stored,
                       pack_.outer - done);
  }

  // Transposes `columns` columns of a strip, which are rows of the copy, square after square.
  void TransposeColumns(const Affine& from, const Affine& to, int64_t rows, int64_t stored, int64_t columns) {
    const int64_t size = square_->size(), whole = rows / size;
    builder_.Loop(Constant(whole), [&](VarId block) {
      TransposeBlocks(Behind(from, block, size), Plus(to, block, size * group_), size, size, columns);
    });
    for (int64_t done = whole * size; done < stored; done += size)
      TransposeBlocks(Behind(from, done), Plus(to, done * group_), std::clamp<int64_t>(rows - done, 0, size),
                      std::min(stored - done, size), columns);
  }

  // Transposes as many rows of the source as a square has, of which `rows` exist, over `columns` columns.
  void TransposeBlocks(const Affine& from, const Affine& to, int64_t rows, int64_t stored, int64_t columns) {
    for (int64_t row = 0; row < rows; ++row) prefetch_.Row(Behind(from, row));
    if (decoder_ && rows > 0) return TransposeDecoded(from, to, rows, stored);
    const int64_t step = int64_t{square_->size()} * group_;
    for (int64_t column = 0; column < columns; column += step)
      TransposeBlock(Plus(from, column), Plus(to, pack_.to.OuterOffset(column)), rows, stored,
                     std::min(step, columns - column));
  }

  // The same for types of blocks: a block of each row is decoded into the array and transposed from there, a
  // line's worth of columns in each trip.
  void TransposeDecoded(const Affine& from, const Affine& to, int64_t rows, int64_t stored) {
    for (int64_t row = 0; row < rows; ++row)
      Decode(Plus(from, row * pack_.from.outer_stride), At(array_, row * block()));
    const int64_t line = kStripRows * group_, step = int64_t{square_->size()} * group_;
    builder_.Loop(Constant(block() / line), [&](VarId number) {
      for (int64_t column = 0; column < line; column += step)
        TransposeBlock(Plus(Constant(column), number, line),
                       Plus(Plus(to, pack_.to.OuterOffset(column)), number, pack_.to.OuterOffset(line)), rows,
                       stored, step);
    });
  }

  // Transposes one square. A column of it is a group of columns of the source.
  void TransposeBlock(const Affine& from, const Affine& to, int64_t rows, int64_t stored, int64_t columns) {
    square_->LoadTurned(rows, columns, [&](int64_t row) { return Source(from, row); });
    for (int64_t column = 0; column < columns; column += group_)
      builder_.Do(Store{square_->row(column / group_),
                        {to_, Plus(to, pack_.to.OuterOffset(column))},
                        static_cast<int>(stored) * group_});
  }

  // Returns where row `row` of what is transposed begins: in the array, if it was decoded, else in the
  // source.
  Address Source(const Affine& from, int64_t row) const {
    if (decoder_) return {array_, Plus(from, row * block())};
    return {from_, Behind(from, row)};
  }

  const Pack& pack_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  // The elements along the axis that is kCount, kStride, and kLast. kNoVar: the copy
  // doesn't take it.
  const VarId any_, size_, last_;
  const int group_;
  const int lanes_;
  const int64_t width_, chunk_stride_;
  const bool parts_;  // the elements copied are every second one
  const int step_;    // elements along the inner axis that are copied at once
  CopyPrefetch prefetch_;
  const int rows_at_once_;
  VarId odd_ = kNoVar;
  VarId straight_ = kNoVar;                                       // the vector that a straight copy writes
  std::array<VarId, 4> rows_ = {kNoVar, kNoVar, kNoVar, kNoVar};  // of a group
  std::optional<RegisterTranspose> square_;                       // what is turned at once
  std::optional<BlockDecoder> decoder_;                           // of types of blocks
  VarId decoded_ = kNoVar;                                        // a vector of a block
  VarId array_ = kNoVar;                                          // a block of each of a few rows
};

}  // namespace

std::string Pack::Name() const {
  const auto extent = [](const Size& size) {
    return size.symbol() == SizeSymbol::kCount ? "any" : Cat(size.most());
  };
  return Cat("pack_", extent(outer), "x", extent(inner), "_", from.Name(),
             inner_stride != 1 ? Cat("by", inner_stride) : "", "_", to.Name(), exact ? "_exact" : "",
             inner.symbol() == SizeSymbol::kLast ? "_counted" : "", from_far ? "_far" : "");
}

Procedure PackProcedure(const Pack& pack) {
  if (IsRounded(pack.to.dtype)) return EncodingProcedure(pack);
  if (IsInPanels(pack.from.dtype)) return WiderPanelsProcedure(pack);
  return IsInPanels(pack.to.dtype) ? PanelsProcedure(pack) : Packer(pack).Build();
}

}  // namespace kirsch
