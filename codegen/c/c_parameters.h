// SPDX-License-Identifier: Apache-2.0
// Finds the parameters of a macro that stands for several texts of one shape: how the numbers of each text
// follow from few of them. With fewer parameters calls are shorter.
//
// For example, three texts with the numbers
//   0, 100, 200, 5      16, 3016, 6016, 5      64, 764, 1464, 5
// have two parameters: _z1 is the first number, _z2 the second less the first. The macro's holes are
//   _z1, (_z1+_z2), (_z1+2*_z2), 5      and the calls (0,100), (16,3000), (64,700)
#ifndef KIRSCH_CODEGEN_C_C_PARAMETERS_H_
#define KIRSCH_CODEGEN_C_C_PARAMETERS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "codegen/c/c_pattern.h"

namespace kirsch {

// No parameter, hole, statement or macro: of numbers that begin with 0.
inline constexpr size_t kNone = std::numeric_limits<size_t>::max();

// The parameters of one macro. Factors in its expressions are natural numbers.
class Parameters {
 public:
  // `texts`: the holes of each text, in order, two texts at least. All are of one shape, so the same hole of
  // each is pasted or none. They are needed only here.
  explicit Parameters(absl::Span<const std::vector<Hole>> texts);

  size_t size() const { return sources_.size(); }
  // True if the text's numbers follow from its own arguments, so that the macro may stand for it, too.
  bool Hold(const std::vector<Hole>& text) const;
  // Returns the argument of the call that stands for the text.
  Number Argument(size_t parameter, const std::vector<Hole>& text) const;
  // True if the parameter is pasted into names: its argument must be a constant or a parameter itself.
  bool IsPasted(size_t parameter) const { return pasted_[parameter]; }
  // Returns the macro's expression for that hole.
  Number Value(size_t hole) const;

 private:
  using Column = std::vector<Number>;  // the same hole, or argument, of all texts

  // Where an argument is found in a text: it is the number in one hole, less that in another, if there is
  // one.
  struct Source {
    size_t hole, less = kNone;
  };
  // How a hole's number follows: times * parameter + more * other + plus. kNone: it does not need that
  // parameter.
  struct Rule {
    size_t parameter = kNone, other = kNone;
    int64_t times = 0, more = 0;
    Number plus = {};
  };

  Column ColumnOf(size_t hole) const;
  Column ColumnOf(const Source& source) const;
  void AddRules();
  // True if the hole's numbers follow from the parameters that there are, for all texts; then sets the rule.
  bool Follows(size_t hole, Rule* rule) const;
  // True if the column is a multiple of one parameter's column, or a sum of multiples of two, up to a
  // constant.
  bool FollowsFromOne(const Column& column, Rule* rule) const;
  bool FollowsFromTwo(const Column& column, Rule* rule) const;
  // True if the rule's factors leave the same constant in all texts; then sets `plus`.
  bool Fits(const Column& column, Rule* rule) const;
  // Adds a parameter from which the first of the holes follows. Several are possible: its number, or that
  // less the number of another source. The one is taken from which most of the holes follow.
  void AddParameterFor(absl::Span<const size_t> holes);
  size_t CountFollowing(absl::Span<const size_t> holes) const;
  // Add a parameter, and take the last one back, to try it.
  void Push(const Source& source);
  void Pop();

  absl::Span<const std::vector<Hole>> texts_;
  std::vector<Rule> rules_;  // by hole
  std::vector<Source> sources_;
  std::vector<Column> columns_;  // of the parameters
  std::vector<bool> pasted_;     // by parameter
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_PARAMETERS_H_
