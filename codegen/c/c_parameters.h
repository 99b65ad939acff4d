// SPDX-License-Identifier: Apache-2.0
// The parameters of a macro that stands for several texts: how the numbers of each follow from few.
#ifndef KIRSCH_CODEGEN_C_C_PARAMETERS_H_
#define KIRSCH_CODEGEN_C_C_PARAMETERS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "codegen/c/c_pattern.h"

namespace kirsch {

inline constexpr size_t kNone = std::numeric_limits<size_t>::max();

class Parameters {
 public:
  // `texts` are of one shape: the holes of each, in order; two at least.
  explicit Parameters(absl::Span<const std::vector<Hole>> texts);

  size_t size() const { return sources_.size(); }
  // Do the text's numbers follow from its arguments?
  bool Hold(const std::vector<Hole>& text) const;
  // Of the call that stands for the text.
  Number Argument(size_t parameter, const std::vector<Hole>& text) const;
  bool IsPasted(size_t parameter) const { return pasted_[parameter]; }
  // What is in the holes of the macro.
  Number Value(size_t hole) const;

 private:
  using Column = std::vector<Number>;  // the same hole, or argument, of all texts

  // A parameter is what is in one hole, less what is in another, if there is one.
  struct Source {
    size_t hole, less = kNone;
  };
  // times * parameter + more * other + plus, both parameters if there are any
  struct Rule {
    size_t parameter = kNone, other = kNone;
    int64_t times = 0, more = 0;
    Number plus = {};
  };

  Column ColumnOf(size_t hole) const;
  Column ColumnOf(const Source& source) const;
  void AddRules();
  bool Follows(size_t hole, Rule* rule) const;
  // The parameters whose columns lie in a line, or plane, with the hole's.
  bool FollowsFromOne(const Column& column, Rule* rule) const;
  bool FollowsFromTwo(const Column& column, Rule* rule) const;
  bool Fits(const Column& column, Rule* rule) const;
  // Of the parameters that could be added to the hole's, the one from which most of the next holes follow.
  void AddParameterFor(absl::Span<const size_t> holes);
  size_t CountFollowing(absl::Span<const size_t> holes) const;
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
