#include "codegen/kernels/copies.h"

#include <algorithm>
#include <array>

#include "codegen/loop/procedure_builder.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int kBlock = 4;       // transposes go by blocks of 4 x 4
constexpr int64_t kAtOnce = 4;  // vectors in a trip of a copy

class CopyWriter {
 public:
  explicit CopyWriter(const CopyKernel& kernel)
      : shape_(kernel),
        builder_(kernel.Name()),
        from_(builder_.PointerParameter("from", shape_.dtype, false)),
        to_(builder_.PointerParameter("to", shape_.dtype, true)),
        lanes_(kernel.transposes ? kBlock : kernel.vector_bytes / Bytes(shape_.dtype)) {}

  Procedure Pad() && {
    vector_ = builder_.Vector("v", shape_.dtype, lanes_);
    const int64_t width = shape_.padded_width(), plane_size = shape_.padded_height() * width;
    const int64_t first = std::min(plane_size, shape_.rows_before * width + shape_.before);
    builder_.Loop(Constant(shape_.planes), [&](VarId plane) {
      const Affine from = Plus(Constant(0), plane, shape_.from_plane);
      const Affine to = Plus(Constant(0), plane, plane_size);
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
      const int64_t done =
          shape_.height > 0 ? first + last * width + shape_.width : std::min(plane_size, first);
      Clear(Plus(to, done), plane_size - done);
    });
    return std::move(builder_).Build();
  }

  Procedure Transpose() && {
    for (int i = 0; i < kBlock; ++i)
      rows_[static_cast<size_t>(i)] = builder_.Vector(Cat("r", i), shape_.dtype, kBlock);
    const int64_t elements = shape_.height * shape_.width;
    builder_.Loop(Constant(shape_.planes), [&](VarId plane) {
      const Affine at = Plus(Constant(0), plane, elements);
      builder_.Loop(Constant(shape_.width / kBlock), [&](VarId block) {
        Columns(Plus(at, block, kBlock), Plus(at, block, kBlock * shape_.height), kBlock);
      });
      const int64_t done = shape_.width / kBlock * kBlock;
      if (done < shape_.width) Columns(Plus(at, done), Plus(at, done * shape_.height), shape_.width - done);
    });
    return std::move(builder_).Build();
  }

 private:
  // `count` elements by `step(from lane, count)`.
  template <typename Step>
  void Run(int64_t count, const Step& step) {
    const int64_t trip = kAtOnce * lanes_;
    builder_.Loop(Constant(count / trip), [&](VarId index) {
      for (int64_t i = 0; i < trip; i += lanes_) step(Plus(Constant(i), index, trip), lanes_);
    });
    for (int64_t i = count / trip * trip; i < count; i += lanes_)
      step(Constant(i), static_cast<int>(std::min<int64_t>(lanes_, count - i)));
  }

  static Affine Sum(Affine a, const Affine& b) {
    a.constant += b.constant;
    a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
    return a;
  }

  void Clear(const Affine& to, int64_t count) {
    if (count == 0) return;
    builder_.Do(Zero{vector_});
    Run(count, [&](const Affine& at, int lanes) { builder_.Do(Store{vector_, {to_, Sum(to, at)}, lanes}); });
  }

  void Copy(const Affine& from, const Affine& to) {
    Run(shape_.width, [&](const Affine& at, int lanes) {
      builder_.Do(Load{vector_, {from_, Sum(from, at)}, lanes});
      builder_.Do(Store{vector_, {to_, Sum(to, at)}, lanes});
    });
  }

  // `columns` columns become rows.
  void Columns(const Affine& from, const Affine& to, int64_t columns) {
    builder_.Loop(Constant(shape_.height / kBlock), [&](VarId block) {
      Block(Plus(from, block, kBlock * shape_.width), Plus(to, block, kBlock), kBlock, columns);
    });
    const int64_t done = shape_.height / kBlock * kBlock;
    if (done < shape_.height)
      Block(Plus(from, done * shape_.width), Plus(to, done), shape_.height - done, columns);
  }

  void Block(const Affine& from, const Affine& to, int64_t rows, int64_t columns) {
    for (int64_t row = 0; row < kBlock; ++row) {
      const VarId vector = rows_[static_cast<size_t>(row)];
      if (row < rows) {
        builder_.Do(Load{vector, {from_, Plus(from, row * shape_.width)}, static_cast<int>(columns)});
      } else {
        builder_.Do(Zero{vector});
      }
    }
    builder_.Do(kirsch::Transpose{rows_});
    for (int64_t column = 0; column < columns; ++column)
      builder_.Do(Store{rows_[static_cast<size_t>(column)],
                        {to_, Plus(to, column * shape_.height)},
                        static_cast<int>(rows)});
  }

  const CopyShape& shape_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  const int lanes_;
  VarId vector_ = kNoVar;
  std::array<VarId, kBlock> rows_ = {kNoVar, kNoVar, kNoVar, kNoVar};
};

}  // namespace

std::string CopyKernel::Name() const {
  const std::string sizes = Cat(std::string(Info(dtype).name), "_", planes, "x", height, "x", width);
  if (transposes) return Cat("transpose_", sizes);
  const std::string behind = after == before ? "" : Cat("_", after);
  return Cat("pad_", sizes, "_", rows_before, "_", rows_after, "_", before, behind, "_of_", from_plane);
}

Procedure CopyProcedure(const CopyKernel& kernel) {
  return kernel.transposes ? CopyWriter(kernel).Transpose() : CopyWriter(kernel).Pad();
}

}  // namespace kirsch
