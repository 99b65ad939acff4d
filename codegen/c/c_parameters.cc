// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_parameters.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "spec/check.h"

namespace kirsch {
namespace {

// With more parameters than this, a number may follow from one other, but not from two.
constexpr size_t kFew = 8;

// An equation for two unknown factors: a * first + b * second = c.
struct Equation {
  int64_t a = 0, b = 0, c = 0;
};

// Returns equations for the factors of two parameters that give the column: column = first * a + second * b +
// a constant. The constant is unknown, so constants are compared with those of the first text. The texts may
// have parameters of their own, in which the factors must agree, too.
std::vector<Equation> MakeEquations(const std::vector<Number>& a, const std::vector<Number>& b,
                                    const std::vector<Number>& column) {
  std::vector<Equation> equations;
  const auto of_terms = [&](size_t text, const Number& in) {
    for (const Term& term : in.terms)
      equations.push_back({a[text].Times(term), b[text].Times(term), column[text].Times(term)});
  };
  for (size_t text = 0; text < column.size(); ++text) {
    for (const Number* in : {&a[text], &b[text], &column[text]}) of_terms(text, *in);
    equations.push_back({a[text].constant - a[0].constant, b[text].constant - b[0].constant,
                         column[text].constant - column[0].constant});
  }
  return equations;
}

// Returns the quotient, if it is a natural number and not 0.
std::optional<int64_t> Ratio(int64_t of, int64_t by) {
  if (by == 0 || of % by != 0 || of / by <= 0) return std::nullopt;
  return of / by;
}

// True if neither its constant nor a factor is negative.
bool IsNatural(const Number& number) {
  return number.constant >= 0 &&
         std::ranges::all_of(number.terms, [](const Term& term) { return term.times > 0; });
}

bool AllEqual(const std::vector<Number>& column) {
  return std::ranges::all_of(column, [&](const Number& number) { return number == column[0]; });
}

}  // namespace

Parameters::Parameters(absl::Span<const std::vector<Hole>> texts) : texts_(texts), rules_(texts[0].size()) {
  AddRules();
  // After this the texts are not needed: rules and sources tell all.
  for (const Source& source : sources_) pasted_.push_back(texts[0][source.hole].pasted);
  texts_ = {};
}

Parameters::Column Parameters::ColumnOf(size_t hole) const {
  Column column;
  for (const std::vector<Hole>& text : texts_) column.push_back(text[hole].value);
  return column;
}

Parameters::Column Parameters::ColumnOf(const Source& source) const {
  Column column = ColumnOf(source.hole);
  // The difference of two holes, text by text.
  if (source.less == kNone) return column;
  const Column less = ColumnOf(source.less);
  for (size_t i = 0; i < column.size(); ++i) column[i] = Sum(-1, less[i], column[i]);
  return column;
}

// Finds a rule for each hole, in an order that makes simple numbers parameters. Pasted holes are first, as
// they follow from nothing but equal ones. Then smaller numbers come before larger ones, so that a stride
// becomes the parameter, and its multiples follow.
void Parameters::AddRules() {
  std::vector<size_t> holes(rules_.size());
  std::iota(holes.begin(), holes.end(), size_t{0});
  std::vector<std::pair<int64_t, int64_t>> ranks;
  for (size_t hole : holes) {
    std::pair<int64_t, int64_t> rank = {texts_[0][hole].pasted ? -1 : 0, 0};
    for (const Number& number : ColumnOf(hole)) {
      for (const Term& term : number.terms) rank.first += rank.first < 0 ? 0 : term.times;
      rank.second += number.constant;
    }
    ranks.push_back(rank);
  }
  // Equal ranks keep the order of the text, so the result is deterministic.
  std::ranges::stable_sort(holes, [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
  for (size_t i = 0; i < holes.size(); ++i) {
    // Each hole that does not follow yet gets a parameter from which it does.
    if (Follows(holes[i], &rules_[holes[i]])) continue;
    AddParameterFor(absl::MakeConstSpan(holes).subspan(i));
    KIRSCH_CHECK(Follows(holes[i], &rules_[holes[i]]));
  }
}

bool Parameters::Follows(size_t hole, Rule* rule) const {
  const Column column = ColumnOf(hole);
  // A number that is the same in all texts needs no parameter.
  if (AllEqual(column) && column[0].IsConstant()) {
    *rule = {kNone, kNone, 0, 0, column[0]};
    return true;
  }
  if (!texts_[0][hole].pasted)
    return FollowsFromOne(column, rule) || FollowsFromProduct(column, rule) || FollowsFromTwo(column, rule);
  // A name cannot be computed: its number has to be a parameter as it is.
  const auto same = std::ranges::find(columns_, column);
  *rule = {static_cast<size_t>(same - columns_.begin()), kNone, 1, 0, {}};
  return same != columns_.end();
}

bool Parameters::FollowsFromOne(const Column& column, Rule* rule) const {
  for (size_t parameter = 0; parameter < size(); ++parameter) {
    *rule = {parameter};
    if (IsMultiple(column, columns_[parameter], rule)) return true;
  }
  return false;
}

// Offsets are products of how many rows there are before and of their stride.
bool Parameters::FollowsFromProduct(const Column& column, Rule* rule) const {
  if (size() > kFew) return false;
  for (size_t parameter = 0; parameter < size(); ++parameter)
    for (size_t other = 0; other < parameter; ++other) {
      Column products;
      for (size_t i = 0; i < column.size(); ++i)
        if (const auto product = Product(columns_[parameter][i], columns_[other][i]))
          products.push_back(*product);
      *rule = {parameter, other};
      if (products.size() == column.size() && IsMultiple(column, products, rule)) return true;
    }
  return false;
}

bool Parameters::IsMultiple(const Column& column, const Column& of, Rule* rule) const {
  const Column nothing(column.size());
  // The first equation that has the factor tells it. Fits() checks it against all texts.
  for (const Equation& equation : MakeEquations(of, nothing, column)) {
    if (equation.a == 0) continue;
    const std::optional<int64_t> times = Ratio(equation.c, equation.a);
    rule->times = times.value_or(0);
    return times && Fits(column, rule);
  }
  return false;
}

bool Parameters::FollowsFromTwo(const Column& column, Rule* rule) const {
  if (size() > kFew) return false;
  for (size_t parameter = 0; parameter < size(); ++parameter)
    for (size_t other = 0; other < parameter; ++other) {
      // Two independent equations tell both factors, by Cramer's rule. Fits() checks them against all texts.
      const std::vector<Equation> equations = MakeEquations(columns_[parameter], columns_[other], column);
      const auto first = std::ranges::find_if(
          equations, [](const Equation& equation) { return equation.a != 0 || equation.b != 0; });
      const auto second = std::find_if(first, equations.end(), [&](const Equation& equation) {
        return first->a * equation.b != first->b * equation.a;
      });
      if (second == equations.end()) continue;
      const int64_t of = first->a * second->b - first->b * second->a;
      const std::optional<int64_t> times = Ratio(first->c * second->b - first->b * second->c, of),
                                   more = Ratio(first->a * second->c - first->c * second->a, of);
      *rule = {parameter, other, times.value_or(0), more.value_or(0), {}};
      if (times && more && Fits(column, rule)) return true;
    }
  return false;
}

template <typename NumberOf>
std::optional<Number> Parameters::Explained(const Rule& rule, const NumberOf& number) {
  if (rule.parameter == kNone) return Number{};
  const Number first = number(rule.parameter);
  if (rule.other == kNone) return Sum(rule.times, first, {});
  const Number second = number(rule.other);
  if (rule.more != 0) return Sum(rule.times, first, Sum(rule.more, second, {}));
  const std::optional<Number> product = Product(first, second);
  return product ? std::optional(Sum(rule.times, *product, {})) : std::nullopt;
}

// Sets what is left, if that is one constant that C's int has room for.
bool Parameters::Fits(const Column& column, Rule* rule) const {
  Column left = column;
  for (size_t i = 0; i < left.size(); ++i)
    left[i] = Sum(-1, *Explained(*rule, [&](size_t parameter) { return columns_[parameter][i]; }), left[i]);
  rule->plus = left[0];
  const int64_t plus = left[0].constant;
  return AllEqual(left) && left[0].IsConstant() && plus <= kMostNumber && plus >= -kMostNumber;
}

void Parameters::AddParameterFor(absl::Span<const size_t> holes) {
  Source best{holes[0]};
  if (!texts_[0][holes[0]].pasted && size() < kFew) {
    // The hole's number itself, or its distance from a source: the distance between rows is the stride.
    std::vector<Source> choices = {best};
    for (const Source& source : sources_)
      if (source.less == kNone && !texts_[0][source.hole].pasted) choices.push_back({holes[0], source.hole});
    size_t most = 0;
    for (const Source& choice : choices) {
      Push(choice);
      // Distances may be negative in some text; then they are no choice.
      const bool natural = std::ranges::all_of(columns_.back(), IsNatural);
      Rule rule;
      const size_t count = natural && Follows(holes[0], &rule) ? CountFollowing(holes) : 0;
      Pop();
      if (count <= most) continue;
      most = count;
      best = choice;
    }
  }
  Push(best);
}

size_t Parameters::CountFollowing(absl::Span<const size_t> holes) const {
  Rule rule;
  return static_cast<size_t>(std::ranges::count_if(holes, [&](size_t hole) { return Follows(hole, &rule); }));
}

void Parameters::Push(const Source& source) {
  columns_.push_back(ColumnOf(source));
  sources_.push_back(source);
}

void Parameters::Pop() {
  columns_.pop_back();
  sources_.pop_back();
}

bool Parameters::Hold(const std::vector<Hole>& text) const {
  for (size_t hole = 0; hole < rules_.size(); ++hole) {
    const auto explained =
        Explained(rules_[hole], [&](size_t parameter) { return Argument(parameter, text); });
    // The part that the parameters don't explain must be the rule's constant.
    if (!explained || Sum(-1, *explained, text[hole].value) != rules_[hole].plus) return false;
  }
  return std::ranges::all_of(sources_, [&](const Source& source) {
    return source.less == kNone || IsNatural(Sum(-1, text[source.less].value, text[source.hole].value));
  });
}

Number Parameters::Argument(size_t parameter, const std::vector<Hole>& text) const {
  const Source& source = sources_[parameter];
  const Number& number = text[source.hole].value;
  return source.less == kNone ? number : Sum(-1, text[source.less].value, number);
}

Number Parameters::Value(size_t hole) const {
  const auto explained = Explained(rules_[hole], [](size_t parameter) { return Number{0, {{parameter}}}; });
  return Sum(1, *explained, rules_[hole].plus);
}

}  // namespace kirsch
