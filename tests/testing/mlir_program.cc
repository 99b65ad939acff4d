// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/mlir_program.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "spec/text/cat.h"

namespace kirsch::testing {
namespace {

using Dims = std::vector<int64_t>;

int64_t Elements(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

MlirAttribute Numbers(const Dims& numbers) {
  MlirAttribute attribute;
  attribute.numbers.assign(numbers.begin(), numbers.end());
  return attribute;
}

Dims IndexOf(int64_t element, const Dims& shape) {
  Dims index(shape.size());
  for (size_t i = shape.size(); i-- > 0; element /= shape[i]) index[i] = element % shape[i];
  return index;
}

double At(const DenseTensor& tensor, const Dims& index) {
  int64_t element = 0;
  for (size_t i = 0; i < index.size(); ++i) element = element * tensor.shape[i] + index[i];
  return tensor.values[static_cast<size_t>(element)];
}

DenseTensor Fill(const Dims& shape, const std::function<double(const Dims&)>& value) {
  DenseTensor tensor{shape, {}};
  for (int64_t i = 0; i < Elements(shape); ++i) tensor.values.push_back(value(IndexOf(i, shape)));
  return tensor;
}

bool Has(const Dims& list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

// The list of an attribute's text: "lhs_batching_dimensions = [1]".
Dims ListOf(const std::string& text, const std::string& name) {
  Dims numbers;
  const size_t at = text.find(name + " = [");
  if (at == std::string::npos) return numbers;
  for (const char* c = text.c_str() + at + name.size() + 4; *c != ']'; ++c)
    if (std::isdigit(static_cast<unsigned char>(*c)) != 0) numbers.push_back(*c - '0');
  return numbers;
}

double Number(const std::string& name, const std::vector<double>& x) {
  if (name == "stablehlo.add") return x[0] + x[1];
  if (name == "stablehlo.subtract") return x[0] - x[1];
  if (name == "stablehlo.multiply") return x[0] * x[1];
  if (name == "stablehlo.divide") return x[0] / x[1];
  if (name == "stablehlo.maximum") return std::max(x[0], x[1]);
  if (name == "stablehlo.minimum") return std::min(x[0], x[1]);
  if (name == "stablehlo.negate") return -x[0];
  if (name == "stablehlo.tanh") return std::tanh(x[0]);
  if (name == "stablehlo.exponential") return std::exp(x[0]);
  if (name == "stablehlo.logistic") return 1 / (1 + std::exp(-x[0]));
  if (name == "chlo.square") return x[0] * x[0];
  if (name == "stablehlo.convert") return x[0];
  return std::numeric_limits<double>::quiet_NaN();
}

DenseTensor Dot(const MlirOperation& operation, const DenseTensor& lhs, const DenseTensor& rhs) {
  const std::string& text = operation.attributes.at("dot_dimension_numbers").text;
  const Dims lhs_batch = ListOf(text, "lhs_batching_dimensions"),
             rhs_batch = ListOf(text, "rhs_batching_dimensions"),
             lhs_sum = ListOf(text, "lhs_contracting_dimensions"),
             rhs_sum = ListOf(text, "rhs_contracting_dimensions");
  Dims sums;
  for (const int64_t dim : lhs_sum) sums.push_back(lhs.shape[static_cast<size_t>(dim)]);
  return Fill(operation.results[0].type.shape, [&](const Dims& out) {
    Dims l(lhs.shape.size()), r(rhs.shape.size());
    size_t next = 0;
    for (size_t i = 0; i < lhs_batch.size(); ++i)
      l[static_cast<size_t>(lhs_batch[i])] = r[static_cast<size_t>(rhs_batch[i])] = out[next++];
    for (size_t i = 0; i < l.size(); ++i)
      if (!Has(lhs_batch, static_cast<int64_t>(i)) && !Has(lhs_sum, static_cast<int64_t>(i)))
        l[i] = out[next++];
    for (size_t i = 0; i < r.size(); ++i)
      if (!Has(rhs_batch, static_cast<int64_t>(i)) && !Has(rhs_sum, static_cast<int64_t>(i)))
        r[i] = out[next++];
    double sum = 0;
    for (int64_t k = 0; k < Elements(sums); ++k) {
      const Dims index = IndexOf(k, sums);
      for (size_t i = 0; i < sums.size(); ++i)
        l[static_cast<size_t>(lhs_sum[i])] = r[static_cast<size_t>(rhs_sum[i])] = index[i];
      sum += At(lhs, l) * At(rhs, r);
    }
    return sum;
  });
}

DenseTensor Reduced(const MlirOperation& operation, const DenseTensor& x) {
  const Dims dims = operation.Integers("dimensions");
  const bool sum = operation.regions[0].operations[0].name == "stablehlo.add";
  Dims sizes;
  for (const int64_t dim : dims) sizes.push_back(x.shape[static_cast<size_t>(dim)]);
  return Fill(operation.results[0].type.shape, [&](const Dims& out) {
    double all = sum ? 0 : -std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < Elements(sizes); ++k) {
      const Dims of = IndexOf(k, sizes);
      Dims index(x.shape.size());
      size_t kept = 0, gone = 0;
      for (size_t i = 0; i < index.size(); ++i)
        index[i] = Has(dims, static_cast<int64_t>(i)) ? of[gone++] : out[kept++];
      all = sum ? all + At(x, index) : std::max(all, At(x, index));
    }
    return all;
  });
}

DenseTensor Evaluate(const MlirOperation& operation, const std::vector<const DenseTensor*>& operands) {
  const Dims& shape = operation.results[0].type.shape;
  const std::string& name = operation.name;
  if (name == "stablehlo.dot_general") return Dot(operation, *operands[0], *operands[1]);
  if (name == "stablehlo.reduce") return Reduced(operation, *operands[0]);
  if (name == "stablehlo.reshape") return {shape, operands[0]->values};
  if (name == "stablehlo.constant")
    return Fill(shape, [&](const Dims&) { return operation.attributes.at("value").numbers[0]; });
  if (name == "stablehlo.transpose") {
    const Dims permutation = operation.Integers("permutation");
    return Fill(shape, [&](const Dims& out) {
      Dims index(out.size());
      for (size_t i = 0; i < out.size(); ++i) index[static_cast<size_t>(permutation[i])] = out[i];
      return At(*operands[0], index);
    });
  }
  if (name == "stablehlo.broadcast_in_dim") {
    const Dims dims = operation.Integers("broadcast_dimensions");
    return Fill(shape, [&](const Dims& out) {
      Dims index;
      for (size_t i = 0; i < dims.size(); ++i)
        index.push_back(operands[0]->shape[i] == 1 ? 0 : out[static_cast<size_t>(dims[i])]);
      return At(*operands[0], index);
    });
  }
  return Fill(shape, [&](const Dims& out) {
    std::vector<double> x;
    for (const DenseTensor* operand : operands) x.push_back(At(*operand, out));
    return Number(name, x);
  });
}

}  // namespace

int MlirBuilder::Define(Dims shape, const std::string& element) {
  types_.push_back({true, std::move(shape), element});
  return size() - 1;
}

int MlirBuilder::Parameter(Dims shape, const std::string& element) {
  const int id = Define(std::move(shape), element);
  body_.arguments.push_back({{id, types_.back()}, {1, id + 1}, ""});
  return id;
}

int MlirBuilder::Add(const std::string& name, std::vector<int> operands, Dims shape,
                     std::map<std::string, MlirAttribute> attributes, const std::string& element) {
  const int id = Define(std::move(shape), element);
  MlirOperation operation;
  operation.name = name;
  operation.position = {static_cast<int>(body_.operations.size()) + 2, 5};
  operation.operands = std::move(operands);
  operation.results = {{id, types_.back()}};
  operation.attributes = std::move(attributes);
  body_.operations.push_back(std::move(operation));
  return id;
}

int MlirBuilder::Constant(double value, Dims shape, const std::string& element) {
  MlirAttribute attribute;
  attribute.numbers = {value};
  return Add("stablehlo.constant", {}, std::move(shape), {{"value", attribute}}, element);
}

int MlirBuilder::Transpose(int value, const Dims& permutation) {
  Dims shape;
  for (const int64_t dim : permutation) shape.push_back(ShapeOf(value)[static_cast<size_t>(dim)]);
  return Add("stablehlo.transpose", {value}, std::move(shape), {{"permutation", Numbers(permutation)}});
}

int MlirBuilder::Reshape(int value, Dims shape) {
  return Add("stablehlo.reshape", {value}, std::move(shape));
}

int MlirBuilder::Broadcast(int value, Dims shape, const Dims& dims) {
  return Add("stablehlo.broadcast_in_dim", {value}, std::move(shape),
             {{"broadcast_dimensions", Numbers(dims)}});
}

int MlirBuilder::Reduce(int value, bool sum, const Dims& dims) {
  const int initial = Constant(sum ? 0 : -std::numeric_limits<double>::infinity(), {});
  Dims shape;
  for (size_t dim = 0; dim < ShapeOf(value).size(); ++dim)
    if (!Has(dims, static_cast<int64_t>(dim))) shape.push_back(ShapeOf(value)[dim]);
  const int id = Add("stablehlo.reduce", {value, initial}, std::move(shape), {{"dimensions", Numbers(dims)}});
  MlirBlock block;
  block.operations.resize(2);
  block.operations[0].name = sum ? "stablehlo.add" : "stablehlo.maximum";
  block.operations[1].name = "stablehlo.return";
  body_.operations.back().regions.push_back(std::move(block));
  return id;
}

int MlirBuilder::Dot(int lhs, int rhs, const std::vector<Dims>& lists) {
  Dims shape;
  for (const int64_t dim : lists[0]) shape.push_back(ShapeOf(lhs)[static_cast<size_t>(dim)]);
  for (const int side : {0, 1}) {
    const Dims& of = ShapeOf(side == 0 ? lhs : rhs);
    for (size_t dim = 0; dim < of.size(); ++dim)
      if (!Has(lists[static_cast<size_t>(side)], static_cast<int64_t>(dim)) &&
          !Has(lists[static_cast<size_t>(side) + 2], static_cast<int64_t>(dim)))
        shape.push_back(of[dim]);
  }
  MlirAttribute numbers;
  numbers.text =
      Cat("#stablehlo.dot<lhs_batching_dimensions = [", Join(lists[0], ", "),
          "], rhs_batching_dimensions = [", Join(lists[1], ", "), "], lhs_contracting_dimensions = [",
          Join(lists[2], ", "), "], rhs_contracting_dimensions = [", Join(lists[3], ", "), "]>");
  return Add("stablehlo.dot_general", {lhs, rhs}, std::move(shape), {{"dot_dimension_numbers", numbers}});
}

MlirModule MlirBuilder::Return(const std::vector<int>& results) const {
  MlirFunction function{"main", {1, 1}, true, body_};
  MlirOperation last;
  last.name = "func.return";
  last.position = {static_cast<int>(body_.operations.size()) + 2, 5};
  last.operands = results;
  function.body.operations.push_back(std::move(last));
  return {{std::move(function)}};
}

std::vector<DenseTensor> Evaluate(const MlirModule& module, const std::vector<DenseTensor>& arguments) {
  std::map<int, DenseTensor> values;
  const MlirBlock& body = module.functions[0].body;
  for (size_t i = 0; i < arguments.size(); ++i) values[body.arguments[i].value.id] = arguments[i];
  std::vector<DenseTensor> results;
  for (const MlirOperation& operation : body.operations) {
    std::vector<const DenseTensor*> operands;
    for (const int operand : operation.operands) operands.push_back(&values.at(operand));
    if (operation.name == "func.return")
      for (const DenseTensor* operand : operands) results.push_back(*operand);
    else
      values[operation.results[0].id] = Evaluate(operation, operands);
  }
  return results;
}

namespace {

class MlirDrawer {
 public:
  explicit MlirDrawer(std::mt19937& random) : random_(random) {}

  MlirModule Draw() {
    const bool projects = Below(3) == 0;
    if (projects) builder_.Parameter({3, 6});
    if (projects) builder_.Parameter({6, 4});
    for (int i = Below(3) + 2; i > 0; --i) builder_.Parameter(Shape());
    if (projects) Project();
    for (int i = Below(8) + 3; i > 0; --i) Step();
    std::vector<int> results = {builder_.size() - 1};
    if (Below(4) == 0) results.insert(results.begin(), Below(builder_.size() - 1));
    return builder_.Return(results);
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  int Value() { return Below(builder_.size()); }

  Dims Shape() {
    const Dims sizes = {1, 2, 3, 4, 6, 8, 12};
    Dims shape;
    for (int i = Below(3) + 1; i > 0; --i) shape.push_back(sizes[static_cast<size_t>(Below(7))]);
    return shape;
  }

  void Step() {
    const int value = Value();
    const Dims shape = builder_.ShapeOf(value);
    switch (Below(10)) {
      case 0: {
        const std::vector<std::string> names = {"stablehlo.negate", "stablehlo.tanh", "stablehlo.logistic",
                                                "chlo.square"};
        builder_.Add(names[static_cast<size_t>(Below(4))], {value}, shape);
        return;
      }
      case 1:
        return Permute(value);
      case 2:
        return Reshape(value);
      case 3:
        return Reduce(value);
      case 4:
      case 5:
        return Binary(value);
      case 6:
        return Heads(value);
      default:
        return Dot(value);
    }
  }

  void Permute(int value) {
    Dims permutation(builder_.ShapeOf(value).size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random_);
    builder_.Transpose(value, permutation);
  }

  // Splits a dim, or makes one of two.
  void Reshape(int value) {
    Dims shape = builder_.ShapeOf(value);
    if (shape.empty()) return;
    const size_t at = static_cast<size_t>(Below(static_cast<int>(shape.size())));
    if (Below(2) == 0 && at + 1 < shape.size()) {
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else {
      for (const int64_t factor : {2, 3, 1})
        if (shape[at] % factor == 0) {
          shape[at] /= factor;
          shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at) + Below(2), factor);
          break;
        }
    }
    builder_.Reshape(value, shape);
  }

  void Reduce(int value) {
    Dims dims;
    for (size_t dim = 0; dim < builder_.ShapeOf(value).size(); ++dim)
      if (Below(3) == 0) dims.push_back(static_cast<int64_t>(dim));
    builder_.Reduce(value, Below(2) == 0, dims);
  }

  // With a value of the same shape; a number; or another value, repeated along some dims.
  void Binary(int value) {
    const Dims shape = builder_.ShapeOf(value);
    const std::vector<std::string> names = {"stablehlo.add", "stablehlo.subtract", "stablehlo.multiply",
                                            "stablehlo.maximum"};
    int other = builder_.Constant(0.5 * (Below(5) - 2), shape);
    const int pick = Value();
    const Dims of = builder_.ShapeOf(pick);
    if (Below(3) != 0 && of == shape) other = pick;
    if (Below(3) != 0 && of != shape) {
      // Its dims go to dims of the same size, from left to right.
      Dims dims;
      size_t next = 0;
      for (const int64_t size : of) {
        while (next < shape.size() && size != 1 && shape[next] != size) ++next;
        if (next == shape.size()) break;
        dims.push_back(static_cast<int64_t>(next++));
      }
      if (dims.size() == of.size()) other = builder_.Broadcast(pick, shape, dims);
    }
    builder_.Add(names[static_cast<size_t>(Below(4))], {value, other}, shape);
  }

  // The first parameter's rows, by their sums, times the second one, whose columns are of two heads.
  void Project() {
    const int squares = builder_.Add("chlo.square", {0}, {3, 6});
    const int sums = builder_.Broadcast(builder_.Reduce(squares, true, {1}), {3, 6}, {0});
    const int rows = builder_.Add("stablehlo.multiply", {0, sums}, {3, 6});
    builder_.Reshape(builder_.Dot(rows, 1, {{}, {}, {1}, {0}}), {3, 2, 2});
  }

  // What attention does with its heads: rows by rows, for each half of the columns.
  void Heads(int value) {
    const Dims shape = builder_.ShapeOf(value);
    if (shape.size() != 2 || shape[1] % 2 != 0) return;
    const int heads = builder_.Reshape(value, {shape[0], 2, shape[1] / 2});
    builder_.Dot(heads, heads, {{1}, {1}, {2}, {2}});
  }

  // Dims of the same size are batches, or are summed over.
  void Dot(int lhs) {
    const int rhs = Value();
    const Dims l = builder_.ShapeOf(lhs), r = builder_.ShapeOf(rhs);
    std::vector<Dims> lists(4);
    for (size_t i = 0; i < l.size(); ++i)
      for (size_t j = 0; j < r.size(); ++j) {
        const bool used = Has(lists[1], static_cast<int64_t>(j)) || Has(lists[3], static_cast<int64_t>(j)) ||
                          Has(lists[0], static_cast<int64_t>(i)) || Has(lists[2], static_cast<int64_t>(i));
        const int what = Below(3);
        if (used || l[i] != r[j] || what == 0) continue;
        lists[what == 1 ? 0 : 2].push_back(static_cast<int64_t>(i));
        lists[what == 1 ? 1 : 3].push_back(static_cast<int64_t>(j));
      }
    if (lists[2].empty() || l.size() + r.size() - lists[0].size() - 2 * lists[2].size() > 4) return;
    builder_.Dot(lhs, rhs, lists);
  }

  std::mt19937& random_;
  MlirBuilder builder_;
};

}  // namespace

MlirModule DrawMlirProgram(std::mt19937& random) { return MlirDrawer(random).Draw(); }

}  // namespace kirsch::testing
