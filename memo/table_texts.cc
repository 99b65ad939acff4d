// SPDX-License-Identifier: Apache-2.0
#include "memo/table_texts.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Reads numbers with one space between them.
bool ParseNumbers(absl::string_view text, CoordinateList* numbers) {
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) return false;
    numbers->push_back(number);
  }
  return true;
}

}  // namespace

bool TableTexts::empty() const {
  return std::ranges::all_of(texts_, [](const Texts& texts) { return texts.empty(); });
}

// An error leaves the known answer as it was.
absl::Status TableTexts::Add(TextKind kind, const std::string& question, const std::string& answer) {
  const auto [known, is_new] = (*this)[kind].try_emplace(question, answer);
  if (is_new) return absl::OkStatus();
  KIRSCH_ASSIGN_OR_RETURN(known->second, United(kind, known->second, answer));
  return absl::OkStatus();
}

// Equal answers need no decision.
absl::StatusOr<std::string> United(TextKind kind, const std::string& known, const std::string& added) {
  if (kind == TextKind::kTuned || known == added) return known;
  if (kind == TextKind::kPlan) return absl::AlreadyExistsError("two plans for one graph");
  KIRSCH_ASSIGN_OR_RETURN(const Cost a, ParseBound(known));
  KIRSCH_ASSIGN_OR_RETURN(const Cost b, ParseBound(added));
  return a < b ? added : known;
}

// Coordinates tell specs apart, here as in pages.
std::string BoundQuestion(const Spec& spec, Lines available) {
  const Coordinates coordinates = CoordinatesOf(spec, available);
  return Cat(Join(coordinates.plane, " "), ";", Join(coordinates.point, " "));
}

std::optional<Question> ParseBoundQuestion(std::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(ForAbsl(text), ';');
  Coordinates coordinates;
  if (parts.size() != 2 || !ParseNumbers(parts[0], &coordinates.plane) ||
      !ParseNumbers(parts[1], &coordinates.point))
    return std::nullopt;
  return QuestionAt(coordinates);
}

std::string BoundText(Cost bound) { return Cat(bound); }

absl::StatusOr<Cost> ParseBound(std::string_view text) {
  Cost bound = 0;
  if (!absl::SimpleAtoi(ForAbsl(text), &bound) || bound <= 0 || bound > kInfiniteCost)
    return absl::DataLossError("a bound that is no cost");
  return bound;
}

}  // namespace kirsch
