// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/mlir_program.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <initializer_list>
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

// No number where either is none.
double Larger(double x, double y) { return std::isnan(x) ? x : x > y ? x : y; }

double Number(const std::string& name, const std::vector<double>& x) {
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is({"stablehlo.add", "arith.addf", "tosa.add"})) return x[0] + x[1];
  if (is({"stablehlo.subtract", "arith.subf", "tosa.sub"})) return x[0] - x[1];
  if (is({"stablehlo.multiply", "arith.mulf", "tosa.mul"})) return x[0] * x[1];
  if (name == "stablehlo.divide") return x[0] / x[1];
  if (is({"stablehlo.maximum", "arith.maximumf", "tosa.maximum"})) return Larger(x[0], x[1]);
  if (name == "stablehlo.minimum") return std::min(x[0], x[1]);
  if (is({"stablehlo.negate", "arith.negf", "tosa.negate"})) return -x[0];
  if (is({"stablehlo.tanh", "math.tanh", "tosa.tanh"})) return std::tanh(x[0]);
  if (name == "stablehlo.exponential") return std::exp(x[0]);
  if (is({"stablehlo.logistic", "tosa.sigmoid"})) return 1 / (1 + std::exp(-x[0]));
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
      all = sum ? all + At(x, index) : Larger(all, At(x, index));
    }
    return all;
  });
}

// The dims of an operand at a point of the iterations.
Dims Mapped(const MlirMap& map, const Dims& point) {
  Dims dims;
  for (const auto& row : map) {
    dims.push_back(row.back());
    for (size_t i = 0; i < point.size(); ++i) dims.back() += row[i] * point[i];
  }
  return dims;
}

// One point of the iterations after another; each replaces its element of the output.
DenseTensor Generic(const MlirOperation& operation, const std::vector<const DenseTensor*>& operands) {
  const std::vector<MlirMap>& maps = operation.attributes.at("indexing_maps").maps;
  const MlirBlock& body = operation.regions[0];
  Dims sizes(operation.attributes.at("iterator_types").words.size());
  for (size_t i = 0; i < maps.size(); ++i)
    for (size_t dim = 0; dim < maps[i].size(); ++dim)
      for (size_t k = 0; k < sizes.size(); ++k)
        if (maps[i][dim][k] == 1 && std::count(maps[i][dim].begin(), maps[i][dim].end(), 0) ==
                                        static_cast<std::ptrdiff_t>(sizes.size()))
          sizes[k] = operands[i]->shape[dim];
  DenseTensor output = *operands.back();
  for (int64_t k = 0; k < Elements(sizes); ++k) {
    const Dims point = IndexOf(k, sizes);
    std::map<int, double> values;
    for (size_t i = 0; i < operands.size(); ++i)
      values[body.arguments[i].value.id] =
          At(i + 1 == operands.size() ? output : *operands[i], Mapped(maps[i], point));
    for (const MlirOperation& step : body.operations) {
      std::vector<double> x;
      for (const int operand : step.operands) x.push_back(values.at(operand));
      if (step.name != "linalg.yield") values[step.results[0].id] = Number(step.name, x);
      if (step.name != "linalg.yield") continue;
      int64_t element = 0;
      const Dims dims = Mapped(maps.back(), point);
      for (size_t i = 0; i < dims.size(); ++i) element = element * output.shape[i] + dims[i];
      output.values[static_cast<size_t>(element)] = x[0];
    }
  }
  return output;
}

// Dims of size 1 are repeated.
DenseTensor TosaElementwise(const MlirOperation& operation, const std::vector<const DenseTensor*>& operands) {
  return Fill(operation.results[0].type.shape, [&](const Dims& out) {
    std::vector<double> x;
    for (const DenseTensor* operand : operands) {
      Dims index = out;
      for (size_t i = 0; i < index.size(); ++i)
        if (operand->shape[i] == 1) index[i] = 0;
      x.push_back(At(*operand, index));
    }
    return Number(operation.name, x);
  });
}

DenseTensor TosaMatmul(const DenseTensor& lhs, const DenseTensor& rhs, const Dims& shape) {
  return Fill(shape, [&](const Dims& out) {
    double sum = 0;
    for (int64_t k = 0; k < lhs.shape[2]; ++k)
      sum += At(lhs, {out[0], out[1], k}) * At(rhs, {out[0], k, out[2]});
    return sum;
  });
}

// Along one axis, which stays with size 1.
DenseTensor TosaSum(const MlirOperation& operation, const DenseTensor& x) {
  const size_t axis = static_cast<size_t>(operation.Integers("axis")[0]);
  return Fill(operation.results[0].type.shape, [&](Dims index) {
    double sum = 0;
    for (int64_t k = 0; k < x.shape[axis]; ++k) {
      index[axis] = k;
      sum += At(x, index);
    }
    return sum;
  });
}

// The start of each dim, and the steps; of TOSA all 1.
DenseTensor Sliced(const MlirOperation& operation, const DenseTensor& x) {
  const bool tosa = operation.name == "tosa.slice";
  const Dims start = operation.Integers(tosa ? "start" : "start_indices"),
             step = operation.Integers("strides");
  return Fill(operation.results[0].type.shape, [&](Dims index) {
    for (size_t i = 0; i < index.size(); ++i) index[i] = start[i] + index[i] * (tosa ? 1 : step[i]);
    return At(x, index);
  });
}

DenseTensor Joined(const MlirOperation& operation, const std::vector<const DenseTensor*>& operands) {
  const size_t dim =
      static_cast<size_t>(operation.Integers(operation.name == "tosa.concat" ? "axis" : "dimension")[0]);
  return Fill(operation.results[0].type.shape, [&](Dims index) {
    size_t operand = 0;
    for (; index[dim] >= operands[operand]->shape[dim]; ++operand)
      index[dim] -= operands[operand]->shape[dim];
    return At(*operands[operand], index);
  });
}

DenseTensor Padded(const MlirOperation& operation, const DenseTensor& x, double number) {
  const Dims low = operation.Integers("edge_padding_low");
  return Fill(operation.results[0].type.shape, [&](Dims index) {
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] -= low[i];
      if (index[i] < 0 || index[i] >= x.shape[i]) return number;
    }
    return At(x, index);
  });
}

DenseTensor Windowed(const MlirOperation& operation, const DenseTensor& x) {
  const bool sum = operation.regions[0].operations[0].name == "stablehlo.add";
  const Dims sizes = operation.Integers("window_dimensions"), strides = operation.Integers("window_strides"),
             dilations = operation.Integers("window_dilations"), pads = operation.Integers("padding");
  return Fill(operation.results[0].type.shape, [&](const Dims& out) {
    double all = sum ? 0 : -std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < Elements(sizes); ++k) {
      Dims index = IndexOf(k, sizes);
      bool inside = true;
      for (size_t i = 0; i < index.size(); ++i) {
        index[i] = out[i] * strides[i] + index[i] * dilations[i] - pads[2 * i];
        inside = inside && index[i] >= 0 && index[i] < x.shape[i];
      }
      if (inside) all = sum ? all + At(x, index) : Larger(all, At(x, index));
    }
    return all;
  });
}

// By the definition, for any dims: the start of a slice, and the place in it.
DenseTensor Gathered(const MlirOperation& operation, const DenseTensor& x, const DenseTensor& indices) {
  const std::string& text = operation.attributes.at("dimension_numbers").text;
  const Dims offsets = ListOf(text, "offset_dims"), collapsed = ListOf(text, "collapsed_slice_dims"),
             batch = ListOf(text, "operand_batching_dims"),
             of_indices = ListOf(text, "start_indices_batching_dims"), map = ListOf(text, "start_index_map"),
             sizes = operation.Integers("slice_sizes");
  return Fill(operation.results[0].type.shape, [&](const Dims& out) {
    Dims place, in_slice;
    for (size_t dim = 0; dim < out.size(); ++dim)
      (Has(offsets, static_cast<int64_t>(dim)) ? in_slice : place).push_back(out[dim]);
    Dims index(x.shape.size(), 0);
    // The vector of indices is behind all other dims.
    for (size_t i = 0; i < map.size(); ++i) {
      Dims at = place;
      at.push_back(static_cast<int64_t>(i));
      const auto dim = static_cast<size_t>(map[i]);
      index[dim] = std::clamp(static_cast<int64_t>(At(indices, at)), int64_t{0}, x.shape[dim] - sizes[dim]);
    }
    for (size_t i = 0; i < batch.size(); ++i)
      index[static_cast<size_t>(batch[i])] += place[static_cast<size_t>(of_indices[i])];
    size_t next = 0;
    for (size_t dim = 0; dim < index.size(); ++dim)
      if (!Has(collapsed, static_cast<int64_t>(dim)) && !Has(batch, static_cast<int64_t>(dim)))
        index[dim] += in_slice[next++];
    return At(x, index);
  });
}

DenseTensor Transposed(const DenseTensor& x, const Dims& shape, const Dims& permutation) {
  return Fill(shape, [&](const Dims& out) {
    Dims index(out.size());
    for (size_t i = 0; i < out.size(); ++i) index[static_cast<size_t>(permutation[i])] = out[i];
    return At(x, index);
  });
}

DenseTensor Evaluate(const MlirOperation& operation, const std::vector<const DenseTensor*>& operands) {
  const Dims& shape = operation.results[0].type.shape;
  const std::string& name = operation.name;
  if (name == "stablehlo.dot_general") return Dot(operation, *operands[0], *operands[1]);
  if (name == "stablehlo.reduce") return Reduced(operation, *operands[0]);
  if (name == "stablehlo.reshape") return {shape, operands[0]->values};
  if (name == "linalg.generic") return Generic(operation, operands);
  if (name == "tensor.empty") return Fill(shape, [&](const Dims&) { return 1e9; });
  if (name == "stablehlo.constant" || name == "tosa.const" || name == "arith.constant") {
    const std::vector<double>& numbers = operation.attributes.at("value").numbers;
    return numbers.size() == 1 ? Fill(shape, [&](const Dims&) { return numbers[0]; })
                               : DenseTensor{shape, numbers};
  }
  if (name == "stablehlo.transpose")
    return Transposed(*operands[0], shape, operation.Integers("permutation"));
  if (name == "tosa.transpose")
    return Transposed(*operands[0], shape, {operands[1]->values.begin(), operands[1]->values.end()});
  if (name == "stablehlo.slice" || name == "tosa.slice") return Sliced(operation, *operands[0]);
  if (name == "stablehlo.concatenate" || name == "tosa.concat") return Joined(operation, operands);
  if (name == "stablehlo.pad") return Padded(operation, *operands[0], operands[1]->values[0]);
  if (name == "stablehlo.reverse") {
    const Dims dims = operation.Integers("dimensions");
    return Fill(shape, [&](Dims index) {
      for (const int64_t dim : dims) {
        int64_t& i = index[static_cast<size_t>(dim)];
        i = shape[static_cast<size_t>(dim)] - 1 - i;
      }
      return At(*operands[0], index);
    });
  }
  if (name == "stablehlo.gather") return Gathered(operation, *operands[0], *operands[1]);
  if (name == "stablehlo.reduce_window") return Windowed(operation, *operands[0]);
  if (name == "tosa.matmul") return TosaMatmul(*operands[0], *operands[1], shape);
  if (name == "tosa.reduce_sum") return TosaSum(operation, *operands[0]);
  if (name.starts_with("tosa.")) return TosaElementwise(operation, operands);
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

int MlirBuilder::ReduceWindow(int value, bool sum, const std::vector<Dims>& windows) {
  const int initial = Constant(sum ? 0 : -std::numeric_limits<double>::infinity(), {});
  Dims shape = ShapeOf(value);
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t room =
        shape[i] + windows[3][2 * i] + windows[3][2 * i + 1] - (windows[0][i] - 1) * windows[2][i];
    shape[i] = (room - 1) / windows[1][i] + 1;
  }
  const int id = Add("stablehlo.reduce_window", {value, initial}, std::move(shape),
                     {{"window_dimensions", Numbers(windows[0])},
                      {"window_strides", Numbers(windows[1])},
                      {"window_dilations", Numbers(windows[2])},
                      {"padding", Numbers(windows[3])}});
  MlirBlock block;
  block.operations.resize(2);
  block.operations[0].name = sum ? "stablehlo.add" : "stablehlo.maximum";
  block.operations[1].name = "stablehlo.return";
  body_.operations.back().regions.push_back(std::move(block));
  return id;
}

std::vector<int64_t> MapRow(int64_t iterator, size_t iterators) {
  std::vector<int64_t> row(iterators + 1, 0);
  if (iterator >= 0) row[static_cast<size_t>(iterator)] = 1;
  return row;
}

int MlirBuilder::Generic(const std::vector<int>& operands, const MlirGeneric& generic) {
  MlirAttribute maps, iterators;
  maps.maps = generic.maps;
  iterators.words = generic.iterators;
  const int id = Add("linalg.generic", operands, ShapeOf(operands.back()),
                     {{"indexing_maps", maps}, {"iterator_types", iterators}});
  const TextPosition position = body_.operations.back().position;
  const MlirType element{false, {}, "f32"};
  MlirBlock block;
  std::vector<int> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    values.push_back(elements_++);
    block.arguments.push_back({{values.back(), element}, position, ""});
  }
  for (const MlirGeneric::Step& step : generic.body) {
    MlirOperation operation{step.name, position, {}, {{elements_, element}}, {}, {}};
    for (const int operand : step.operands)
      operation.operands.push_back(values[static_cast<size_t>(operand)]);
    values.push_back(elements_++);
    block.operations.push_back(std::move(operation));
  }
  const int last = generic.body.empty() ? values.front() : values.back();
  block.operations.push_back({"linalg.yield", position, {last}, {}, {}, {}});
  body_.operations.back().regions.push_back(std::move(block));
  return id;
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
    const bool projects = Below(3) == 0, convolves = Below(6) == 0;
    if (convolves) DrawConvolution();
    if (projects) builder_.Parameter({3, 6});
    if (projects) builder_.Parameter({6, 4});
    for (int i = Below(3) + 2; i > 0; --i) builder_.Parameter(Shape());
    if (projects) Project(convolves ? 2 : 0);
    if (convolves) Convolve();
    for (int i = Below(8) + 3; i > 0; --i) Step();
    std::vector<int> results = {builder_.size() - 1};
    if (convolves && Below(2) == 0 && convolved_ != results[0]) results.push_back(convolved_);
    if (Below(4) == 0) results.insert(results.begin(), Value());
    return builder_.Return(results);
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  // Permutations are values as well, but are not computed with.
  int Value() {
    while (true)
      if (const int value = Below(builder_.size()); builder_.ElementOf(value) == "f32") return value;
  }

  Dims Shape() {
    const Dims sizes = {1, 2, 3, 4, 6, 8, 12};
    Dims shape;
    for (int i = Below(3) + 1; i > 0; --i) shape.push_back(sizes[static_cast<size_t>(Below(7))]);
    return shape;
  }

  void Step() {
    const int value = Value();
    const Dims shape = builder_.ShapeOf(value);
    switch (Below(23)) {
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
      case 7:
        return GenericElementwise(value);
      case 8:
        return GenericReduction(value);
      case 9:
      case 10:
        return GenericContraction(value);
      case 11:
        return Tosa(value);
      case 12:
      case 13:
        return Slice(value);
      case 14:
        return Join(value);
      case 15:
        return Pad(value);
      case 16:
        return Window(value);
      case 17:
        return GenericWindow(value);
      case 18:
        if (Below(3) != 0 || shape.empty()) return Gather(value);
        builder_.Add("stablehlo.reverse", {value}, shape,
                     {{"dimensions", Numbers({Below(static_cast<int>(shape.size()))})}});
        return;
      case 19:
        return RunningSum(value);
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

  void Slice(int value) {
    Dims start, limit, step, shape;
    const bool tosa = Below(4) == 0;
    for (const int64_t size : builder_.ShapeOf(value)) {
      const bool whole = Below(2) == 0;
      start.push_back(whole ? 0 : Below(static_cast<int>(size)));
      // Halves and thirds, as programs have them.
      if (!whole && size % 2 == 0 && Below(2) == 0) start.back() = size / 2;
      limit.push_back(whole ? size : start.back() + 1 + Below(static_cast<int>(size - start.back())));
      step.push_back(tosa || Below(3) != 0 ? 1 : 1 + Below(3));
      shape.push_back((limit.back() - start.back() - 1) / step.back() + 1);
    }
    if (tosa)
      builder_.Add("tosa.slice", {value}, shape, {{"start", Numbers(start)}, {"size", Numbers(shape)}});
    else
      builder_.Add(
          "stablehlo.slice", {value}, shape,
          {{"start_indices", Numbers(start)}, {"limit_indices", Numbers(limit)}, {"strides", Numbers(step)}});
  }

  // With values that differ along a dim only, or with itself, or with a number.
  void Join(int value) {
    Dims shape = builder_.ShapeOf(value);
    if (shape.empty()) return;
    const size_t dim = static_cast<size_t>(Below(static_cast<int>(shape.size())));
    std::vector<int> operands = {value};
    for (int other = 0; other < builder_.size() && operands.size() < 4; ++other) {
      Dims of = builder_.ShapeOf(other);
      if (builder_.ElementOf(other) != "f32" || of.size() != shape.size()) continue;
      of[dim] = shape[dim];
      if (of == shape && Below(2) == 0) operands.insert(operands.begin() + Below(2), other);
    }
    if (Below(4) == 0) operands.push_back(builder_.Constant(0.5, shape));
    shape[dim] = 0;
    for (const int operand : operands) shape[dim] += builder_.ShapeOf(operand)[dim];
    const bool tosa = Below(3) == 0;
    builder_.Add(tosa ? "tosa.concat" : "stablehlo.concatenate", operands, shape,
                 {{tosa ? "axis" : "dimension", Numbers({static_cast<int64_t>(dim)})}});
  }

  void Pad(int value) {
    Dims low, high, interior, shape;
    for (const int64_t size : builder_.ShapeOf(value)) {
      low.push_back(Below(2) == 0 ? 0 : Below(4));
      high.push_back(Below(2) == 0 ? 0 : Below(4));
      interior.push_back(0);
      shape.push_back(size + low.back() + high.back());
    }
    builder_.Add("stablehlo.pad", {value, builder_.Constant(0.25 * Below(3), {})}, shape,
                 {{"edge_padding_low", Numbers(low)},
                  {"edge_padding_high", Numbers(high)},
                  {"interior_padding", Numbers(interior)}});
  }

  void Window(int value) {
    std::vector<Dims> windows(4);
    for (const int64_t size : builder_.ShapeOf(value)) {
      const bool whole = Below(2) == 0;
      const int64_t before = whole ? 0 : Below(3), after = whole ? 0 : Below(3), dilation = 1 + Below(4) / 3,
                    most = (size + before + after - 1) / dilation + 1;
      windows[0].push_back(whole ? 1 : 1 + Below(static_cast<int>(std::min<int64_t>(most, 4))));
      windows[1].push_back(1 + Below(3) / 2);
      windows[2].push_back(dilation);
      windows[3].insert(windows[3].end(), {before, after});
    }
    builder_.ReduceWindow(value, Below(2) == 0, windows);
  }

  void RunningSum(int value) {
    const Dims shape = builder_.ShapeOf(value);
    if (shape.empty()) return;
    const auto dim = static_cast<size_t>(Below(static_cast<int>(shape.size())));
    std::vector<Dims> windows(3, Dims(shape.size(), 1));
    windows[0][dim] = shape[dim];
    windows.emplace_back(2 * shape.size(), 0);
    windows[3][2 * dim] = shape[dim] - 1;
    builder_.ReduceWindow(value, true, windows);
  }

  // Slices along a dim at constant indices, some of which are out of range, perhaps with own ones for each
  // index of another dim.
  void Gather(int value) {
    const Dims x = builder_.ShapeOf(value);
    if (x.empty()) return;
    const int rank = static_cast<int>(x.size()), dim = Below(rank), other = Below(rank);
    const bool batched = other != dim && Below(2) == 0, keeps = Below(4) == 0;
    Dims places, sizes = x, batch, of_indices, collapsed, offsets, shape;
    for (int i = Below(3); i > 0; --i) places.push_back(1 + Below(4));
    if (batched) {
      of_indices = {Below(static_cast<int>(places.size()) + 1)};
      places.insert(places.begin() + of_indices[0], x[static_cast<size_t>(other)]);
      batch = {other};
      sizes[static_cast<size_t>(other)] = 1;
    }
    sizes[static_cast<size_t>(dim)] = 1;
    if (!keeps) collapsed = {dim};
    // The dims of a slice are anywhere among the result's.
    Dims in_slice;
    for (int i = 0; i < rank; ++i)
      if ((i != dim || keeps) && !(batched && i == other)) in_slice.push_back(sizes[static_cast<size_t>(i)]);
    size_t from_slice = 0, from_places = 0;
    while (from_slice + from_places < in_slice.size() + places.size()) {
      const bool slice = from_places == places.size() || (from_slice < in_slice.size() && Below(2) == 0);
      if (slice) offsets.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(slice ? in_slice[from_slice++] : places[from_places++]);
    }
    MlirAttribute numbers, constant;
    const auto list = [](const Dims& dims) { return Cat(" = [", kirsch::Join(dims, ", "), "]"); };
    numbers.text =
        Cat("#stablehlo.gather<offset_dims", list(offsets), ", collapsed_slice_dims", list(collapsed),
            ", operand_batching_dims", list(batch), ", start_indices_batching_dims", list(of_indices),
            ", start_index_map = [", dim, "], index_vector_dim = ", places.size(), ">");
    places.push_back(1);
    for (int64_t i = Elements(places); i > 0; --i)
      constant.numbers.push_back(Below(static_cast<int>(x[static_cast<size_t>(dim)]) + 3) - 1);
    const int indices = builder_.Add("stablehlo.constant", {}, places, {{"value", constant}}, "i32");
    builder_.Add("stablehlo.gather", {value, indices}, shape,
                 {{"dimension_numbers", numbers}, {"slice_sizes", Numbers(sizes)}});
  }

  // linalg's pools, whose second operand has the window's sizes.
  void GenericWindow(int value) {
    const Dims shape = builder_.ShapeOf(value);
    if (shape.empty()) return;
    Dims kernel, result;
    MlirGeneric generic;
    generic.maps.resize(3);
    const size_t count = 2 * shape.size();  // an iterator of the result and one of the window for each dim
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const int64_t stride = 1 + Below(3) / 2,
                    size = 1 + Below(static_cast<int>(std::min<int64_t>(shape[dim], 3)));
      kernel.push_back(size);
      result.push_back((shape[dim] - size) / stride + 1);
      std::vector<int64_t> row(count + 1, 0);
      row[dim] = stride;
      row[shape.size() + dim] = 1;
      generic.maps[0].push_back(row);
      generic.maps[1].push_back(MapRow(static_cast<int64_t>(shape.size() + dim), count));
      generic.maps[2].push_back(MapRow(static_cast<int64_t>(dim), count));
      generic.iterators.insert(generic.iterators.begin(), "parallel");
      generic.iterators.push_back("reduction");
    }
    const bool sum = Below(2) == 0;
    generic.body = {{sum ? "arith.addf" : "arith.maximumf", {0, 2}}};
    MlirAttribute begin;
    begin.numbers = {sum ? 0 : -std::numeric_limits<double>::infinity()};
    MlirAttribute any;
    any.numbers = {2};
    const int window = builder_.Add("arith.constant", {}, kernel, {{"value", any}});
    const int output = builder_.Add("arith.constant", {}, result, {{"value", begin}});
    builder_.Generic({value, window, output}, generic);
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

  // A parameter's rows, by their sums, times the one behind it, whose columns are of two heads.
  void Project(int x) {
    const int squares = builder_.Add("chlo.square", {x}, {3, 6});
    const int sums = builder_.Broadcast(builder_.Reduce(squares, true, {1}), {3, 6}, {0});
    const int rows = builder_.Add("stablehlo.multiply", {x, sums}, {3, 6});
    builder_.Reshape(builder_.Dot(rows, x + 1, {{}, {}, {1}, {0}}), {3, 2, 2});
  }

  // Of iterators n, y, x, f, ky, kx, c: how the dims of image, filters and result lie. A sum of two is
  // stride * first + dilation * second.
  struct Convolution {
    MlirGeneric generic;
    Dims image, filters, result;
  };

  // Draws it, and adds parameters for image and filters: they are the first ones.
  void DrawConvolution() {
    const int64_t channels = Below(2) + 1, filters = Below(3) + 1, stride = Below(2) + 1,
                  dilation = Below(2) + 1;
    const Dims sizes = {Below(2) + 1, Below(3) + 1, Below(3) + 1, filters, Below(2) + 1, 2, channels};
    const auto reach = [&](size_t out, size_t kernel) {
      return (sizes[out] - 1) * stride + (sizes[kernel] - 1) * dilation + 1 + Below(static_cast<int>(stride));
    };
    const auto window = [&](size_t out, size_t kernel) {
      std::vector<int64_t> row(sizes.size() + 1, 0);
      row[out] = stride;
      row[kernel] = dilation;
      return row;
    };
    const std::vector<Dims> images = {{0, 1, 2, 6}, {0, 6, 1, 2}},
                            kernels = {{4, 5, 6, 3}, {3, 6, 4, 5}, {3, 4, 5, 6}},
                            results = {{0, 1, 2, 3}, {0, 3, 1, 2}};
    const size_t layout = static_cast<size_t>(Below(2));
    convolution_.generic.maps.resize(3);
    for (const int64_t dim : images[layout]) {
      const bool axis = dim == 1 || dim == 2;
      const size_t i = static_cast<size_t>(dim);
      convolution_.generic.maps[0].push_back(axis ? window(i, i + 3) : MapRow(dim, sizes.size()));
      convolution_.image.push_back(axis ? reach(i, i + 3) : sizes[i]);
    }
    for (const int64_t dim : kernels[static_cast<size_t>(Below(3))]) {
      convolution_.generic.maps[1].push_back(MapRow(dim, sizes.size()));
      convolution_.filters.push_back(sizes[static_cast<size_t>(dim)]);
    }
    for (const int64_t dim : results[Below(4) == 0 ? 1 - layout : layout]) {
      convolution_.generic.maps[2].push_back(MapRow(dim, sizes.size()));
      convolution_.result.push_back(sizes[static_cast<size_t>(dim)]);
    }
    convolution_.generic.iterators = {"parallel",  "parallel",  "parallel", "parallel",
                                      "reduction", "reduction", "reduction"};
    convolution_.generic.body = {{"arith.mulf", {0, 1}}, {"arith.addf", {2, 3}}};
    builder_.Parameter(convolution_.image);
    builder_.Parameter(convolution_.filters);
  }

  void Convolve() {
    MlirAttribute zero;
    zero.numbers = {0};
    const int output = builder_.Add("arith.constant", {}, convolution_.result, {{"value", zero}});
    convolved_ = builder_.Generic({0, 1, output}, convolution_.generic);
  }

  // What attention does with its heads: rows by rows, for each half of the columns.
  void Heads(int value) {
    const Dims shape = builder_.ShapeOf(value);
    if (shape.size() != 2 || shape[1] % 2 != 0) return;
    const int heads = builder_.Reshape(value, {shape[0], 2, shape[1] / 2});
    builder_.Dot(heads, heads, {{1}, {1}, {2}, {2}});
  }

  // Iterators for the dims of a value: of size 1 perhaps none. Those that are known are taken if the size is
  // right and `share` says so.
  MlirMap Iterators(int value, bool share, Dims* sizes) {
    std::vector<int64_t> iterators;
    for (const int64_t size : builder_.ShapeOf(value)) {
      std::vector<int64_t> fits;
      for (size_t i = 0; i < sizes->size(); ++i)
        if ((*sizes)[i] == size && !Has(iterators, static_cast<int64_t>(i)))
          fits.push_back(static_cast<int64_t>(i));
      if (size == 1 && Below(2) == 0) {
        iterators.push_back(-1);
      } else if (share && !fits.empty() && Below(5) != 0) {
        iterators.push_back(fits[static_cast<size_t>(Below(static_cast<int>(fits.size())))]);
      } else {
        iterators.push_back(static_cast<int64_t>(sizes->size()));
        sizes->push_back(size);
      }
    }
    MlirMap map;
    for (const int64_t iterator : iterators) map.push_back({iterator});  // rows once all are known
    return map;
  }

  // The generic operation of these inputs, whose maps have iterators only so far, and of an output that has
  // the iterators that are parallel, in some order.
  void Finish(std::vector<int> operands, MlirGeneric generic, const std::vector<bool>& reduced,
              const Dims& sizes, double begin) {
    for (MlirMap& map : generic.maps)
      for (auto& row : map) row = MapRow(row[0], sizes.size());
    std::vector<int64_t> parallel;
    for (size_t i = 0; i < sizes.size(); ++i) {
      generic.iterators.push_back(reduced[i] ? "reduction" : "parallel");
      if (!reduced[i]) parallel.push_back(static_cast<int64_t>(i));
    }
    std::shuffle(parallel.begin(), parallel.end(), random_);
    Dims shape;
    generic.maps.emplace_back();
    for (const int64_t iterator : parallel) {
      generic.maps.back().push_back(MapRow(iterator, sizes.size()));
      shape.push_back(sizes[static_cast<size_t>(iterator)]);
    }
    int output = -1;
    for (int value = 0; value < builder_.size() && Below(2) == 0; ++value)
      if (builder_.ShapeOf(value) == shape && !std::isinf(begin)) output = value;
    MlirAttribute number;
    number.numbers = {begin};
    if (output < 0) output = builder_.Add("arith.constant", {}, shape, {{"value", number}});
    operands.push_back(output);
    builder_.Generic(operands, generic);
  }

  void GenericElementwise(int value) {
    Dims sizes;
    MlirGeneric generic;
    std::vector<int> operands = {value};
    generic.maps.push_back(Iterators(value, false, &sizes));
    for (int i = Below(3); i > 0; --i) {
      Dims wider = sizes;
      const int other = Value();
      const MlirMap map = Iterators(other, true, &wider);
      if (wider.size() > 3) continue;
      sizes = wider;
      operands.push_back(other);
      generic.maps.push_back(map);
    }
    const std::vector<std::string> names = {"arith.addf", "arith.mulf", "arith.maximumf", "math.tanh",
                                            "arith.negf"};
    int known = static_cast<int>(operands.size()) + 1;  // with the output's element
    for (int i = Below(4); i > 0; --i) {
      const size_t name = static_cast<size_t>(Below(5));
      MlirGeneric::Step step{names[name], {Below(known)}};
      if (name < 3) step.operands.push_back(Below(known));
      generic.body.push_back(std::move(step));
      ++known;
    }
    Finish(operands, generic, std::vector<bool>(sizes.size(), false), sizes, 0.5);
  }

  void GenericReduction(int value) {
    Dims sizes;
    MlirGeneric generic;
    generic.maps.push_back(Iterators(value, false, &sizes));
    if (sizes.empty()) return;
    std::vector<bool> reduced;
    for (size_t i = 0; i < sizes.size(); ++i) reduced.push_back(Below(2) == 0);
    reduced[static_cast<size_t>(Below(static_cast<int>(sizes.size())))] = true;
    const bool sum = Below(2) == 0;
    if (Below(2) == 0) generic.body.push_back({"math.tanh", {0}});
    generic.body.push_back({sum ? "arith.addf" : "arith.maximumf", {generic.body.empty() ? 0 : 2, 1}});
    Finish({value}, generic, reduced, sizes, sum ? 0 : -std::numeric_limits<double>::infinity());
  }

  // Iterators of both sides are batches, or are summed over.
  void GenericContraction(int lhs) {
    Dims sizes;
    MlirGeneric generic;
    const int rhs = Value();
    generic.maps.push_back(Iterators(lhs, false, &sizes));
    const size_t left = sizes.size();
    generic.maps.push_back(Iterators(rhs, true, &sizes));
    std::vector<bool> reduced(sizes.size(), false);
    for (const auto& row : generic.maps[1])
      if (row[0] >= 0 && row[0] < static_cast<int64_t>(left))
        reduced[static_cast<size_t>(row[0])] = Below(4) != 0;
    if (Below(10) == 0 && !sizes.empty())
      reduced[static_cast<size_t>(Below(static_cast<int>(sizes.size())))] = true;
    const auto sums = std::count(reduced.begin(), reduced.end(), true);
    if (sums == 0 || sizes.size() - static_cast<size_t>(sums) > 4) return;
    generic.body = {{"arith.mulf", {0, 1}}, {"arith.addf", {2, 3}}};
    Finish({lhs, rhs}, generic, reduced, sizes, Below(3) == 0 ? 0.25 : 0);
  }

  void Tosa(int value) {
    const Dims shape = builder_.ShapeOf(value);
    if (shape.empty()) return;
    Dims permutation(shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    const int axis = Below(static_cast<int>(shape.size()));
    switch (Below(3)) {
      case 0: {
        Dims reduced = shape;
        reduced[static_cast<size_t>(axis)] = 1;
        const int sum = builder_.Add("tosa.reduce_sum", {value}, reduced, {{"axis", Numbers({axis})}});
        builder_.Add("tosa.mul", {value, sum}, shape, {{"shift", Numbers({0})}});
        return;
      }
      case 1: {
        std::shuffle(permutation.begin(), permutation.end(), random_);
        Dims turned;
        for (const int64_t dim : permutation) turned.push_back(shape[static_cast<size_t>(dim)]);
        const int dims = builder_.Add("tosa.const", {}, {static_cast<int64_t>(shape.size())},
                                      {{"value", Numbers(permutation)}}, "i32");
        builder_.Add("tosa.transpose", {value, dims}, turned);
        return;
      }
      default:
        if (shape.size() != 3) return;
        const int dims = builder_.Add("tosa.const", {}, {3}, {{"value", Numbers({0, 2, 1})}}, "i32");
        const int turned = builder_.Add("tosa.transpose", {value, dims}, {shape[0], shape[2], shape[1]});
        builder_.Add("tosa.matmul", {value, turned}, {shape[0], shape[1], shape[1]});
    }
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
  Convolution convolution_;
  int convolved_ = -1;
};

}  // namespace

MlirModule DrawMlirProgram(std::mt19937& random) { return MlirDrawer(random).Draw(); }

}  // namespace kirsch::testing
