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
    for (const auto& [parameter, times] : in.terms)
      equations.push_back(
          {a[text].Times(parameter), b[text].Times(parameter), column[text].Times(parameter)});
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
         std::ranges::all_of(number.terms, [](const auto& term) { return term.second > 0; });
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
      for (const auto& term : number.terms) rank.first += rank.first < 0 ? 0 : term.second;
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
  if (!texts_[0][hole].pasted) return FollowsFromOne(column, rule) || FollowsFromTwo(column, rule);
  // A name cannot be computed: its number has to be a parameter as it is.
  const auto same = std::ranges::find(columns_, column);
  *rule = {static_cast<size_t>(same - columns_.begin()), kNone, 1, 0, {}};
  return same != columns_.end();
}

bool Parameters::FollowsFromOne(const Column& column, Rule* rule) const {
  const Column nothing(column.size());
  for (size_t parameter = 0; parameter < size(); ++parameter)
    // The first equation that has the factor tells it. Fits() checks it against all texts.
    for (const Equation& equation : MakeEquations(columns_[parameter], nothing, column)) {
      if (equation.a == 0) continue;
      const std::optional<int64_t> times = Ratio(equation.c, equation.a);
      *rule = {parameter, kNone, times.value_or(0), 0, {}};
      if (times && Fits(column, rule)) return true;
      break;
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

// Sets what is left, if that is one constant that C's int has room for.
bool Parameters::Fits(const Column& column, Rule* rule) const {
  Column left = column;
  for (size_t i = 0; i < left.size(); ++i) {
    left[i] = Sum(-rule->times, columns_[rule->parameter][i], left[i]);
    if (rule->other != kNone) left[i] = Sum(-rule->more, columns_[rule->other][i], left[i]);
  }
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
    const Rule& rule = rules_[hole];
    Number left = text[hole].value;
    // The part that the parameters don't explain must be the rule's constant.
    if (rule.parameter != kNone) left = Sum(-rule.times, Argument(rule.parameter, text), left);
    if (rule.other != kNone) left = Sum(-rule.more, Argument(rule.other, text), left);
    if (left != rule.plus) return false;
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
  const Rule& rule = rules_[hole];
  Number value = rule.plus;
  if (rule.parameter != kNone) value = Sum(rule.times, Number{0, {{rule.parameter, 1}}}, value);
  if (rule.other != kNone) value = Sum(rule.more, Number{0, {{rule.other, 1}}}, value);
  return value;
}

}  // namespace kirsch
