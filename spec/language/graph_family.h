// SPDX-License-Identifier: Apache-2.0
// A family of graphs: one kernel in the kernel language for many sizes, "kernel mlp[m = 1..64](x: f32[m,512],
// ...", or a shorthand with ranges for some of its sizes, "softmax f32 1..32x1024". Constant parameters are
// every member's, so that they may be packed once for all.
#ifndef KIRSCH_SPEC_LANGUAGE_GRAPH_FAMILY_H_
#define KIRSCH_SPEC_LANGUAGE_GRAPH_FAMILY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/graph/graph.h"
#include "spec/language/graph_parser.h"
#include "spec/language/mixture.h"
#include "spec/language/varying_size.h"
#include "spec/text/text.h"

namespace kirsch {

// A value; thread-safe to read.
class GraphFamily {
 public:
  GraphFamily() = default;
  explicit GraphFamily(Graph single);  // a family of one

  const std::string& name() const { return name_; }  // the kernel's
  // As it was written, line after line, without comments. A single kernel's is PrintGraph's.
  const std::string& text() const { return text_; }
  const std::vector<VaryingSize>& sizes() const { return sizes_; }  // those that have several values
  // Of each of these, how often its values are asked for, whatever the others are; empty: all evenly. What
  // constants are packed for.
  const std::vector<std::vector<SizeShare>>& mixtures() const { return mixtures_; }

  int64_t count() const { return static_cast<int64_t>(members_.size()); }
  // Member 0 <= index < count(), the last size varying fastest; called as MemberName says.
  const Graph& member(int64_t index) const { return members_[static_cast<size_t>(index)]; }
  // One with such values of the sizes, which need not be among those that are looked at.
  Graph MemberOf(absl::Span<const uint32_t> values) const;

 private:
  using Parse = std::function<absl::StatusOr<Graph>(absl::Span<const uint32_t> values)>;

  friend absl::StatusOr<GraphFamily> ParseGraphFamily(absl::Span<const Word> lines, std::string_view source);
  friend absl::StatusOr<GraphFamily> ParseShorthandFamily(const Word& text, std::string_view source);
  static absl::StatusOr<GraphFamily> Parsed(std::string_view source, KernelHead head, std::string text,
                                            TextPosition position, const Parse& parse);

  std::string name_, text_;
  std::vector<VaryingSize> sizes_;
  std::vector<std::vector<SizeShare>> mixtures_;
  std::vector<Graph> members_;
  Parse parse_;  // of the values of `sizes_`; empty: there are none
};

// Reads a kernel, with names for sizes or without: a single kernel is a family of one. Errors as of
// ParseGraph; one that not all members have names the sizes of the first that has it.
absl::StatusOr<GraphFamily> ParseGraphFamily(absl::Span<const Word> lines, std::string_view source);

// Reads a shorthand, as ParseGraphShorthand does; RangesOf says what may vary.
absl::StatusOr<GraphFamily> ParseShorthandFamily(const Word& text, std::string_view source);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_GRAPH_FAMILY_H_
