// SPDX-License-Identifier: Apache-2.0
// Holds a table's answers to questions that are not points: question and answer are text (FORMAT.md).
#ifndef KIRSCH_MEMO_TABLE_TEXTS_H_
#define KIRSCH_MEMO_TABLE_TEXTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost.h"
#include "memo/coordinates.h"

namespace kirsch {

enum class TextKind : uint8_t {
  kPlan,   // which graph; the schedule of its cheapest plan (search/table/plan_recall.h)
  kTuned,  // a machine and what was asked for; what tuning measured there (tools/tuning.h)
  kBound,  // a spec and a number of lines; what no program costs less than
};
inline constexpr std::array kTextKinds{TextKind::kPlan, TextKind::kTuned, TextKind::kBound};

struct TextKindInfo {
  const char *table, *one;  // its name in the file; for people
};
inline constexpr std::array<TextKindInfo, kTextKinds.size()> kTextKindInfos{
    {{"plans", "plan"}, {"tuned", "tuning"}, {"bounds", "bound"}}};
constexpr const TextKindInfo& Info(TextKind kind) { return kTextKindInfos[static_cast<size_t>(kind)]; }

// The answers of one kind, by their questions.
using Texts = std::map<std::string, std::string>;
// The answers of all kinds.
class TableTexts {
 public:
  Texts& operator[](TextKind kind) { return texts_[static_cast<size_t>(kind)]; }
  const Texts& operator[](TextKind kind) const { return texts_[static_cast<size_t>(kind)]; }

  bool empty() const;
  void Clear() { texts_ = {}; }
  // Adds an answer; unites it with the one that is known of the question, if there is one.
  absl::Status Add(TextKind kind, const std::string& question, const std::string& answer);

 private:
  std::array<Texts, kTextKinds.size()> texts_;
};

// Decides which of two answers to one question holds. A graph has one plan: AlreadyExists if the answers
// differ. Two measurements need not agree; the known one stays. The greater of two bounds holds. DataLoss if
// an answer cannot be one.
absl::StatusOr<std::string> United(TextKind kind, const std::string& known, const std::string& added);

// Writes the question about a bound, and reads it; nothing if the text is no such question. The text is the
// numbers of the plane, ";", and those of the point.
std::string BoundQuestion(const Spec& spec, Lines available);
std::optional<Question> ParseBoundQuestion(std::string_view text);

// Writes a bound as an answer, and reads it. DataLoss if the text is no cost above 0.
std::string BoundText(Cost bound);
absl::StatusOr<Cost> ParseBound(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_TABLE_TEXTS_H_
