// SPDX-License-Identifier: Apache-2.0
// Says how often each of a family's sizes is asked for: "1:0.7,512:0.3".
//
// A constant operand is packed once for all members. The layout is the one that is cheapest for the calls
// that the mixture stands for. Sizes that it does not name are served, but do not count.
#ifndef KIRSCH_SPEC_LANGUAGE_MIXTURE_H_
#define KIRSCH_SPEC_LANGUAGE_MIXTURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/language/varying_size.h"
#include "spec/text/text.h"

namespace kirsch {

struct SizeShare {
  uint32_t size = 1;
  double share = 1;  // of all calls; above 0. What counts is how these are to each other

  friend bool operator==(const SizeShare&, const SizeShare&) = default;
};

// The option of a shorthand, up to its value.
inline constexpr std::string_view kMixtureOption = "mixture=";

// Removes the mixture's word from the words of a shorthand, and returns it; nothing: there is none. The error
// is that there are two.
absl::StatusOr<std::optional<Word>> TakeMixture(std::string_view source, std::vector<Word>* words);

// Reads "SIZE:SHARE,SIZE:SHARE". Each size is one that `size` may have, and stands there once. Errors have
// their place.
absl::StatusOr<std::vector<SizeShare>> ParseMixture(std::string_view source, const Word& word,
                                                    const VaryingSize& size);
std::string PrintMixture(absl::Span<const SizeShare> mixture);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_MIXTURE_H_
