// SPDX-License-Identifier: Apache-2.0
// How often each of a family's sizes is asked for: "1:0.7,512:0.3".
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

// How a shorthand says it.
inline constexpr std::string_view kMixtureOption = "mixture=";

// Takes the word that says it out of a shorthand's; nothing: there is none.
absl::StatusOr<std::optional<Word>> TakeMixture(std::string_view source, std::vector<Word>* words);

// Sizes of `size`, each once: "SIZE:SHARE,SIZE:SHARE". Errors have their place.
absl::StatusOr<std::vector<SizeShare>> ParseMixture(std::string_view source, const Word& word,
                                                    const VaryingSize& size);
std::string PrintMixture(absl::Span<const SizeShare> mixture);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_MIXTURE_H_
