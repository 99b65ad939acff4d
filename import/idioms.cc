// SPDX-License-Identifier: Apache-2.0
#include "import/idioms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/expression.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

struct Idiom {
  std::string_view expression;
  std::string_view operation;    // of x
  std::string_view option = "";  // its name; the number is the expression's `c`
  bool last_axis = false;        // reductions go along the last axis
};

constexpr auto kIdioms = std::to_array<Idiom>({
    {"div(exp(sub(x, reduce_max(x))), reduce_sum(exp(sub(x, reduce_max(x)))))", "softmax", "", true},
    {"div(1, add(1, exp(neg(x))))", "sigmoid"},
    {"mul(x, sigmoid(x))", "silu"},
    {"mul(x, mul(0.5, add(1, tanh(mul(0.7978846, add(x, mul(0.044715, mul(x, mul(x, x)))))))))", "gelu_tanh"},
    {"mul(mul(0.5, x), erfc(mul(neg(x), 0.70710677)))", "gelu"},
    {"mul(mul(0.5, x), add(1, erf(mul(x, 0.70710677))))", "gelu"},
    {"mul(x, div(min(6, max(0, add(x, 3))), 6))", "hardswish"},
    {"select(less(0, x), x, expm1(select(less(0, x), 0, x)))", "elu"},
    {"select(less(0, x), x, mul(c, expm1(select(less(0, x), 0, x))))", "elu", "alpha"},
    {"select(less_equal(0, x), x, mul(c, x))", "leaky_relu", "slope"},
    {"select(sub(1, equal(x, x)), x, add(max(x, 0), log1p(exp(neg(abs(x))))))", "softplus"},
});

const std::vector<Expression>& Expressions() {
  static const std::vector<Expression>* const expressions = [] {
    auto* parsed = new std::vector<Expression>;
    for (const Idiom& idiom : kIdioms) parsed->push_back(ParseExpression(idiom.expression));
    return parsed;
  }();
  return *expressions;
}

bool Commutes(const std::string& operation) {
  for (const char* name : {"add", "mul", "max", "min", "equal"})
    if (operation == name) return true;
  return false;
}

// Matches an expression with values of the writer. Variables keep what they met first.
class Matcher {
 public:
  Matcher(const KernelWriter& writer, bool last_axis) : writer_(writer), last_axis_(last_axis) {}

  bool Match(const Expression& expression, const KernelValue& value) {
    if (expression.kind != Expression::Kind::kCall || value.parameter || expression.name != value.operation ||
        expression.arguments.size() != value.arguments.size() || !OptionsMatch(value))
      return false;
    const auto before = met_;
    if (MatchArguments(expression, value, false)) return true;
    met_ = before;
    if (Commutes(expression.name) && MatchArguments(expression, value, true)) return true;
    met_ = before;
    return false;
  }

  // What the variable met; null if it is not in the expression.
  const KernelArgument* Find(const std::string& variable) const {
    const auto found = met_.find(variable);
    return found == met_.end() ? nullptr : &found->second;
  }

 private:
  bool OptionsMatch(const KernelValue& value) const {
    if (!last_axis_) return value.options.empty();
    if (value.options.empty()) return true;
    const KernelValue& reduced = writer_.at(value.arguments.front().value);
    return value.options.size() == 1 && value.options[0] == Cat("axis=", reduced.order.size() - 1);
  }

  bool MatchArguments(const Expression& expression, const KernelValue& value, bool exchanged) {
    for (size_t i = 0; i < expression.arguments.size(); ++i)
      if (!Match(expression.arguments[exchanged ? 1 - i : i], value.arguments[i])) return false;
    return true;
  }

  bool Match(const Expression& expression, const KernelArgument& argument) {
    switch (expression.kind) {
      case Expression::Kind::kNumber:
        // Constants are written with as many digits as their authors liked.
        return argument.number &&
               std::abs(*argument.number - expression.number) <= 1e-6 * std::abs(expression.number);
      case Expression::Kind::kVariable:
        if (argument.number.has_value() != (expression.name == "c")) return false;
        return met_.try_emplace(expression.name, argument).first->second == argument;
      case Expression::Kind::kCall:
        return !argument.number && !argument.transposed && Match(expression, writer_.at(argument.value));
    }
    return false;
  }

  const KernelWriter& writer_;
  const bool last_axis_;
  std::map<std::string, KernelArgument> met_;
};

}  // namespace

std::optional<KernelValue> FindIdiom(const KernelWriter& writer, const KernelValue& value) {
  for (size_t i = 0; i < kIdioms.size(); ++i) {
    const Idiom& idiom = kIdioms[i];
    Matcher matcher(writer, idiom.last_axis);
    if (!matcher.Match(Expressions()[i], value)) continue;
    KernelValue same = value;
    same.operation = idiom.operation;
    same.arguments = {*matcher.Find("x")};
    same.options = {};
    if (const KernelArgument* number = matcher.Find("c"))
      same.options.push_back(Cat(idiom.option, "=", PrintKernelNumber(*number->number)));
    // An operation along the last axis needs one, and of more than one element.
    if (idiom.last_axis && (value.order.empty() || value.order.back() == kUnit)) continue;
    return same;
  }
  return std::nullopt;
}

}  // namespace kirsch
