// SPDX-License-Identifier: Apache-2.0
// Reads one decision of a schedule, e.g. "tile m 96" or "pack rhs L2 ?". Internal to spec/language/.
#ifndef KIRSCH_SPEC_LANGUAGE_DECISION_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_DECISION_PARSER_H_

#include <array>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/language/schedule.h"
#include "spec/op.h"
#include "spec/text/text.h"

namespace kirsch {

inline constexpr std::string_view kGapWord = "...", kHoleWord = "?";
inline constexpr std::array<std::string_view, 7> kDecisionVerbs = {"tile",        "parallel", "move",  "pack",
                                                                   "microkernel", "search",   kGapWord};
// Other words that schedules have, those of plans included. No schedule is called so.
inline constexpr std::array<std::string_view, 8> kScheduleWords = {
    "schedule", "group", "slice", "each", "copy", "leave", "contraction", "rows"};
inline constexpr std::string_view kDecisionForms =
    "tile DIM SIZE | parallel DIM SIZE PARTS | move OPERAND LEVEL [LAYOUT] | pack OPERAND LEVEL [LAYOUT "
    "[TYPE]] "
    "| microkernel [DIM AHEAD] | search | ...";

// Reads the decision, which `words` are, the empty one at the end included. The node has no children.
absl::StatusOr<Schedule> ParseDecision(const std::vector<Word>& words, std::string_view file, OpKind op);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_DECISION_PARSER_H_
