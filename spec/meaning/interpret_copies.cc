// SPDX-License-Identifier: Apache-2.0
// Interprets copies: packing, padding, turning, and the steps of Winograd's algorithm. The steps of
// Winograd's algorithm are computed in double.
#include <algorithm>
#include <vector>

#include "spec/block.h"
#include "spec/graph/epilogue_program.h"
#include "spec/meaning/elementwise.h"
#include "spec/meaning/interpret_kernel.h"
#include "spec/winograd.h"

namespace kirsch {
namespace {

// The offset in `from` of the element that the copy has at (outer, inner).
int64_t SourceOf(const PackShape& pack, int64_t outer, int64_t inner) {
  const bool by_rows = pack.to.order == Order::kRow;
  if (pack.inner_stride != 1) return outer * pack.from.outer_stride + inner * pack.inner_stride;
  return pack.from.At(by_rows ? outer : inner, by_rows ? inner : outer);
}

// The place along an axis of the image, before which there may be `before` pixels of zeros.
int64_t AlongAxis(const TransformAxis& axis, int64_t tile, int64_t square, int64_t element) {
  return square * tile + element - axis.before;
}

// A transform is matrix * square * matrix^T, for each square and each number of its elements.
class TransformInterpreter {
 public:
  TransformInterpreter(const TransformShape& shape, const InterpretedOperands& at, InterpreterMemory* memory)
      : shape_(shape),
        at_(at),
        memory_(*memory),
        matrix_(shape.map().Product()),
        epilogue_(RowProgramOf(shape.epilogue, Dtype::kF32, shape.stored)) {}

  void Run() {
    for (int64_t y = 0; y < shape_.axes[0].squares; ++y)
      for (int64_t x = 0; x < shape_.axes[1].squares; ++x)
        for (int64_t row = 0; row < shape_.rows; ++row)
          for (int64_t column = 0; column < shape_.columns; ++column) Square(y, x, row, column);
  }

 private:
  using Numbers = std::array<std::array<double, kMostWinogradInputs>, kMostWinogradInputs>;

  // Transforms one square, for one number of each of its elements.
  void Square(int64_t y, int64_t x, int64_t row, int64_t column) {
    const int inputs = matrix_.columns, outputs = matrix_.rows;
    const int64_t square = y * shape_.axes[1].squares + x;
    // The transformed matrices, one for each element of a square, all have the number at the same place.
    const int64_t plane = (square * shape_.rows + row) * shape_.columns + column;
    Numbers from = {}, half = {};
    for (int i = 0; i < inputs; ++i)
      for (int j = 0; j < inputs; ++j)
        Load(i, j, y, x, row * shape_.row_stride + column, plane, &from[At(i)][At(j)]);
    for (int i = 0; i < outputs; ++i)
      for (int j = 0; j < inputs; ++j)
        for (int p = 0; p < inputs; ++p) half[At(i)][At(j)] += matrix_.at[At(i)][At(p)] * from[At(p)][At(j)];
    for (int i = 0; i < outputs; ++i)
      for (int j = 0; j < outputs; ++j) {
        double sum = 0;
        for (int p = 0; p < inputs; ++p) sum += half[At(i)][At(p)] * matrix_.at[At(j)][At(p)];
        Store(i, j, y, x, row * shape_.row_stride, column, plane, sum);
      }
  }

  // Elements outside of the image stay 0: the convolution's own padding, and squares that reach beyond its
  // end.
  void Load(int i, int j, int64_t y, int64_t x, int64_t inside, int64_t plane, double* value) {
    if (shape_.stores_image()) return memory_.Read(at_[0], PlaneOf(i, j) + plane, 1, 1, value);
    if (IsThere(i, j, y, x)) memory_.Read(at_[0], ImageAt(i, j, y, x) + inside, 1, 1, value);
  }

  // Outputs of a square that reaches beyond the image's end are dropped. The others get the epilogue.
  void Store(int i, int j, int64_t y, int64_t x, int64_t run, int64_t column, int64_t plane, double sum) {
    if (!shape_.stores_image()) return memory_.Write(at_[1], PlaneOf(i, j) + plane, 1, 1, &sum);
    if (!IsThere(i, j, y, x)) return;
    const int64_t offset = ImageAt(i, j, y, x) + run + column;
    const auto element = [&](int number) {
      // Where the operand has its element for this output. Inputs are the sum and the operands.
      const RowInput& operand = epilogue_.inputs[static_cast<size_t>(1 + number)];
      const int64_t place = !operand.along_rows     ? (operand.along_columns ? column : 0)
                            : operand.along_columns ? offset
                                                    : offset / shape_.axes[1].stride;
      double value = 0;
      memory_.Read(at_[static_cast<size_t>(2 + number)], place, 1, 1, &value);
      return value;
    };
    const double stored = Apply(epilogue_, {static_cast<float>(sum), 0}, element).value;
    memory_.Write(at_[1], offset, 1, 1, &stored);
  }

  bool IsThere(int i, int j, int64_t y, int64_t x) const {
    const auto inside = [&](const TransformAxis& axis, int64_t square, int element) {
      const int64_t place = AlongAxis(axis, Step(), square, element);
      return place >= 0 && place < axis.inside;
    };
    return inside(shape_.axes[0], y, i) && inside(shape_.axes[1], x, j);
  }
  int64_t ImageAt(int i, int j, int64_t y, int64_t x) const {
    return AlongAxis(shape_.axes[0], Step(), y, i) * shape_.axes[0].stride +
           AlongAxis(shape_.axes[1], Step(), x, j) * shape_.axes[1].stride;
  }
  // Elements of the image from one square to the next.
  int64_t Step() const { return shape_.tile; }
  int64_t PlaneOf(int i, int j) const {
    return (i * WinogradInputs(shape_.tile) + j) * shape_.matrix_stride();
  }
  static size_t At(int index) { return static_cast<size_t>(index); }

  const TransformShape& shape_;
  const InterpretedOperands& at_;
  InterpreterMemory& memory_;
  const WinogradMatrix matrix_;
  const RowProgram epilogue_;
};

}  // namespace

namespace {

// Encodes rows of f32 as blocks.
void Encode(const PackShape& pack, const InterpretedOperands& at, InterpreterMemory* memory) {
  const int64_t block = BlockOf(pack.to.dtype);
  std::vector<float> elements(static_cast<size_t>(block));
  for (int64_t row = 0; row < pack.outer; ++row)
    for (int64_t first = 0; first < pack.inner; first += block) {
      memory->Read(at[0], pack.from.At(row, first), 1, block, elements.data());
      uint8_t* const to = memory->BlockToWrite(at[1], pack.to.At(row, first));
      if (to != nullptr) EncodeRounded(pack.to.dtype, elements.data(), to);
    }
}

// Copies columns of blocks to panels, whose codes have 8 bits. Each block is read as a whole. Here a column's
// block is in one piece in the panel, unlike in generated code: nobody reads a part of a panel, so nobody
// sees the difference.
void Recode(const PackShape& pack, const InterpretedOperands& at, InterpreterMemory* memory) {
  const int64_t block = BlockOf(pack.from.dtype), step = BlockOf(pack.to.dtype);
  for (int64_t column = 0; column < RoundUp(pack.inner, pack.to.panel); ++column)
    for (int64_t first = 0; first < pack.outer; first += block) {
      const uint8_t* const from =
          column < pack.inner ? memory->BlockToRead(at[0], pack.from.At(first, column)) : nullptr;
      for (int64_t k = 0; k < block; k += step) {
        // Columns that fill the last panel up are blocks of zero bytes.
        uint8_t* const to = memory->BlockToWrite(at[1], pack.to.At(first + k, column));
        if (to == nullptr) return;
        if (from != nullptr)
          RecodeForPanels(pack.from.dtype, from, static_cast<int>(k), pack.to.dtype, to);
        else
          std::fill_n(to, Bytes(pack.to.dtype), uint8_t{0});
      }
    }
}

}  // namespace

// Copies element by element, and fills the last panel and the last group up with zeros. A copy that turns its
// operand goes in the order of machine code, which an observer sees: chunks of the source's rows, and in each
// of them whole lines. Otherwise it would seem to read a line once for each of its elements.
void InterpretKernel(const PackShape& pack, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory) {
  if (IsRounded(pack.to.dtype)) return Encode(pack, at, memory);
  if (IsInPanels(pack.to.dtype)) return Recode(pack, at, memory);
  constexpr int64_t kLine = 16, kChunk = 32;
  const int64_t outer_end = RoundUp(pack.outer, pack.to.group);
  const int64_t inner_end = pack.to.panel == 0 ? pack.inner.most() : RoundUp(pack.inner, pack.to.panel);
  const bool turns = pack.from.order != pack.to.order;
  const int64_t inner_step = !turns ? inner_end : pack.to.panel == 0 ? kChunk : int64_t{pack.to.panel};
  const int64_t outer_step = turns ? kLine * pack.to.group : outer_end;
  const auto element = [&](int64_t outer, int64_t inner) {
    double value = 0;
    if (outer < pack.outer && inner < pack.inner)
      memory->Read(at[0], SourceOf(pack, outer, inner), 1, 1, &value);
    memory->Write(at[1], pack.to.OuterOffset(outer) + pack.to.InnerOffset(inner), 1, 1, &value);
  };
  for (int64_t inner = 0; inner < inner_end; inner += inner_step)
    for (int64_t outer = 0; outer < outer_end; outer += outer_step)
      for (int64_t i = outer; i < std::min(outer + outer_step, outer_end); ++i)
        for (int64_t j = inner; j < std::min(inner + inner_step, inner_end); ++j) element(i, j);
}

void InterpretKernel(const CopyShape& copy, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory) {
  std::vector<double> row(static_cast<size_t>(copy.width));
  // Turns each plane: its row y becomes column y.
  if (copy.transposes) {
    for (int64_t plane = 0; plane < copy.planes; ++plane)
      for (int64_t y = 0; y < copy.height; ++y) {
        const int64_t first = plane * copy.height * copy.width;
        memory->Read(at[0], first + y * copy.width, 1, copy.width, row.data());
        memory->Write(at[1], first + y, copy.height, copy.width, row.data());
      }
    return;
  }
  // Zeros everywhere, then the image's rows over them.
  const int64_t size = copy.padded_elements();
  memory->Write(at[1], 0, 1, size, std::vector<double>(static_cast<size_t>(size)).data());
  for (int64_t image = 0; image < copy.images; ++image)
    for (int64_t plane = 0; plane < copy.planes; ++plane)
      for (int64_t y = 0; y < copy.height; ++y) {
        const int64_t padded_plane = image * copy.padded_planes() + copy.planes_before + plane;
        const int64_t padded_row = padded_plane * copy.padded_height() + copy.rows_before + y;
        memory->Read(at[0], image * copy.from_image + plane * copy.from_plane + y * copy.width, 1, copy.width,
                     row.data());
        memory->Write(at[1], padded_row * copy.padded_width() + copy.before, 1, copy.width, row.data());
      }
}

void InterpretKernel(const TransformShape& transform, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory) {
  TransformInterpreter(transform, at, memory).Run();
}

}  // namespace kirsch
