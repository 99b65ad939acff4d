// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/grammar_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "spec/dtype.h"
#include "spec/layout.h"
#include "spec/matmul_types.h"
#include "spec/operation.h"
#include "spec/text/cat.h"
#include "tests/testing/plain_block.h"
#include "tests/testing/plain_number.h"

namespace kirsch::testing {
namespace {

using Dims = std::vector<uint32_t>;
using Options = std::vector<std::pair<std::string, std::string>>;

constexpr int64_t kMostElements = 6000, kMostProducts = 200'000, kMostReach = 100'000;
constexpr size_t kMostAxes = 4;
constexpr int kMostParameters = 32, kMostOperations = 60;

int64_t Elements(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

bool IsOfBlocks(const GrammarValue& value) { return FindPlainBlockType(value.type) != nullptr; }
bool IsFloat(const GrammarValue& value) { return IsOfBlocks(value) || IsFloat(PlainTypeOf(value.type)); }
bool IsWide(const GrammarValue& value) { return value.type == "f64"; }

// The shape that both are repeated to.
std::optional<Dims> Together(const Dims& a, const Dims& b) {
  Dims both(std::max(a.size(), b.size()), 1);
  for (size_t back = 1; back <= both.size(); ++back) {
    const uint32_t x = back <= a.size() ? a[a.size() - back] : 1,
                   y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    both[both.size() - back] = std::max(x, y);
  }
  return both;
}

// Types that a matrix of `type` may be multiplied with.
std::vector<std::string> PartnersOf(std::string_view type) {
  std::vector<std::string> partners;
  for (const MatmulTypes& types : kMatmulTypes) {
    const std::string_view a = Info(types.lhs).name, b = Info(types.rhs).name;
    if (types.out != AccumulatorOf(types.lhs) || !IsOfGraphs(types.out)) continue;
    if (a == type) partners.emplace_back(b);
    if (b == type && a != b) partners.emplace_back(a);
  }
  return partners;
}

// The elementwise operations of so many arguments; of integers and of f64, those that these have.
std::vector<const OperationInfo*> ElementwiseOperations(int arguments, bool integers, bool wide = false) {
  std::vector<const OperationInfo*> found;
  for (const OperationInfo& info : kOperations)
    if (info.kind == OperationKind::kElementwise && info.arguments == arguments &&
        (info.integers || !integers) && (!wide || IsOfF64(info.op)))
      found.push_back(&info);
  return found;
}

// The types that are computed with in words: all but f64.
const std::vector<PlainType>& WordTypes() {
  static const std::vector<PlainType> types = [] {
    std::vector<PlainType> all = PlainTypes();
    std::erase_if(all, [](const PlainType& type) { return type.name == "f64"; });
    return all;
  }();
  return types;
}

class GraphDrawer {
 public:
  GraphDrawer(std::mt19937& random, GrammarWeights weights) : random_(random), weights_(weights) {
    for (uint32_t& size : sizes_) size = AnySize();
    // One kernel in five is of f64. Drawn by numbers of its own, so that the others are what they would be.
    std::mt19937 own = random_;
    own.discard(3);
    wide_ = own() % 5 == 0;
  }

  GrammarGraph Draw(int operations) {
    for (int tries = 4 * operations; Made() < operations && tries > 0; --tries) Operation();
    DropUnfinished();
    if (Made() == 0) Make("relu", {Floats()});
    if (Chance(9, 10)) Join();
    return Finished();
  }

 private:
  uint32_t Below(size_t end) { return static_cast<uint32_t>(random_() % end); }
  bool Chance(uint32_t of, uint32_t in) { return Below(in) < of; }
  template <typename List>
  auto OneOf(const List& list) {
    return list[Below(std::size(list))];
  }

  const GrammarValue& At(int value) const { return values_[static_cast<size_t>(value)]; }
  int Made() const { return static_cast<int>(values_.size()) - parameters_; }

  // Drops what operations that were given up have left at the end: parameters, and what is only read.
  void DropUnfinished() {
    const auto is_unfinished = [](const GrammarValue& value) {
      return value.op.empty() || !PlainTypeOf(value.type).is_result;
    };
    while (!values_.empty() && is_unfinished(values_.back())) {
      parameters_ -= values_.back().op.empty() ? 1 : 0;
      values_.pop_back();
    }
  }

  uint32_t AnySize() {
    static constexpr std::array<uint32_t, 16> kSizes = {1, 1,  2,  2,  3,  4,  5,  7,
                                                        8, 11, 13, 16, 17, 31, 32, 64};
    return OneOf(kSizes);
  }
  // A kernel has few sizes, so that many of its values go together.
  uint32_t Size() { return Chance(1, 8) ? AnySize() : Chance(1, 8) ? 1 : OneOf(sizes_); }
  Dims Shape(size_t least_rank) {
    static constexpr std::array<size_t, 12> kRanks = {0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4};
    while (true) {
      Dims dims(OneOf(kRanks));
      for (uint32_t& size : dims) size = Size();
      if (dims.size() >= least_rank && Elements(dims) <= kMostElements) return dims;
    }
  }
  // The type that the kernel's floats are computed in.
  std::string Real() const { return wide_ ? "f64" : "f32"; }
  bool IsReal(const GrammarValue& value) const { return IsFloat(value) && IsWide(value) == wide_; }
  std::string FloatType() { return wide_ ? "f64" : WordFloatType(); }
  std::string WordFloatType() {
    static const std::array<std::string, 6> kTypes = {"f32", "f32", "f32", "f32", "bf16", "f16"};
    return OneOf(kTypes);
  }
  std::string IntegerType() {
    static const std::array<std::string, 6> kTypes = {"s32", "s32", "s32", "s8", "u8", "s16"};
    return OneOf(kTypes);
  }
  std::string AnyType() { return wide_ ? WordFloatType() : std::string(OneOf(WordTypes()).name); }
  std::string ResultType() {
    if (wide_) return WordFloatType();
    const PlainType& type = OneOf(WordTypes());
    return type.is_result ? std::string(type.name) : "f32";
  }

  int Parameter(const std::string& type, const Dims& dims) {
    values_.push_back({Cat("p", parameters_++), type, dims, Chance(1, 8), "", {}, {}});
    return static_cast<int>(values_.size()) - 1;
  }

  // An operation of the type and shape of its first argument, unless told otherwise.
  int MakeOf(const std::string& op, std::vector<GrammarArgument> arguments, Options options = {},
             std::optional<Dims> dims = std::nullopt, const std::string& type = "") {
    const auto tensor = std::find_if(arguments.begin(), arguments.end(),
                                     [](const GrammarArgument& argument) { return argument.value >= 0; });
    const GrammarValue like = At(tensor->value);
    const std::string sums = IsWide(like) ? "f64" : IsFloat(like) ? "f32" : "s32";
    values_.push_back({Cat("v", Made()), type.empty() ? sums : type, dims.value_or(like.dims), false, op,
                       std::move(arguments), std::move(options)});
    return static_cast<int>(values_.size()) - 1;
  }
  int Make(const std::string& op, const std::vector<int>& arguments, Options options = {},
           std::optional<Dims> dims = std::nullopt, const std::string& type = "") {
    std::vector<GrammarArgument> list;
    for (int argument : arguments) list.push_back({argument, ""});
    return MakeOf(op, std::move(list), std::move(options), std::move(dims), type);
  }

  // A value that is there, often the last one that suits; -1: none does. What is of blocks is for the one
  // matmul that it was drawn for.
  template <typename Suits>
  int Existing(const Suits& suits) {
    std::vector<int> found;
    for (int i = 0; i < static_cast<int>(values_.size()); ++i)
      if (!IsOfBlocks(At(i)) && suits(At(i))) found.push_back(i);
    if (found.empty()) return -1;
    return Chance(1, 2) ? found.back() : OneOf(found);
  }
  // The same, or now and then a new parameter.
  template <typename Suits>
  int Operand(const Suits& suits, const std::string& type, const Dims& dims) {
    const int existing = parameters_ == kMostParameters || Chance(9, 10) ? Existing(suits) : -1;
    return existing >= 0 ? existing : Parameter(type, dims);
  }
  int Floats(size_t least_rank = 0) {
    return Operand([&](const GrammarValue& x) { return IsReal(x) && x.dims.size() >= least_rank; },
                   FloatType(), Shape(least_rank));
  }

  int Integers() {
    return Operand([](const GrammarValue& x) { return !IsFloat(x); }, IntegerType(), Shape(0));
  }

  void Operation() {
    if (parameters_ + 4 > kMostParameters) return;
    static constexpr std::array<void (GraphDrawer::*)(), 28> kDraws = {
        &GraphDrawer::Binary,   &GraphDrawer::Binary,      &GraphDrawer::Binary,    &GraphDrawer::Binary,
        &GraphDrawer::Unary,    &GraphDrawer::Unary,       &GraphDrawer::Unary,     &GraphDrawer::Matmul,
        &GraphDrawer::Matmul,   &GraphDrawer::Matmul,      &GraphDrawer::Reduction, &GraphDrawer::Reduction,
        &GraphDrawer::Softmax,  &GraphDrawer::Norm,        &GraphDrawer::Transpose, &GraphDrawer::Cast,
        &GraphDrawer::Narrowed, &GraphDrawer::Convolution, &GraphDrawer::Again,     &GraphDrawer::Select,
        &GraphDrawer::Copy,     &GraphDrawer::Copy,        &GraphDrawer::Window,    &GraphDrawer::Rearranged,
        &GraphDrawer::Taken,    &GraphDrawer::Cumsum,      &GraphDrawer::Place,     &GraphDrawer::Blocks};
    const size_t draws = kDraws.size() - (weights_ == GrammarWeights::kDense ? 1 : 0);
    (this->*kDraws[Below(draws)])();
  }

  void Unary() {
    static const auto kOfIntegers = ElementwiseOperations(1, true),
                      kOfWords = ElementwiseOperations(1, false),
                      kOfF64 = ElementwiseOperations(1, false, true);
    if (Chance(1, 8)) {
      Make(std::string(OneOf(kOfIntegers)->name), {Integers()});
      return;
    }
    const OperationInfo& info = *OneOf(wide_ ? kOfF64 : kOfWords);
    const std::string op(info.name), option(info.option.name);
    if (std::isnan(info.meaning(-2, 0))) {
      Make(op, {op == "sqrt" ? NonNegative() : Positive(Floats())});
    } else {
      static const std::array<std::string, 3> kNumbers = {"0.2", "-0.5", "1.5"};
      const bool given = !option.empty() && Chance(1, 2);
      Make(op, {Floats()}, given ? Options{{option, OneOf(kNumbers)}} : Options{});
    }
  }

  // Mostly so: what isn't has no square root, say.
  int NonNegative() {
    const int x = Floats();
    const uint32_t way = Below(8);
    return way == 0 ? x : way < 4 ? Make("mul", {x, x}) : way < 6 ? Make("relu", {x}) : Make("sigmoid", {x});
  }
  // Likewise, a divisor.
  int Positive(int x) {
    const uint32_t way = Below(8);
    return way == 0 ? x : Make(way < 4 ? "sigmoid" : "exp", {x});
  }

  void Binary() {
    static const auto kOfWords = ElementwiseOperations(2, false),
                      kOfF64 = ElementwiseOperations(2, false, true);
    const OperationInfo& info = *OneOf(wide_ ? kOfF64 : kOfWords);
    const std::string op(info.name);
    const int a = info.integers && Chance(1, 5) ? Integers() : Floats();
    GrammarArgument first{a, ""}, second = Other(a);
    if (second.value < 0 && op == "div" && second.number == "0") second.number = std::string("4");
    Dims dims = At(a).dims;
    if (second.value >= 0) {
      const std::optional<Dims> both = Together(dims, At(second.value).dims);
      if (!both || Elements(*both) > kMostElements) return;
      dims = *both;
    }
    if (Chance(1, 3)) std::swap(first, second);
    if (op == "div" && second.value >= 0) second.value = Positive(second.value);
    if (op == "pow" && first.value >= 0) first.value = Positive(first.value);
    MakeOf(op, {first, second}, {}, dims);
  }

  // By a condition that is 0 now and then.
  void Select() {
    int condition = Floats();
    if (Chance(3, 4)) condition = Make("relu", {condition});
    Dims dims = At(condition).dims;
    std::vector<GrammarArgument> arguments = {{condition, ""}, Other(condition), Other(condition)};
    for (const GrammarArgument& argument : arguments) {
      if (argument.value < 0) continue;
      const std::optional<Dims> both = Together(dims, At(argument.value).dims);
      if (!both || Elements(*both) > kMostElements) return;
      dims = *both;
    }
    MakeOf("select", std::move(arguments), {}, dims);
  }

  // What goes with `a`: a number, itself, another value, or a new parameter of any shape that goes with it.
  GrammarArgument Other(int a) {
    static const std::array<std::string, 8> kNumbers = {"0.5", "-2", "3.25", "0", "1", "-0.75", "1e-3", "20"};
    static const std::array<std::string, 7> kIntegers = {"3",        "-1",          "0",         "100",
                                                         "16777217", "-2147483648", "2147483647"};
    const bool floats = IsFloat(At(a));
    const uint32_t way = Below(12);
    if (way < 2) return {-1, floats ? OneOf(kNumbers) : OneOf(kIntegers)};
    if (way == 2) return {a, ""};
    if (way < 8) {
      const int there = Existing([&](const GrammarValue& x) {
        return (floats ? IsReal(x) : !IsFloat(x)) && &x != &At(a) && Together(x.dims, At(a).dims).has_value();
      });
      if (there >= 0) return {there, ""};
    }
    return {Parameter(floats ? FloatType() : IntegerType(), Beside(At(a).dims)), ""};
  }

  // A shape that goes with `dims`: some of its axes, the others repeated or missing; now and then larger.
  Dims Beside(Dims dims) {
    if (Chance(1, 3)) return dims;
    if (Chance(1, 4)) {
      for (uint32_t& size : dims)
        if (size == 1 && Chance(1, 2)) size = Size();
      if (dims.size() < kMostAxes && Chance(1, 2)) dims.insert(dims.begin(), Size());
      return dims;
    }
    for (uint32_t& size : dims)
      if (Chance(1, 2)) size = 1;
    while (!dims.empty() && dims.front() == 1 && Chance(2, 3)) dims.erase(dims.begin());
    return dims;
  }

  void Matmul() {
    const bool left = Chance(2, 3);  // is the value the left one?
    const int a =
        Operand([](const GrammarValue& x) { return x.dims.size() >= 2 && !PartnersOf(x.type).empty(); },
                MatrixType(), Shape(2));
    Dims dims = At(a).dims;
    const size_t rows = dims.size() - 2, columns = rows + 1;
    const uint32_t size = Size();
    Dims other = dims, out = dims;
    (left ? other[rows] : other[columns]) = left ? dims[columns] : dims[rows];
    (left ? other[columns] : other[rows]) = size;
    if (rows == 2 && Chance(1, 3))
      Repeat(&other, &out, rows);
    else if (rows > 0 && Chance(1, 2))
      Share(&other[rows - 1], &out[rows - 1]);
    const int b = Matrix(other, PartnersOf(At(a).type));
    (left ? out[columns] : out[rows]) = At(b).dims[left ? columns : rows];
    if (Elements(out) > kMostElements || Elements(out) * dims[left ? columns : rows] > kMostProducts) return;
    const int lhs = left ? a : b, rhs = left ? b : a;
    const std::string as = At(rhs).type;
    const bool rounds = weights_ == GrammarWeights::kAny && At(lhs).type == "f32" &&
                        (as == "bf16" || as == "f16") && Chance(1, 3);
    Make("matmul", {lhs, rhs}, rounds ? Options{{"lhs_as", as}} : Options{}, out);
    if (At(static_cast<int>(values_.size()) - 1).type == "s32" && Chance(1, 2))
      Make("cast", {static_cast<int>(values_.size()) - 1}, {}, out, "f32");
  }

  // Rows by the columns of weights, along which there are one block or several.
  void Blocks() {
    const PlainBlockType& type = OneOf(PlainBlockTypes());
    const auto block = static_cast<uint32_t>(type.elements);
    Dims fresh = Chance(1, 4) ? Dims{1 + Below(3), Size(), 0} : Dims{Size(), 0};
    fresh.back() = block * (1 + Below(block > 100 ? 2 : 5));
    const int x = Operand(
        [block](const GrammarValue& value) {
          return value.dims.size() >= 2 && value.dims.back() % block == 0 &&
                 (value.type == "f32" || value.type == "bf16");
        },
        Chance(3, 4) ? "f32" : "bf16", fresh);
    Dims weights = At(x).dims, out = weights;
    const size_t rows = weights.size() - 2;
    weights[rows] = out[rows + 1] = Size();
    if (rows > 0 && Chance(1, 2)) Share(&weights[rows - 1], &out[rows - 1]);
    if (Elements(weights) > kMostElements || Elements(out) > kMostElements ||
        Elements(out) * weights.back() > kMostProducts)
      return;
    const int w = Turned(Parameter(std::string(type.name), weights));
    Make("matmul", {x, w}, Chance(1, 2) ? RoundedBeside(At(x), type) : Options{}, out);
  }
  Options RoundedBeside(const GrammarValue& x, const PlainBlockType& type) {
    return {{"lhs_as", x.type == "f32" && type.integers && Chance(2, 3) ? "q8_0" : "bf16"}};
  }

  // Along each axis of the batch one side has the same matrices throughout, or neither.
  void Repeat(Dims* others, Dims* all, size_t axes) {
    for (size_t axis = 0; axis < axes; ++axis) {
      if ((*others)[axis] == 1)
        (*all)[axis] = (*others)[axis] = 1 + Below(3);
      else if (Chance(1, 2))
        (*others)[axis] = 1;
    }
  }

  // The other matrices are fewer, each for several, or more.
  void Share(uint32_t* others, uint32_t* all) {
    std::vector<uint32_t> sizes = {2 * *others, 3 * *others};
    for (uint32_t size = 1; size <= *others; ++size)
      if (*others % size == 0) sizes.push_back(size);
    *others = OneOf(sizes);
    *all = std::max(*others, *all);
  }

  std::string MatrixType() {
    if (wide_) return "f64";
    static const std::array<std::string, 9> kTypes = {"f32", "f32", "f32", "f32", "bf16",
                                                      "f16", "u8",  "s8",  "s32"};
    return OneOf(kTypes);
  }

  // A matrix of this shape, but for the size that nothing else has to agree with; perhaps the transposed one.
  int Matrix(const Dims& dims, const std::vector<std::string>& types) {
    Dims turned = dims;
    std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
    const auto has_type = [&](const GrammarValue& x) {
      return std::find(types.begin(), types.end(), x.type) != types.end();
    };
    if (Chance(1, 3)) {
      const bool turns = Chance(1, 2);
      const int there =
          Existing([&](const GrammarValue& x) { return has_type(x) && x.dims == (turns ? turned : dims); });
      if (there >= 0) return turns ? Turned(there) : there;
    }
    const std::string type = OneOf(types);
    if (Chance(1, 4)) return Turned(Parameter(type, turned));
    if (type == Real() && Chance(1, 6)) return Make("cast", {Parameter(AnyType(), dims)}, {}, dims, type);
    return Parameter(type, dims);
  }

  int Turned(int x) {
    Dims dims = At(x).dims;
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return Make("transpose", {x}, {}, dims, At(x).type);
  }
  void Transpose() {
    Turned(Operand([](const GrammarValue& x) { return x.dims.size() >= 2 && PlainTypeOf(x.type).is_result; },
                   FloatType(), Shape(2)));
  }

  void Reduction() { Reduce(Floats(1), false); }
  void Reduce(int x, bool all) {
    static const std::array<std::string, 3> kOps = {"reduce_sum", "reduce_max", "reduce_mean"};
    Dims dims = At(x).dims;
    std::vector<uint32_t> axes(dims.size());
    std::iota(axes.begin(), axes.end(), 0u);
    std::shuffle(axes.begin(), axes.end(), random_);
    if (!all) axes.resize(1 + (Chance(1, 3) ? Below(axes.size()) : 0));
    Options options;
    for (uint32_t axis : axes) {
      options.push_back({"axis", Cat(axis)});
      dims[axis] = 1;
    }
    Make(OneOf(kOps), {x}, options, dims);
  }

  // Another spelling of a number that has a usual one, which may be left out.
  void Say(Options* options, const char* name, uint32_t number, uint32_t usual) {
    if (number != usual || Chance(1, 4)) options->push_back({name, Cat(number)});
  }

  // A slice, a pad, or two tensors one behind the other.
  void Copy() {
    const auto suits = [&](const GrammarValue& x) {
      return !x.dims.empty() && PlainTypeOf(x.type).is_result;
    };
    const bool float_type = wide_ || Chance(3, 4);
    const int x = Operand(suits, float_type ? FloatType() : IntegerType(), Shape(1));
    Dims dims = At(x).dims;
    const uint32_t axis = Below(dims.size());
    const std::string type = At(x).type;
    Options options = {{"axis", Cat(axis)}};
    const uint32_t way = Below(5);
    if (way < 2) {
      const uint32_t from = Chance(1, 3) ? 0 : Below(dims[axis]),
                     to = Chance(1, 3) ? dims[axis] : from + 1 + Below(dims[axis] - from),
                     step = Chance(1, 2) ? 1 : 1 + Below(4);
      Say(&options, "from", from, 0);
      Say(&options, "to", to, dims[axis]);
      Say(&options, "step", step, 1);
      dims[axis] = (to - from + step - 1) / step;
      std::shuffle(options.begin(), options.end(), random_);
      Make("slice", {x}, options, dims, type);
    } else if (way < 4) {
      const auto goes = [&](const GrammarValue& y) {
        Dims other = y.dims;
        if (axis < other.size()) other[axis] = dims[axis];
        return y.type == type && other == dims;
      };
      Dims fresh = dims;
      fresh[axis] = Size();
      const int y = Operand(goes, type, fresh);
      dims[axis] += At(y).dims[axis];
      if (Elements(dims) <= kMostElements) Make("concat", {x, y}, options, dims, type);
    } else {
      static const std::array<std::string, 4> kNumbers = {"0.1", "-2", "inf", "-inf"};
      const uint32_t before = Below(4), after = Below(4);
      Say(&options, "before", before, 0);
      Say(&options, "after", after, 0);
      if (Chance(1, 2)) options.push_back({"value", IsFloat(At(x)) ? OneOf(kNumbers) : "7"});
      dims[axis] += before + after;
      if (Elements(dims) <= kMostElements) Make("pad", {x}, options, dims, type);
    }
  }

  void Window() {
    int x = Chance(1, 6) ? Integers() : Floats(1);
    Dims dims = At(x).dims;
    if (dims.empty()) return;
    const uint32_t axis = Below(dims.size()), before = Below(3), after = Below(3),
                   dilation = 1 + Below(5) / 4, padded = dims[axis] + before + after,
                   size = 1 + Below(std::min(5u, (padded - 1) / dilation + 1)), stride = 1 + Below(6) / 4;
    Options options = {{"axis", Cat(axis)}, {"size", Cat(size)}};
    Say(&options, "stride", stride, 1);
    Say(&options, "dilation", dilation, 1);
    Say(&options, "before", before, 0);
    Say(&options, "after", after, 0);
    std::shuffle(options.begin(), options.end(), random_);
    dims[axis] = (padded - (size - 1) * dilation - 1) / stride + 1;
    if (Elements(dims) <= kMostElements) Make(Chance(1, 2) ? "window_max" : "window_sum", {x}, options, dims);
  }

  // An argument in brackets is an option without a name.
  static Options InBrackets(const Dims& numbers) {
    return {{"", Cat("[", absl::StrJoin(numbers, ","), "]")}};
  }

  // Axes in another order, another shape, or repeated axes; often one of these after the other.
  void Rearranged() {
    int x = Operand([](const GrammarValue& value) { return PlainTypeOf(value.type).is_result; },
                    wide_ || Chance(3, 4) ? FloatType() : IntegerType(), Shape(0));
    do {
      const std::string type = At(x).type;
      Dims dims = At(x).dims;
      const uint32_t way = Below(5);
      if (way < 2) {
        Dims order(dims.size()), permuted;
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), random_);
        for (const uint32_t axis : order) permuted.push_back(dims[axis]);
        x = Make("permute", {x}, InBrackets(order), permuted, type);
      } else if (way < 4) {
        dims = Split(Elements(dims));
        x = Make("reshape", {x}, InBrackets(dims), dims, type);
      } else {
        for (uint32_t& size : dims)
          if (size == 1 && Chance(1, 2)) size = Size();
        if (dims.size() < kMostAxes && Chance(1, 2)) dims.insert(dims.begin(), Size());
        if (Elements(dims) > kMostElements) return;
        x = Make("broadcast", {x}, InBrackets(dims), dims, type);
      }
    } while (Chance(1, 2) && Made() < kMostOperations);
  }

  // Axes of so many elements together.
  Dims Split(int64_t elements) {
    Dims dims;
    while (dims.size() < kMostAxes && Chance(3, 4)) {
      std::vector<uint32_t> divisors;
      for (uint32_t size = 1; size <= elements; ++size)
        if (elements % size == 0) divisors.push_back(size);
      dims.push_back(OneOf(divisors));
      elements /= dims.back();
    }
    if (elements > 1 || Chance(1, 4)) dims.push_back(static_cast<uint32_t>(elements));
    std::shuffle(dims.begin(), dims.end(), random_);
    return dims;
  }

  // At indices that are the same for all, or not; some are beyond the axis.
  void Taken() {
    const int x = Operand(
        [](const GrammarValue& value) { return !value.dims.empty() && PlainTypeOf(value.type).is_result; },
        wide_ || Chance(3, 4) ? FloatType() : IntegerType(), Shape(1));
    Dims dims = At(x).dims;
    const uint32_t axis = Below(dims.size()), count = Size();
    Dims of_indices = {count};
    if (Chance(1, 2)) of_indices.insert(of_indices.begin(), dims.begin(), dims.begin() + axis);
    const std::string type = At(x).type;
    dims[axis] = count;
    if (Elements(dims) > kMostElements) return;
    const int at =
        Operand([&](const GrammarValue& value) { return value.type == "s32" && value.dims == of_indices; },
                "s32", of_indices);
    Make("take", {x, at}, {{"axis", Cat(axis)}}, dims, type);
  }

  void Cumsum() {
    const int x = Chance(1, 6) ? Integers() : Floats(1);
    if (At(x).dims.empty()) return;
    Make("cumsum", {x}, {{"axis", Cat(Below(At(x).dims.size()))}});
  }

  void Place() {
    if (wide_) return;
    const int x = Floats(1);
    Dims dims = At(x).dims;
    const uint32_t axis = Below(dims.size());
    dims[axis] = 1;
    Make(Chance(1, 2) ? "argmax" : "argmin", {x}, {{"axis", Cat(axis)}}, dims, "s32");
  }

  void Softmax() { Make("softmax", {Floats(1)}); }

  void Norm() {
    static const std::array<std::string, 3> kEps = {"1e-3", "0.1", "1e-12"};
    const int x = Floats(1);
    const Dims vector = {At(x).dims.back()};
    const auto next = [&] {
      return Operand([&](const GrammarValue& y) { return IsReal(y) && y.dims == vector; }, FloatType(),
                     vector);
    };
    const Options options = Chance(1, 3) ? Options{{"eps", OneOf(kEps)}} : Options{};
    const int scale = next();
    if (Chance(1, 2)) {
      Make("rmsnorm", {x, scale}, options);
    } else {
      const int shift = next();
      Make("layernorm", {x, scale, shift}, options);
    }
  }

  void Cast() {
    const int x = Operand([](const GrammarValue&) { return true; }, AnyType(), Shape(0));
    const std::string type = IsFloat(At(x)) || Chance(1, 3) ? ResultType() : WordFloatType();
    Make("cast", {x}, {}, At(x).dims, type);
  }
  // Through a type that holds less, and back.
  void Narrowed() {
    const int x = Make("cast", {Floats()}, {}, std::nullopt, ResultType());
    Make("cast", {x}, {}, At(x).dims, Real());
  }

  void Convolution() {
    static constexpr std::array<size_t, 6> kAxes = {2, 2, 2, 2, 1, 3};
    const size_t axes = OneOf(kAxes);
    const bool last = Chance(1, 2);  // channels
    const auto suits = [&](const GrammarValue& x) { return x.dims.size() == axes + 2 && x.type == "f32"; };
    Dims drawn = {1 + Below(2)};
    for (size_t axis = 0; axis < axes; ++axis) drawn.push_back(1 + Below(axes == 3 ? 6 : 14 + 3 * axis));
    drawn.insert(last ? drawn.end() : drawn.begin() + 1, 1 + Below(Chance(1, 2) ? 4 : 20));
    const int image = Operand(suits, "f32", drawn);
    const Dims dims = At(image).dims;
    const uint32_t c = dims[last ? axes + 1 : 1];
    std::vector<uint32_t> divisors;
    for (uint32_t i = 1; i <= c; ++i)
      if (c % i == 0) divisors.push_back(i);
    const uint32_t groups = Chance(1, 2) ? 1 : Chance(1, 2) ? c : OneOf(divisors);
    const uint32_t filters = groups * (1 + Below(groups > 4 ? 2 : 9));
    // A fifth of those in one group. Nothing is drawn for it, so all other graphs are what they were without.
    const bool transposed = groups == 1 && filters % 4 == 0;
    const auto alike_or_not = [&](const auto& draw) {
      Dims numbers(axes, draw());
      if (Chance(1, 3))
        for (uint32_t& number : numbers) number = draw();
      return numbers;
    };
    const Dims stride = alike_or_not([&] { return 1 + Below(6) / 4 + Below(6) / 5; }),
               dilation = alike_or_not([&] { return 1 + Below(5) / 4; });
    Dims pad(2 * axes, Below(3));  // before each axis, then behind each
    if (Chance(1, 3))
      for (uint32_t& side : pad) side = Below(3);
    Dims taken, out = {dims[0]};
    uint32_t taps = 1;
    for (size_t axis = 0; axis < axes; ++axis) {
      const uint32_t size = dims[axis + (last ? 1 : 2)], pads = pad[axis] + pad[axes + axis];
      if (transposed) {
        taken.push_back(1 + Below(axes == 3 ? 3 : 4));
        const uint32_t whole = (size - 1) * stride[axis] + (taken.back() - 1) * dilation[axis] + 1;
        if (whole <= pads) return;
        out.push_back(whole - pads);
        taps *= taken.back();
        continue;
      }
      const uint32_t padded = size + pads;
      taken.push_back(1 + Below(std::min(axes == 3 ? 3u : 4u, (padded - 1) / dilation[axis] + 1)));
      out.push_back((padded - (taken.back() - 1) * dilation[axis] - 1) / stride[axis] + 1);
      taps *= taken.back();
    }
    out.insert(last ? out.end() : out.begin() + 1, filters);
    if (last)
      taken.insert(taken.end(), {c / groups, filters});
    else if (transposed)
      taken.insert(taken.begin(), {c, filters});
    else
      taken.insert(taken.begin(), {filters, c / groups});
    if (Elements(taken) > kMostElements || Elements(out) > kMostElements ||
        Elements(out) * c / groups * taps > kMostProducts)
      return;
    Options options;
    const auto option = [&](const char* name, const Dims& values, const char* sign, uint32_t usual) {
      const bool alike = std::count(values.begin(), values.end(), values[0]) == std::ssize(values);
      if (!alike || Chance(1, 8))
        options.push_back({name, absl::StrJoin(values, sign)});
      else if (values[0] != usual || Chance(1, 4))
        options.push_back({name, Cat(values[0])});
    };
    option("stride", stride, "x", 1);
    option("pad", pad, ",", 0);
    option("dilation", dilation, "x", 1);
    if (!transposed) option("groups", {groups}, "", 1);
    if (last || Chance(1, 4))
      options.push_back({"layout", std::string(kImageLayouts[axes - 1][last ? 1 : 0])});
    std::shuffle(options.begin(), options.end(), random_);
    const int weights =
        Operand([&](const GrammarValue& x) { return x.type == "f32" && x.dims == taken; }, "f32", taken);
    Make(Cat("conv", axes, transposed ? "d_transpose" : "d"), {image, weights}, options, out);
  }

  // An operation that there is already.
  void Again() {
    const int x = Existing([](const GrammarValue& value) { return !value.op.empty(); });
    if (x < 0) return;
    const GrammarValue same = At(x);
    MakeOf(same.op, same.arguments, same.options, same.dims, same.type);
  }

  // Makes one value of all that have no use.
  void Join() {
    while (parameters_ + 2 <= kMostParameters && Made() < kMostOperations) {
      std::vector<int> loose;
      for (int i = 0; i < static_cast<int>(values_.size()); ++i)
        if (!At(i).op.empty() && !IsUsed(i)) loose.push_back(i);
      if (loose.size() < 2) return;
      const int a = loose[loose.size() - 2], b = loose.back();
      if (IsFloat(At(a)) != IsFloat(At(b)) || IsWide(At(a)) != IsWide(At(b))) {
        // The narrower one is cast. Integers become f64 by way of f32.
        const int other = IsReal(At(a)) || (IsFloat(At(a)) && !IsFloat(At(b))) ? b : a;
        Make("cast", {other}, {}, At(other).dims, IsFloat(At(other)) ? Real() : "f32");
      } else if (const std::optional<Dims> both = Together(At(a).dims, At(b).dims);
                 both && Elements(*both) <= kMostElements) {
        static const std::array<std::string, 5> kOps = {"add", "sub", "mul", "max", "min"};
        Make(OneOf(kOps), Chance(1, 2) ? std::vector{a, b} : std::vector{b, a}, {}, both);
      } else {
        const int large = Elements(At(a).dims) > Elements(At(b).dims) ? a : b;
        Reduce(IsFloat(At(large)) ? large : Make("cast", {large}, {}, At(large).dims, "f32"), true);
      }
    }
  }
  bool IsUsed(int value) const {
    return std::any_of(values_.begin(), values_.end(), [value](const GrammarValue& user) {
      return std::any_of(user.arguments.begin(), user.arguments.end(),
                         [value](const GrammarArgument& argument) { return argument.value == value; });
    });
  }

  // The last value is the result. Most kernels have nothing that it is not made of.
  GrammarGraph Finished() {
    DropUnfinished();
    std::vector<bool> kept(values_.size(), Chance(1, 10));
    kept.back() = true;
    for (size_t i = values_.size(); i-- > 0;)
      for (const GrammarArgument& argument : values_[i].arguments)
        if (kept[i] && argument.value >= 0) kept[static_cast<size_t>(argument.value)] = true;
    GrammarGraph graph;
    std::map<int, int> place;
    for (const bool parameters : {true, false})
      for (size_t i = 0; i < values_.size(); ++i) {
        if (!kept[i] || values_[i].op.empty() != parameters) continue;
        place[static_cast<int>(i)] = static_cast<int>(graph.values.size());
        graph.values.push_back(values_[i]);
        graph.parameters += parameters ? 1 : 0;
        for (GrammarArgument& argument : graph.values.back().arguments)
          if (argument.value >= 0) argument.value = place.at(argument.value);
      }
    graph.result = static_cast<int>(graph.values.size()) - 1;
    DrawOthers(&graph);
    DrawStrides(&graph);
    return graph;
  }

  // One kernel in four returns some of the values between, too. Drawn by numbers of its own, as strides are.
  void DrawOthers(GrammarGraph* graph) {
    std::mt19937 random = random_;
    random.discard(2);
    if (graph->at(graph->result).op.empty() || random() % 4 != 0) return;
    for (int value = graph->parameters; value < graph->result && graph->others.size() < 3; ++value)
      if (random() % 3 == 0 && !IsOfBlocks(graph->at(value)) && PlainTypeOf(graph->at(value).type).is_result)
        graph->others.push_back(value);
    std::shuffle(graph->others.begin(), graph->others.end(), random);
  }

  // Some of the parameters and results of one kernel in three do not lie row by row. Drawn by numbers of its
  // own, so that kernels are what they would be without.
  void DrawStrides(GrammarGraph* graph) {
    std::mt19937 random = random_;
    random.discard(1);
    if (random() % 3 != 0) return;
    for (int i = 0; i < graph->parameters; ++i)
      if (random() % 2 == 0) SetStrides(random, &graph->values[static_cast<size_t>(i)]);
    for (int value : graph->results()) {
      GrammarValue& result = graph->values[static_cast<size_t>(value)];
      if (!result.op.empty() && random() % 2 == 0) SetStrides(random, &result);
    }
  }

  // The axes but the last in any order in memory, with gaps or without. More than four lie row by row.
  static void SetStrides(std::mt19937& random, GrammarValue* value) {
    if (value->dims.empty() || value->dims.size() > 4 || IsOfBlocks(*value)) return;
    const size_t last = value->dims.size() - 1;
    std::vector<size_t> axes(last);
    std::iota(axes.rbegin(), axes.rend(), 0u);
    if (random() % 2 == 0) std::shuffle(axes.begin(), axes.end(), random);
    value->strides.assign(last + 1, 1);
    int64_t reach = value->dims[last];
    for (size_t axis : axes) {
      if (random() % 2 == 0) reach += random() % (random() % 2 == 0 ? 3 : 40);
      value->strides[axis] = static_cast<uint32_t>(reach);
      reach *= value->dims[axis];
    }
    if (reach > kMostReach) value->strides.clear();
  }

  std::mt19937& random_;
  const GrammarWeights weights_;
  std::array<uint32_t, 3> sizes_;
  bool wide_ = false;  // floats are computed in f64
  std::vector<GrammarValue> values_;
  int parameters_ = 0;
};

}  // namespace

int64_t GrammarValue::elements() const { return Elements(dims); }

int64_t GrammarValue::PlaceOf(int64_t element) const {
  if (strides.empty()) return element;
  int64_t place = 0;
  for (size_t axis = dims.size(); axis-- > 0; element /= dims[axis])
    place += element % dims[axis] * strides[axis];
  return place;
}

double GrammarValue::Option(const std::string& option, double otherwise) const {
  double number = otherwise;
  for (const auto& [name, value] : options)
    if (name == option && !absl::SimpleAtod(value, &number)) return otherwise;
  return number;
}

GrammarGraph RandomGrammarGraph(int operations, std::mt19937& random, GrammarWeights weights) {
  return GraphDrawer(random, weights).Draw(operations);
}

}  // namespace kirsch::testing
