// SPDX-License-Identifier: Apache-2.0
// Lowers linalg's structured operations by their maps, iterators and bodies, which named ones have as well.
//
//   all iterators parallel               elementwise: each operation of the body, on views of the operands
//   acc + a * b, over some iterators     a dot; a convolution where a dim is `stride * i + dilation * k`
//   acc + x, max(acc, x)                 a reduction of x, which is elementwise; of windows where a dim is
//                                        `stride * i + dilation * k`
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/along_dims.h"
#include "import/lowering.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// More operations than this in a body are none of use.
constexpr size_t kMostInBody = 1000;

// Iterators, in their order: those along which values are seen.
using Space = std::vector<size_t>;

// The iterator that a dim is, with coefficient 1 and nothing else.
std::optional<size_t> IteratorOf(const std::vector<int64_t>& row) {
  std::optional<size_t> iterator;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] == 0) continue;
    if (iterator || row[i] != 1 || i + 1 == row.size()) return std::nullopt;
    iterator = i;
  }
  return iterator;
}

bool IsZero(const std::vector<int64_t>& row) {
  return std::all_of(row.begin(), row.end(), [](int64_t number) { return number == 0; });
}

bool Contains(const Space& space, size_t iterator) {
  return std::find(space.begin(), space.end(), iterator) != space.end();
}

class StructuredLowering {
 public:
  StructuredLowering(const SourceOperation& operation, TensorProgramBuilder* builder)
      : operation_(operation), builder_(*builder) {}

  LoweredValues Run();

 private:
  // How a body's value comes from the operands: the operations of the body, and the operands, that it needs.
  struct Needs {
    std::vector<bool> operations, operands;
    std::set<size_t> iterators;  // that these depend on, and linalg.index
    bool outputs = false;        // some operand is an output
  };

  absl::Status Read();
  absl::Status ReadSizes();
  size_t outputs() const { return operation_.results.size(); }
  size_t inputs() const { return operation_.operands.size() - outputs(); }
  const MlirBlock& body() const { return operation_.of.regions[0]; }
  const std::vector<int64_t>& ShapeOf(size_t operand) const {
    return builder_.ShapeOf(operation_.operands[operand]);
  }
  std::vector<int64_t> ShapeOf(const Space& space) const;
  Space Parallel() const;

  // The operation of the body that makes the value; null if none does.
  const MlirOperation* Maker(int value) const;
  Needs NeedsOf(int value) const;
  // The body's value, for all indices of the space, which has all iterators that it needs. An operand in
  // `views` is seen as that.
  absl::StatusOr<int> Evaluate(int value, const std::vector<int64_t>& shape, const Space& space,
                               const std::map<size_t, int>& views);
  absl::StatusOr<int> EvaluateIn(int value, const Space& space);
  absl::StatusOr<int> LowerInBody(const MlirOperation& operation, const std::vector<int64_t>& shape,
                                  const Space& space, const std::map<int, int>& values);
  absl::StatusOr<int> Index(const MlirOperation& operation, const std::vector<int64_t>& shape,
                            const Space& space);

  // The operand along the iterators of the space.
  absl::StatusOr<int> View(size_t operand, const Space& space);
  // A value along the iterators of the space, as the output has it.
  absl::StatusOr<int> ViewAsOutput(int value, const Space& space, size_t output);

  absl::StatusOr<int> LowerOutput(size_t output);
  absl::StatusOr<int> LowerReduction(size_t output);
  // Sums of products: nothing if they are none.
  absl::StatusOr<std::optional<int>> TryDot(const MlirOperation& product, size_t output);
  absl::StatusOr<std::optional<int>> TryConvolution(const MlirOperation& product, size_t output);
  // Sums, or the largest, of windows of one operand: nothing if there are none.
  absl::StatusOr<std::optional<int>> TryWindows(int element, bool sum, size_t output);
  bool ReadConvolutionDims(size_t image, size_t filters, size_t output, ConvolutionDims* dims) const;

  const SourceOperation& operation_;
  TensorProgramBuilder& builder_;
  std::vector<MlirMap> maps_;
  std::vector<bool> reduction_;      // of the iterators: or parallel
  std::vector<int64_t> sizes_;       // of the iterators
  std::map<int, size_t> arguments_;  // of the body: the operands that they are elements of
};

LoweredValues StructuredLowering::Run() {
  KIRSCH_RETURN_IF_ERROR(Read());
  std::vector<int> values;
  for (size_t output = 0; output < outputs(); ++output) {
    KIRSCH_ASSIGN_OR_RETURN(const int value, LowerOutput(output));
    values.push_back(value);
  }
  return values;
}

absl::Status StructuredLowering::Read() {
  const MlirAttribute* maps = operation_.of.Find("indexing_maps");
  const MlirAttribute* iterators = operation_.of.Find("iterator_types");
  if (outputs() == 0 || outputs() > operation_.operands.size())
    return builder_.Expected("an operation on tensors");
  if (maps == nullptr || iterators == nullptr || maps->maps.size() != operation_.operands.size())
    return builder_.Expected("linear indexing_maps");
  maps_ = maps->maps;
  for (const std::string& word : iterators->words) {
    if (word != "parallel" && word != "reduction")
      return builder_.Expected(Cat("iterators that are parallel or reduction, got ", Quoted(word)));
    reduction_.push_back(word == "reduction");
  }
  for (size_t operand = 0; operand < maps_.size(); ++operand) {
    if (maps_[operand].size() != ShapeOf(operand).size()) return builder_.Expected("a map for each dim");
    for (const auto& row : maps_[operand])
      if (row.size() != reduction_.size() + 1) return builder_.Expected("maps of all iterators");
  }
  if (operation_.of.regions.size() != 1 || body().operations.empty() ||
      body().operations.back().operands.size() != outputs() ||
      body().arguments.size() > operation_.operands.size())
    return builder_.Expected("a body that yields an element of each result");
  if (body().operations.size() > kMostInBody)
    return builder_.Expected(Cat("a body of at most ", kMostInBody, " operations"));
  for (size_t i = 0; i < body().arguments.size(); ++i) arguments_[body().arguments[i].value.id] = i;
  return ReadSizes();
}

absl::Status StructuredLowering::ReadSizes() {
  sizes_.assign(reduction_.size(), 0);
  for (size_t operand = 0; operand < maps_.size(); ++operand)
    for (size_t dim = 0; dim < maps_[operand].size(); ++dim)
      if (const auto iterator = IteratorOf(maps_[operand][dim])) {
        if (sizes_[*iterator] != 0 && sizes_[*iterator] != ShapeOf(operand)[dim])
          return builder_.Expected("dims of one size for each iterator");
        sizes_[*iterator] = ShapeOf(operand)[dim];
      }
  if (std::find(sizes_.begin(), sizes_.end(), 0) != sizes_.end())
    return builder_.Expected("a dim for each iterator");
  return absl::OkStatus();
}

std::vector<int64_t> StructuredLowering::ShapeOf(const Space& space) const {
  std::vector<int64_t> shape;
  for (const size_t iterator : space) shape.push_back(sizes_[iterator]);
  return shape;
}

Space StructuredLowering::Parallel() const {
  Space space;
  for (size_t i = 0; i < reduction_.size(); ++i)
    if (!reduction_[i]) space.push_back(i);
  return space;
}

const MlirOperation* StructuredLowering::Maker(int value) const {
  for (const MlirOperation& operation : body().operations)
    for (const MlirValue& result : operation.results)
      if (result.id == value) return &operation;
  return nullptr;
}

StructuredLowering::Needs StructuredLowering::NeedsOf(int value) const {
  Needs needs{std::vector<bool>(body().operations.size(), false),
              std::vector<bool>(operation_.operands.size(), false),
              {}};
  std::set<int> values = {value};
  for (size_t i = body().operations.size(); i-- > 0;) {
    const MlirOperation& operation = body().operations[i];
    for (const MlirValue& result : operation.results)
      needs.operations[i] = needs.operations[i] || values.count(result.id) != 0;
    if (!needs.operations[i]) continue;
    values.insert(operation.operands.begin(), operation.operands.end());
    if (operation.name == "linalg.index")
      for (const int64_t dim : operation.Integers("dim"))
        if (dim >= 0 && dim < static_cast<int64_t>(sizes_.size()))
          needs.iterators.insert(static_cast<size_t>(dim));
  }
  for (const auto& [id, operand] : arguments_) {
    if (values.count(id) == 0) continue;
    needs.operands[operand] = true;
    needs.outputs = needs.outputs || operand >= inputs();
    for (const auto& row : maps_[operand])
      for (size_t i = 0; i < sizes_.size(); ++i)
        if (row[i] != 0) needs.iterators.insert(i);
  }
  return needs;
}

absl::StatusOr<int> StructuredLowering::View(size_t operand, const Space& space) {
  std::vector<int64_t> shape, dims;
  for (size_t dim = 0; dim < maps_[operand].size(); ++dim) {
    const auto& row = maps_[operand][dim];
    const int64_t size = ShapeOf(operand)[dim];
    if (IsZero(row) && size == 1) continue;
    const auto iterator = IteratorOf(row);
    if (!iterator || !Contains(space, *iterator))
      return builder_.Expected(Cat("operand ", operand, " with a map that is a projected permutation"));
    shape.push_back(size);
    dims.push_back(std::find(space.begin(), space.end(), *iterator) - space.begin());
  }
  return builder_.Broadcast(builder_.Reshape(operation_.operands[operand], std::move(shape)), ShapeOf(space),
                            std::move(dims));
}

absl::StatusOr<int> StructuredLowering::ViewAsOutput(int value, const Space& space, size_t output) {
  const size_t operand = inputs() + output;
  std::vector<int64_t> shape, dims(space.size(), -1);
  for (size_t dim = 0; dim < maps_[operand].size(); ++dim) {
    const auto& row = maps_[operand][dim];
    if (IsZero(row) && ShapeOf(operand)[dim] == 1) continue;
    const auto iterator = IteratorOf(row);
    if (!iterator || reduction_[*iterator])
      return builder_.Expected("an output with a map that is a permutation of parallel iterators");
    const auto found = std::find(space.begin(), space.end(), *iterator);
    if (found != space.end())
      dims[static_cast<size_t>(found - space.begin())] = static_cast<int64_t>(shape.size());
    shape.push_back(ShapeOf(operand)[dim]);
  }
  if (std::find(dims.begin(), dims.end(), -1) != dims.end())
    return builder_.Expected("an output with a dim for each parallel iterator");
  return builder_.Reshape(builder_.Broadcast(value, std::move(shape), std::move(dims)), ShapeOf(operand));
}

absl::StatusOr<int> StructuredLowering::Index(const MlirOperation& operation,
                                              const std::vector<int64_t>& shape, const Space& space) {
  const std::vector<int64_t> dim = operation.Integers("dim");
  if (dim.size() != 1 || dim[0] < 0 || dim[0] >= static_cast<int64_t>(sizes_.size()))
    return builder_.Expected("the number of an iterator");
  const size_t iterator = static_cast<size_t>(dim[0]);
  const auto found = std::find(space.begin(), space.end(), iterator);
  if (found == space.end() || shape != ShapeOf(space) || sizes_[iterator] > kMostFolded)
    return builder_.Expected("an index of an elementwise operation");
  const int indices = builder_.Constant(Iota({sizes_[iterator]}, 0), "index");
  return builder_.Broadcast(indices, shape, {found - space.begin()});
}

absl::StatusOr<int> StructuredLowering::LowerInBody(const MlirOperation& operation,
                                                    const std::vector<int64_t>& shape, const Space& space,
                                                    const std::map<int, int>& values) {
  if (operation.name == "linalg.index") return Index(operation, shape, space);
  KIRSCH_ASSIGN_OR_RETURN(const ImportedOperation* const row, FindRow(operation, builder_));
  SourceOperation source{operation, *row};
  for (const int operand : operation.operands) {
    const auto found = values.find(operand);
    if (found == values.end()) return builder_.Expected("operands that the body or the program makes");
    source.operands.push_back(found->second);
  }
  for (const MlirValue& result : operation.results) {
    if (result.type.tensor) return builder_.Expected("an operation on elements");
    source.results.push_back({true, shape, result.type.element});
  }
  const LoweredValues lowered = LowerOperation(source, &builder_);
  if (!lowered.ok()) return lowered.status();
  const std::vector<int64_t>& result = builder_.ShapeOf(lowered->front());
  if (!result.empty() && result != shape) return builder_.Expected("an operation on elements");
  return lowered->front();
}

absl::StatusOr<int> StructuredLowering::Evaluate(int value, const std::vector<int64_t>& shape,
                                                 const Space& space, const std::map<size_t, int>& views) {
  const Needs needs = NeedsOf(value);
  std::map<int, int> values = operation_.captured;
  for (const auto& [id, operand] : arguments_) {
    if (!needs.operands[operand]) continue;
    const auto seen = views.find(operand);
    KIRSCH_ASSIGN_OR_RETURN(values[id], seen != views.end() ? seen->second : View(operand, space));
  }
  for (size_t i = 0; i < body().operations.size(); ++i) {
    const MlirOperation& operation = body().operations[i];
    if (!needs.operations[i]) continue;
    builder_.Begin(operation, operation_.of.position);
    KIRSCH_ASSIGN_OR_RETURN(values[operation.results.front().id],
                            LowerInBody(operation, shape, space, values));
  }
  builder_.Begin(operation_.of);
  const auto found = values.find(value);
  if (found == values.end()) return builder_.Expected("a body that yields its own values");
  // What is the same everywhere is a scalar so far.
  const bool scalar = builder_.ShapeOf(found->second).empty();
  return scalar ? builder_.Broadcast(found->second, shape, {}) : found->second;
}

absl::StatusOr<int> StructuredLowering::EvaluateIn(int value, const Space& space) {
  return Evaluate(value, ShapeOf(space), space, {});
}

absl::StatusOr<int> StructuredLowering::LowerOutput(size_t output) {
  if (std::find(reduction_.begin(), reduction_.end(), true) != reduction_.end())
    return LowerReduction(output);
  const absl::StatusOr<int> value = EvaluateIn(body().operations.back().operands[output], Parallel());
  return value.ok() ? ViewAsOutput(*value, Parallel(), output) : value;
}

absl::StatusOr<int> StructuredLowering::LowerReduction(size_t output) {
  const size_t begin = inputs() + output;  // the operand that it begins at
  const MlirOperation* last = Maker(body().operations.back().operands[output]);
  const ImportedOperation* row = last == nullptr ? nullptr : FindImported(*last);
  const bool sum = row != nullptr && row->expression == "add($0, $1)";
  const bool joins = (sum || (row != nullptr && row->expression == "max($0, $1)")) &&
                     last->operands.size() == 2 && begin < body().arguments.size();
  const int accumulator = joins ? body().arguments[begin].value.id : -1;
  const size_t element = joins && last->operands[0] == accumulator ? 1 : 0;
  if (!joins || last->operands[1 - element] != accumulator || NeedsOf(last->operands[element]).outputs)
    return builder_.Expected("a body that adds an element to its output, or takes the larger one");
  const MlirOperation* maker = Maker(last->operands[element]);
  const ImportedOperation* made = maker == nullptr ? nullptr : FindImported(*maker);
  std::optional<int> reduced;
  if (sum && made != nullptr && made->expression == "mul($0, $1)" && maker->operands.size() == 2) {
    auto product = TryConvolution(*maker, output);
    if (product.ok() && !product->has_value()) product = TryDot(*maker, output);
    if (!product.ok()) return product.status();
    reduced = *product;
  }
  if (!reduced) {
    KIRSCH_ASSIGN_OR_RETURN(reduced, TryWindows(last->operands[element], sum, output));
  }
  if (!reduced) {
    Space all;
    std::vector<int64_t> dims;
    for (size_t i = 0; i < sizes_.size(); ++i) all.push_back(i);
    for (size_t i = 0; i < sizes_.size(); ++i)
      if (reduction_[i]) dims.push_back(static_cast<int64_t>(i));
    KIRSCH_ASSIGN_OR_RETURN(const int value, EvaluateIn(last->operands[element], all));
    KIRSCH_ASSIGN_OR_RETURN(reduced,
                            ViewAsOutput(builder_.Reduce(value, sum, std::move(dims)), Parallel(), output));
  }
  return builder_.BeginReduction(ParseExpression(row->expression), *reduced, operation_.operands[begin]);
}

absl::StatusOr<std::optional<int>> StructuredLowering::TryDot(const MlirOperation& product, size_t output) {
  std::array<Space, 2> spaces;
  for (size_t side = 0; side < 2; ++side) {
    const Needs needs = NeedsOf(product.operands[side]);
    spaces[side].assign(needs.iterators.begin(), needs.iterators.end());
  }
  DotDims dims;
  Space space;  // of the product
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const bool both = Contains(spaces[0], i) && Contains(spaces[1], i);
    if (reduction_[i] && !both) return std::nullopt;
    if (!both) continue;
    if (!reduction_[i]) space.push_back(i);
    for (size_t side = 0; side < 2; ++side)
      (reduction_[i] ? dims.contract : dims.batch)[side].push_back(
          std::find(spaces[side].begin(), spaces[side].end(), i) - spaces[side].begin());
  }
  std::array<int, 2> operands;
  for (size_t side = 0; side < 2; ++side) {
    dims.free[side] = FreeDims(spaces[side].size(), dims.batch[side], dims.contract[side]);
    for (const int64_t dim : dims.free[side]) space.push_back(spaces[side][static_cast<size_t>(dim)]);
  }
  // A sum for each batch is no matmul, nor is one of squares.
  const bool rows = !dims.free[0].empty() || !dims.free[1].empty();
  if (!rows && (!dims.batch[0].empty() || product.operands[0] == product.operands[1])) return std::nullopt;
  for (size_t side = 0; side < 2; ++side) {
    KIRSCH_ASSIGN_OR_RETURN(operands[side], EvaluateIn(product.operands[side], spaces[side]));
  }
  const int dot = builder_.Dot(operands[0], operands[1], std::move(dims), product.results[0].type.element);
  KIRSCH_ASSIGN_OR_RETURN(const int viewed, ViewAsOutput(dot, space, output));
  return std::optional<int>(viewed);
}

absl::StatusOr<std::optional<int>> StructuredLowering::TryWindows(int element, bool sum, size_t output) {
  const Needs needs = NeedsOf(element);
  if (std::count(needs.operands.begin(), needs.operands.end(), true) != 1) return std::nullopt;
  const auto operand = static_cast<size_t>(std::find(needs.operands.begin(), needs.operands.end(), true) -
                                           needs.operands.begin());
  std::vector<DimWindow> windows;
  Space space;  // of the windows' result: an iterator for each dim
  bool any = false;
  std::set<size_t> seen;
  for (const auto& row : maps_[operand]) {
    Space terms;
    for (size_t i = 0; i < sizes_.size(); ++i)
      if (row[i] != 0) terms.push_back(i);
    DimWindow& window = windows.emplace_back();
    if (terms.size() == 2 && reduction_[terms[0]]) std::swap(terms[0], terms[1]);
    const bool is_window = terms.size() == 2 && !reduction_[terms[0]] && reduction_[terms[1]];
    if (row.back() != 0 || (!is_window && !IteratorOf(row))) return std::nullopt;
    for (const size_t term : terms)
      if (!seen.insert(term).second) return std::nullopt;  // a diagonal
    if (is_window) window = {sizes_[terms[1]], row[terms[0]], row[terms[1]]};
    any = any || is_window;
    space.push_back(terms[0]);
  }
  if (!any) return std::nullopt;
  // What is summed over without being read counts as often as it is long.
  for (size_t i = 0; i < sizes_.size(); ++i)
    if (reduction_[i] && seen.count(i) == 0) return std::nullopt;
  KIRSCH_ASSIGN_OR_RETURN(const int value,
                          Evaluate(element, ShapeOf(operand), {}, {{operand, operation_.operands[operand]}}));
  absl::StatusOr<int> made = WindowDims(value, sum, windows, &builder_);
  if (!made.ok()) return made.status();
  if (builder_.ShapeOf(*made) != ShapeOf(space))
    return builder_.Expected("as many windows as there is room for");
  std::vector<int64_t> reduced;
  Space left;
  for (size_t dim = 0; dim < space.size(); ++dim)
    if (reduction_[space[dim]])
      reduced.push_back(static_cast<int64_t>(dim));
    else
      left.push_back(space[dim]);
  if (!reduced.empty()) made = builder_.Reduce(*made, sum, std::move(reduced));
  KIRSCH_ASSIGN_OR_RETURN(const int viewed, ViewAsOutput(*made, left, output));
  return std::optional<int>(viewed);
}

// What each iterator is by where it occurs. False if there is one that no convolution has.
bool StructuredLowering::ReadConvolutionDims(size_t image, size_t filters, size_t output,
                                             ConvolutionDims* dims) const {
  std::array<std::map<size_t, std::string>, 3> words;  // of each iterator, in image, filters and result
  const std::array<size_t, 3> operands = {image, filters, inputs() + output};
  std::array<std::set<size_t>, 3> plain;  // iterators that are dims
  std::array<std::vector<std::string>, 3> lists;
  for (size_t i = 0; i < 3; ++i)
    for (const auto& row : maps_[operands[i]])
      if (const auto iterator = IteratorOf(row)) plain[i].insert(*iterator);
  int64_t axes = 0;
  for (const auto& row : maps_[image]) {
    std::vector<size_t> terms;
    for (size_t i = 0; i < sizes_.size(); ++i)
      if (row[i] != 0) terms.push_back(i);
    if (terms.size() != 2 || row.back() != 0) continue;
    if (reduction_[terms[0]]) std::swap(terms[0], terms[1]);
    if (reduction_[terms[0]] || !reduction_[terms[1]]) return false;
    words[2][terms[0]] = words[1][terms[1]] = Cat(axes++);
    dims->strides.push_back(row[terms[0]]);
    dims->dilations.push_back(row[terms[1]]);
  }
  if (axes == 0) return false;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (words[1].count(i) != 0 || words[2].count(i) != 0) continue;
    const bool in_image = plain[0].count(i) != 0, in_filters = plain[1].count(i) != 0;
    if (in_image && in_filters && !reduction_[i]) dims->groups = sizes_[i];
    if (in_image) words[0][i] = in_filters ? "f" : "b";
    if (in_filters) words[1][i] = reduction_[i] ? "i" : "o";
    if (!reduction_[i]) words[2][i] = in_filters ? "f" : "b";
  }
  axes = 0;
  for (size_t i = 0; i < 3; ++i)
    for (const auto& row : maps_[operands[i]]) {
      const auto iterator = IteratorOf(row);
      const auto found = iterator ? words[i].find(*iterator) : words[i].end();
      if (found == words[i].end() && (i != 0 || iterator)) return false;
      lists[i].push_back(found == words[i].end() ? Cat(axes++) : found->second);
    }
  dims->words = lists;
  return std::all_of(lists.begin(), lists.end(), [](const auto& list) {
    return std::set<std::string>(list.begin(), list.end()).size() == list.size();
  });
}

absl::StatusOr<std::optional<int>> StructuredLowering::TryConvolution(const MlirOperation& product,
                                                                      size_t output) {
  // Each side is made of one operand, element by element.
  std::array<size_t, 3> sides = {0, 0, inputs() + output};
  for (size_t side = 0; side < 2; ++side) {
    const std::vector<bool> needed = NeedsOf(product.operands[side]).operands;
    if (std::count(needed.begin(), needed.end(), true) != 1) return std::nullopt;
    sides[side] = static_cast<size_t>(std::find(needed.begin(), needed.end(), true) - needed.begin());
  }
  const auto is_image = [&](size_t operand) {
    return std::any_of(maps_[operand].begin(), maps_[operand].end(),
                       [](const auto& row) { return !IteratorOf(row) && !IsZero(row); });
  };
  const size_t image = is_image(sides[0]) ? 0 : 1;
  ConvolutionDims dims;
  if (!is_image(sides[image])) return std::nullopt;
  if (!ReadConvolutionDims(sides[image], sides[1 - image], output, &dims))
    return builder_.Expected("maps of a convolution, of one group or of one for each channel");
  std::array<int, 2> operands;
  for (const size_t side : {image, 1 - image}) {
    const std::vector<int64_t>& shape = ShapeOf(sides[side]);
    KIRSCH_ASSIGN_OR_RETURN(const int value, Evaluate(product.operands[side], shape, {},
                                                      {{sides[side], operation_.operands[sides[side]]}}));
    operands[side == image ? 0 : 1] = value;
  }
  // Batches and channels that are not there are of size 1.
  MlirType type{true, ShapeOf(sides[2]), product.results[0].type.element};
  const std::vector<int64_t> as_output = type.shape;
  const std::array<std::vector<std::string>, 3> wanted = {{{"b", "f"}, {"i", "o"}, {"b", "f"}}};
  for (size_t i = 0; i < 3; ++i)
    for (const std::string& word : wanted[i]) {
      std::vector<std::string>& words = dims.words[i];
      if (std::find(words.begin(), words.end(), word) != words.end()) continue;
      words.push_back(word);
      std::vector<int64_t> shape = i == 2 ? type.shape : builder_.ShapeOf(operands[i]);
      shape.push_back(1);
      if (i == 2) type.shape = shape;
      if (i != 2) operands[i] = builder_.Reshape(operands[i], std::move(shape));
    }
  const int value = builder_.Convolution(operands[0], operands[1], std::move(dims), std::move(type));
  return std::optional<int>(builder_.Reshape(value, as_output));
}

}  // namespace

// Written out, as its definition is; it becomes an idiom.
LoweredValues LowerSoftmax(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const int x = operation.operands[0];
  const std::vector<int64_t> shape = builder->ShapeOf(x), dim = operation.of.Integers("dimension");
  if (dim.size() != 1 || dim[0] < 0 || dim[0] >= static_cast<int64_t>(shape.size()))
    return builder->Expected("a dimension of the tensor");
  const std::vector<int64_t> others = FreeDims(shape.size(), {}, dim);
  const auto reduce = [&](int value, bool sum) {
    return builder->Broadcast(builder->Reduce(value, sum, dim), shape, others);
  };
  const auto apply = [&](std::string_view expression, std::vector<int> operands) {
    return builder->Elementwise(ParseExpression(expression), std::move(operands), operation.type());
  };
  const int e = apply("exp($0)", {apply("sub($0, $1)", {x, reduce(x, false)})});
  return std::vector{apply("div($0, $1)", {e, reduce(e, true)})};
}

LoweredValues LowerStructured(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return StructuredLowering(operation, builder).Run();
}

}  // namespace kirsch
