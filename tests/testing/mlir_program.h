// SPDX-License-Identifier: Apache-2.0
// Draws programs of StableHLO, linalg and TOSA, and evaluates them by their definitions, index by index in
// double. It knows of the importer's data structure for modules, and of nothing else that imports.
#ifndef KIRSCH_TESTS_TESTING_MLIR_PROGRAM_H_
#define KIRSCH_TESTS_TESTING_MLIR_PROGRAM_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "import/mlir_module.h"

namespace kirsch::testing {

// Elements in row-major order.
struct DenseTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

// A linalg.generic with one result.
struct MlirGeneric {
  // An operation of the body. Operands below the number of maps are elements of the operands and the output,
  // those behind them are earlier operations' results.
  struct Step {
    std::string name;
    std::vector<int> operands;
  };
  std::vector<MlirMap> maps;  // of the inputs, then of the output
  std::vector<std::string> iterators;
  std::vector<Step> body;  // yields its last one; if there is none, the first input's element
};

// A row of a map: the iterator, of so many; or the constant 0 if it is -1.
std::vector<int64_t> MapRow(int64_t iterator, size_t iterators);

// Builds a function, operation by operation. Values are called by their numbers.
class MlirBuilder {
 public:
  int Parameter(std::vector<int64_t> shape, const std::string& element = "f32");
  // Adds an operation whose result has the shape.
  int Add(const std::string& name, std::vector<int> operands, std::vector<int64_t> shape,
          std::map<std::string, MlirAttribute> attributes = {}, const std::string& element = "f32");

  int Constant(double value, std::vector<int64_t> shape, const std::string& element = "f32");
  int Transpose(int value, const std::vector<int64_t>& permutation);
  int Reshape(int value, std::vector<int64_t> shape);
  int Broadcast(int value, std::vector<int64_t> shape, const std::vector<int64_t>& dims);
  int Reduce(int value, bool sum, const std::vector<int64_t>& dims);
  // `windows`: for each dim its size, stride and dilation; and how much is before and after each dim.
  int ReduceWindow(int value, bool sum, const std::vector<std::vector<int64_t>>& windows);
  // `lists`: the batch dims of both sides, then those that are summed over.
  int Dot(int lhs, int rhs, const std::vector<std::vector<int64_t>>& lists);

  // `operands`: the inputs, then what the output begins as.
  int Generic(const std::vector<int>& operands, const MlirGeneric& generic);

  const std::vector<int64_t>& ShapeOf(int value) const { return types_[static_cast<size_t>(value)].shape; }
  const std::string& ElementOf(int value) const { return types_[static_cast<size_t>(value)].element; }
  int size() const { return static_cast<int>(types_.size()); }

  // The module with the function, which is called `main` and returns these values.
  MlirModule Return(const std::vector<int>& results) const;

 private:
  int Define(std::vector<int64_t> shape, const std::string& element);

  std::vector<MlirType> types_;
  MlirBlock body_;
  int elements_ = 1000000;  // numbers of values in bodies begin here
};

// A program of some operations on small tensors, transposed, reshaped, broadcast and multiplied at random.
MlirModule DrawMlirProgram(std::mt19937& random);

// What `main` returns for these arguments.
std::vector<DenseTensor> Evaluate(const MlirModule& module, const std::vector<DenseTensor>& arguments);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_MLIR_PROGRAM_H_
