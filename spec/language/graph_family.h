// SPDX-License-Identifier: Apache-2.0
// Holds a family of graphs: one kernel for many sizes. Its text is a kernel in the kernel language whose
// sizes have names, or a shorthand with ranges:
//
//   kernel mlp[m = 1..64](x: f32[m,512], ...
//   softmax f32 1..32x1024
//
// Constant parameters have the same type in all members, so that they may be packed once for all. A size is a
// number in each member: a graph has no symbolic sizes, so members are parsed from the text, one by one.
#ifndef KIRSCH_SPEC_LANGUAGE_GRAPH_FAMILY_H_
#define KIRSCH_SPEC_LANGUAGE_GRAPH_FAMILY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/graph/graph.h"
#include "spec/language/kernel_head.h"
#include "spec/language/mixture.h"
#include "spec/language/varying_size.h"
#include "spec/text/text.h"

namespace kirsch {

// A value; thread-safe to read. Copies share the text that members are parsed from.
class GraphFamily {
 public:
  GraphFamily() = default;
  explicit GraphFamily(Graph single);  // a family of one

  const std::string& name() const { return name_; }  // the kernel's
  // The text as it was written, line after line, without comments. A single kernel's is PrintGraph's.
  const std::string& text() const { return text_; }
  const std::vector<VaryingSize>& sizes() const { return sizes_; }  // those that have several values
  const std::vector<TiedSize>& ties() const { return ties_; }       // sizes that are sums of these
  // For each size of sizes(): how often its values are asked for, whatever the others are. Empty: each as
  // often as the others. Constants are packed for that.
  const std::vector<std::vector<SizeShare>>& mixtures() const { return mixtures_; }

  int64_t count() const { return static_cast<int64_t>(members_.size()); }
  // Member 0 <= index < count(), the last size varying fastest; its name is as MemberName says.
  const Graph& member(int64_t index) const { return members_[static_cast<size_t>(index)]; }
  // The member with these values of sizes(), which lie between the first and the last. They need not be among
  // those that are looked at. Its name is the family's. An error: there is none, as where a size must be a
  // multiple of 32, which the values of a list are.
  absl::StatusOr<Graph> MemberOf(absl::Span<const uint32_t> values) const;
  // The same, with other values for ties(). They need not be those of the sums: so it is no member, but shows
  // what a tied size does while all others stay.
  absl::StatusOr<Graph> MemberOf(absl::Span<const uint32_t> values, absl::Span<const uint32_t> tied) const;
  // The values of ties() for these of sizes().
  std::vector<uint32_t> TiedValues(absl::Span<const uint32_t> values) const;

 private:
  // Makes a member from the values of its sizes, and then of its ties. It holds its own copy of the text.
  using Parse = std::function<absl::StatusOr<Graph>(absl::Span<const uint32_t> values)>;

  friend absl::StatusOr<GraphFamily> ParseGraphFamily(absl::Span<const Word> lines, std::string_view source);
  friend absl::StatusOr<GraphFamily> ParseShorthandFamily(const Word& text, std::string_view source);
  // The family whose members `parse` makes, for all sizes of `head`, also those with a single value.
  static absl::StatusOr<GraphFamily> Parsed(std::string_view source, KernelHead head, std::string text,
                                            TextPosition position, const Parse& parse);

  std::string name_, text_;
  std::vector<VaryingSize> sizes_;
  std::vector<TiedSize> ties_;
  std::vector<std::vector<SizeShare>> mixtures_;
  std::vector<Graph> members_;
  Parse parse_;  // of the values of `sizes_`, and then of `ties_`; empty: there are none
};

// Reads a kernel, with names for sizes or without: a single kernel is a family of one. Errors are as of
// ParseGraph; one that not all members have names the sizes of the first member that has it.
absl::StatusOr<GraphFamily> ParseGraphFamily(absl::Span<const Word> lines, std::string_view source);

// Reads a shorthand, as ParseGraphShorthand does. RangesOf says which sizes may vary.
absl::StatusOr<GraphFamily> ParseShorthandFamily(const Word& text, std::string_view source);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_GRAPH_FAMILY_H_
