// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/transforms.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "codegen/kernels/epilogue_code.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The loops, from the outermost on: squares from top to bottom and from left to right, runs of numbers,
// vectors of a run.
enum Axis : size_t { kVertical, kHorizontal, kRun, kVector };

// A pointer that goes from square to square as the loops do, and the elements that it advances with each trip
// of a loop.
struct Walker {
  VarId pointer = kNoVar;
  std::array<int64_t, 4> steps = {};
};

// Variables of a row or a column. kNoVar stands for zeros, which take no instructions.
using Vectors = std::vector<VarId>;

// All pointers advance with the loops, so that elements of a square are at constant offsets.
class TransformWriter {
 public:
  // One side is the image, the other the transformed squares in planes, one plane for each element of a
  // square.
  TransformWriter(const TransformShape& shape, int vector_bytes)
      : shape_(shape), lanes_(vector_bytes / Bytes(Dtype::kF32)), builder_(shape.Name()) {
    const int64_t m = shape.tile, run = shape.columns, square = shape.rows * run;
    const Walker image{kNoVar,
                       {m * shape.axes[0].stride, m * shape.axes[1].stride, shape.row_stride, lanes_}};
    const Walker planes{kNoVar, {shape.axes[1].squares * square, square, run, lanes_}};
    image_ = shape.stores_image() ? 1 : 0;
    walkers_ = {image, image};
    walkers_[1 - image_] = planes;
    walkers_[0].pointer = builder_.PointerParameter("from", Dtype::kF32, false);
    walkers_[1].pointer = builder_.PointerParameter("to", shape.stored, true);
    for (const EpilogueStep& step : shape.epilogue)
      if (step.HasOperand()) AddArgument(step.operand, image);
    kernel_.epilogue = shape.epilogue;
    kernel_.out.dtype = shape.stored;
    kernel_.out.outer_stride = shape.axes[1].stride;
  }

  // Squares are grouped by which of their elements exist: edges and corners have code of their own, and those
  // inside share the loops' bodies.
  Procedure Write() && {
    EpilogueCode epilogue(builder_, kernel_, walkers_[1].pointer, arguments_,
                          lanes_);  // its vectors serve all squares
    epilogue_ = &epilogue;
    for (const TransformRun& down : shape_.Runs(0))
      Repeat(kVertical, down.squares, [&] {
        for (const TransformRun& across : shape_.Runs(1))
          Repeat(kHorizontal, across.squares, [&] { Repeat(kRun, shape_.rows, [&] { Run(down, across); }); });
      });
    return std::move(builder_).Build();
  }

 private:
  // Declares an operand of the epilogue; a pixel is a row of it. It walks with the image, by pixels, by
  // channels, or not at all.
  void AddArgument(EpilogueOperand operand, const Walker& image) {
    const int64_t pixel = shape_.axes[1].stride;
    Walker walker = image;
    if (operand == EpilogueOperand::kRows)
      walker.steps = {image.steps[kVertical] / pixel, image.steps[kHorizontal] / pixel, 0, 0};
    if (operand == EpilogueOperand::kColumns) walker.steps = {0, 0, 0, lanes_};
    if (operand == EpilogueOperand::kScalar) walker.steps = {};
    walker.pointer = builder_.PointerParameter(Cat("arg", arguments_.size() + 1), Dtype::kF32, false);
    const bool columns = operand == EpilogueOperand::kAll || operand == EpilogueOperand::kColumns;
    kernel_.arguments.push_back({Dtype::kF32,
                                 operand == EpilogueOperand::kAll    ? pixel
                                 : operand == EpilogueOperand::kRows ? 1
                                                                     : 0,
                                 columns});
    arguments_.push_back(walker.pointer);
    walkers_.push_back(walker);
  }

  // Repeats the body, each time followed by the pointers' advance along the axis. A single trip is no loop.
  template <typename Body>
  void Repeat(Axis axis, int64_t count, const Body& body) {
    const auto trip = [&] {
      body();
      Advance(axis);
    };
    if (count == 1) return trip();
    builder_.Loop(Constant(count), [&](VarId) { trip(); });
  }

  // Advances all pointers by a trip of the loop, from where the loop inside has ended.
  void Advance(Axis axis) {
    const std::array<int64_t, 4> trips = {0, shape_.axes[1].squares, shape_.rows, shape_.columns / lanes_};
    for (const Walker& walker : walkers_) {
      const int64_t inside = axis == kVector ? 0 : trips[axis + 1] * walker.steps[axis + 1];
      if (const int64_t by = walker.steps[axis] - inside; by != 0)
        builder_.Do(kirsch::Advance{walker.pointer, Constant(by)});
    }
  }

  // Transforms a run of numbers: whole vectors, then a partial one.
  void Run(const TransformRun& down, const TransformRun& across) {
    const int64_t whole = shape_.columns / lanes_;
    if (whole > 0) Repeat(kVector, whole, [&] { Square(down, across, lanes_); });
    if (const auto rest = static_cast<int>(shape_.columns % lanes_); rest > 0) Square(down, across, rest);
  }

  // Transforms one vector of each element: the map along one axis, for each column, then along the other, for
  // each row.
  void Square(const TransformRun& down, const TransformRun& across, int count) {
    used_ = 0;
    const WinogradMap& map = shape_.map();
    // Inputs are loaded and mapped column by column. `rows` has the results, which are then mapped row by
    // row.
    std::vector<Vectors> rows(static_cast<size_t>(map.outputs()));
    for (int j = 0; j < map.inputs(); ++j) {
      Vectors column;
      for (int i = 0; i < map.inputs(); ++i) column.push_back(Input(i, j, down, across, count));
      const Vectors mapped = Multiply(map.second, Multiply(map.first, column));
      for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(mapped[i]);
    }
    for (int i = 0; i < map.outputs(); ++i) {
      const Vectors row = Multiply(map.second, Multiply(map.first, rows[static_cast<size_t>(i)]));
      for (int j = 0; j < map.outputs(); ++j) Output(i, j, row[static_cast<size_t>(j)], down, across, count);
    }
  }

  // True if element (i, j) of these squares exists in the image.
  static bool IsThere(int i, int j, const TransformRun& down, const TransformRun& across) {
    return i >= down.begin && i < down.end && j >= across.begin && j < across.end;
  }

  // Loads an element of a square, or nothing if it is outside of the image, where all is zero.
  VarId Input(int i, int j, const TransformRun& down, const TransformRun& across, int count) {
    if (!shape_.stores_image() && !IsThere(i, j, down, across)) return kNoVar;
    const VarId vector = New();
    builder_.Do(Load{vector, shape_.stores_image() ? InPlanes(i, j) : InImage(i, j), count});
    return vector;
  }

  // Stores an element of a square, by way of the epilogue if it goes to the image. Elements outside of the
  // image are dropped.
  void Output(int i, int j, VarId vector, const TransformRun& down, const TransformRun& across, int count) {
    if (shape_.stores_image() && !IsThere(i, j, down, across)) return;
    if (vector == kNoVar) vector = Number(0);
    if (!shape_.stores_image()) return builder_.Do(Store{vector, InPlanes(i, j), count});
    const int64_t width = shape_.axes[0].stride / shape_.axes[1].stride;
    epilogue_->Store(vector, static_cast<int>(i * width + j), 0, count);
  }

  // Returns where the plane of an element has the current square.
  Address InPlanes(int i, int j) const {
    return At(walkers_[1 - image_].pointer, (i * WinogradInputs(shape_.tile) + j) * shape_.matrix_stride());
  }
  // Pointers begin at the first element that is there.
  Address InImage(int i, int j) const {
    return At(walkers_[image_].pointer, (i - shape_.axes[0].before) * shape_.axes[0].stride +
                                            (j - shape_.axes[1].before) * shape_.axes[1].stride);
  }

  // Multiplies by a matrix, leaving out its zeros and the zeros of the vectors.
  Vectors Multiply(const WinogradMatrix& matrix, const Vectors& vectors) {
    Vectors products;
    for (int i = 0; i < matrix.rows; ++i) {
      std::vector<Term> terms;
      for (size_t j = 0; j < vectors.size(); ++j)
        if (const double factor = matrix.at[static_cast<size_t>(i)][j]; factor != 0 && vectors[j] != kNoVar)
          terms.push_back({static_cast<float>(factor), vectors[j]});
      products.push_back(Sum(std::move(terms)));
    }
    return products;
  }

  struct Term {
    float factor;
    VarId vector;
  };

  // Returns the sum of products, each by as few instructions as its coefficient allows; kNoVar if there are
  // none.
  VarId Sum(std::vector<Term> terms) {
    if (terms.empty()) return kNoVar;
    // One that needs no product is the first.
    std::ranges::stable_sort(terms,
                             [](const Term& a, const Term& b) { return (a.factor == 1) > (b.factor == 1); });
    VarId sum = terms.front().vector;
    if (terms.front().factor != 1) {
      const VarId product = New();
      builder_.Do(Binary{BinaryOp::kMul, product, sum, Number(terms.front().factor)});
      sum = product;
    }
    for (size_t i = 1; i < terms.size(); ++i) sum = Add(sum, terms[i]);
    return sum;
  }

  // Adds a term: a sum or a difference for coefficients of 1 and -1, else an FMA.
  VarId Add(VarId sum, const Term& term) {
    const VarId to = New();
    if (std::abs(term.factor) == 1)
      builder_.Do(Binary{term.factor > 0 ? BinaryOp::kAdd : BinaryOp::kSub, to, sum, term.vector});
    else
      builder_.Do(Fma{to, term.vector, Number(std::abs(term.factor)), sum,
                      term.factor > 0 ? FmaSign::kAdd : FmaSign::kNegate});
    return to;
  }

  VarId Number(float number) { return builder_.Filled(Dtype::kF32, lanes_, std::bit_cast<uint32_t>(number)); }

  // Returns a vector for an intermediate result. The next square uses it again.
  VarId New() {
    if (used_ == vectors_.size()) vectors_.push_back(builder_.Vector(Cat("v", used_), Dtype::kF32, lanes_));
    return vectors_[used_++];
  }

  const TransformShape& shape_;
  const int lanes_;
  ProcedureBuilder builder_;
  std::vector<Walker> walkers_;  // from, to, the epilogue's operands
  size_t image_ = 0;             // which of the first two
  Microkernel kernel_;           // the epilogue's
  std::vector<VarId> arguments_;
  EpilogueCode* epilogue_ = nullptr;
  Vectors vectors_;
  size_t used_ = 0;
};

}  // namespace

Procedure TransformProcedure(const TransformShape& shape, int vector_bytes) {
  return TransformWriter(shape, vector_bytes).Write();
}

}  // namespace kirsch
