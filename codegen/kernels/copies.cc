// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/copies.h"

#include <algorithm>
#include <optional>

#include "codegen/kernels/register_transpose.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int64_t kAtOnce = 4;  // vectors in a trip of a copy

// Writes one copy: either Pad() or Transpose() is called, once.
class CopyWriter {
 public:
  explicit CopyWriter(const CopyKernel& kernel)
      : shape_(kernel),
        builder_(kernel.Name()),
        from_(builder_.PointerParameter("from", shape_.dtype, false)),
        to_(builder_.PointerParameter("to", shape_.dtype, true)),
        vector_bytes_(kernel.vector_bytes),
        lanes_(kernel.vector_bytes / Bytes(shape_.dtype)) {}

  // Image after image; a single one needs no loop.
  Procedure Pad() && {
    vector_ = builder_.Vector("v", shape_.dtype, lanes_);
    if (shape_.images == 1) {
      PadImage(Constant(0), Constant(0));
    } else {
      const int64_t size = shape_.padded_planes() * PlaneSize();
      builder_.Loop(Constant(shape_.images), [&](VarId image) {
        PadImage(Plus(Constant(0), image, shape_.from_image), Plus(Constant(0), image, size));
      });
    }
    return std::move(builder_).Build();
  }

  // Plane after plane, each strip by strip: so many rows of the source that what is written are whole lines.
  Procedure Transpose() && {
    square_.emplace(builder_, shape_.dtype, 1, vector_bytes_, shape_.height, shape_.width);
    const int64_t elements = shape_.height * shape_.width;
    const int64_t strips = shape_.height / RegisterTranspose::kStripRows,
                  done = strips * RegisterTranspose::kStripRows;
    builder_.Loop(Constant(shape_.planes), [&](VarId plane) {
      const Affine at = Plus(Constant(0), plane, elements);
      builder_.Loop(Constant(strips), [&](VarId strip) {
        Strip(Plus(at, strip, RegisterTranspose::kStripRows * shape_.width),
              Plus(at, strip, RegisterTranspose::kStripRows), RegisterTranspose::kStripRows);
      });
      if (done < shape_.height) Strip(Plus(at, done * shape_.width), Plus(at, done), shape_.height - done);
    });
    return std::move(builder_).Build();
  }

 private:
  // Elements of a plane of the copy, its zeros included.
  int64_t PlaneSize() const { return shape_.padded_height() * shape_.padded_width(); }

  // Writes the planes of zeros before an image, its planes, and the planes of zeros after it.
  void PadImage(const Affine& from, const Affine& to) {
    const int64_t size = PlaneSize();
    const Affine inside = Plus(to, shape_.planes_before * size);
    Clear(to, shape_.planes_before * size);
    builder_.Loop(Constant(shape_.planes), [&](VarId plane) {
      PadPlane(Plus(from, plane, shape_.from_plane), Plus(inside, plane, size));
    });
    Clear(Plus(inside, shape_.planes * size), shape_.planes_after * size);
  }

  // Writes a plane from its first element to its last, rows and zeros by turns.
  void PadPlane(const Affine& from, const Affine& to) {
    const int64_t width = shape_.padded_width(), plane_size = PlaneSize();
    const int64_t first = std::min(plane_size, shape_.rows_before * width + shape_.before);
    // The zeros before the first row reach to its elements, those after each row to the next one's.
    Clear(to, first);
    const Affine inside = Plus(to, first);
    const int64_t last = std::max<int64_t>(shape_.height - 1, 0);
    builder_.Loop(Constant(last), [&](VarId row) {
      const Affine at = Plus(inside, row, width);
      Copy(Plus(from, row, shape_.width), at);
      Clear(Plus(at, shape_.width), shape_.after + shape_.before);
    });
    if (shape_.height > 0) Copy(Plus(from, last * shape_.width), Plus(inside, last * width));
    // The zeros after the last row. A plane without rows is all zeros.
    const int64_t done =
        shape_.height > 0 ? first + last * width + shape_.width : std::min(plane_size, first);
    Clear(Plus(to, done), plane_size - done);
  }

  // Does step(offset, lanes) for `count` elements: kAtOnce vectors a trip, then single vectors, of which the
  // last may be partial.
  template <typename Step>
  void Run(int64_t count, const Step& step) {
    const int64_t trip = kAtOnce * lanes_;
    builder_.Loop(Constant(count / trip), [&](VarId index) {
      for (int64_t i = 0; i < trip; i += lanes_) step(Plus(Constant(i), index, trip), lanes_);
    });
    for (int64_t i = count / trip * trip; i < count; i += lanes_)
      step(Constant(i), static_cast<int>(std::min<int64_t>(lanes_, count - i)));
  }

  // Writes `count` zeros.
  void Clear(const Affine& to, int64_t count) {
    if (count == 0) return;
    builder_.Do(Zero{vector_});
    Run(count, [&](const Affine& at, int lanes) { builder_.Do(Store{vector_, {to_, Plus(to, at)}, lanes}); });
  }

  void Copy(const Affine& from, const Affine& to) {
    Run(shape_.width, [&](const Affine& at, int lanes) {
      builder_.Do(Load{vector_, {from_, Plus(from, at)}, lanes});
      builder_.Do(Store{vector_, {to_, Plus(to, at)}, lanes});
    });
  }

  // Transposes a strip of so many rows, as many columns at a time as a cache line has elements.
  void Strip(const Affine& from, const Affine& to, int64_t rows) {
    const int64_t line = kLineBytes / Bytes(shape_.dtype), done = shape_.width / line * line;
    builder_.Loop(Constant(shape_.width / line), [&](VarId number) {
      Columns(Plus(from, number, line), Plus(to, number, line * shape_.height), rows, line);
    });
    if (done < shape_.width)
      Columns(Plus(from, done), Plus(to, done * shape_.height), rows, shape_.width - done);
  }

  // Transposes so many columns of a strip, square by square.
  void Columns(const Affine& from, const Affine& to, int64_t rows, int64_t columns) {
    const int64_t size = square_->size(), done = rows / size * size;
    const auto blocks = [&](const Affine& first, const Affine& copied, int64_t count) {
      for (int64_t column = 0; column < columns; column += size)
        Block(Plus(first, column), Plus(copied, column * shape_.height), count,
              std::min(size, columns - column));
    };
    builder_.Loop(Constant(rows / size), [&](VarId block) {
      blocks(Plus(from, block, size * shape_.width), Plus(to, block, size), size);
    });
    if (done < rows) blocks(Plus(from, done * shape_.width), Plus(to, done), rows - done);
  }

  // Transposes a square of which so many rows and columns exist: a column of the source becomes a row of the
  // copy.
  void Block(const Affine& from, const Affine& to, int64_t rows, int64_t columns) {
    square_->LoadTurned(rows, columns,
                        [&](int64_t row) { return Address{from_, Plus(from, row * shape_.width)}; });
    for (int64_t column = 0; column < columns; ++column)
      builder_.Do(
          Store{square_->row(column), {to_, Plus(to, column * shape_.height)}, static_cast<int>(rows)});
  }

  const CopyShape& shape_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  const int vector_bytes_, lanes_;
  VarId vector_ = kNoVar;
  std::optional<RegisterTranspose> square_;
};

}  // namespace

std::string CopyKernel::Name() const {
  const std::string sizes = Cat(std::string(Info(dtype).name), "_", planes, "x", height, "x", width);
  if (transposes) return Cat("transpose_", sizes);
  const std::string behind = after == before ? "" : Cat("_", after);
  const std::string of_planes =
      images == 1 && planes_before + planes_after == 0
          ? ""
          : Cat("_planes_", planes_before, "_", planes_after, "_images_", images, "_of_", from_image);
  return Cat("pad_", sizes, "_", rows_before, "_", rows_after, "_", before, behind, "_of_", from_plane,
             of_planes);
}

Procedure CopyProcedure(const CopyKernel& kernel) {
  return kernel.transposes ? CopyWriter(kernel).Transpose() : CopyWriter(kernel).Pad();
}

}  // namespace kirsch
