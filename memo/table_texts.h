// SPDX-License-Identifier: Apache-2.0
// What a table has beside its pages: answers to questions, both of which are text (FORMAT.md).
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

// Of one kind: answers by their questions.
using Texts = std::map<std::string, std::string>;
// Of all kinds, in their order.
class TableTexts {
 public:
  Texts& operator[](TextKind kind) { return texts_[static_cast<size_t>(kind)]; }
  const Texts& operator[](TextKind kind) const { return texts_[static_cast<size_t>(kind)]; }

  bool empty() const;
  void Clear() { texts_ = {}; }
  // Unites the answer with that which is known of the question, if any is.
  absl::Status Add(TextKind kind, const std::string& question, const std::string& answer);

 private:
  std::array<Texts, kTextKinds.size()> texts_;
};

// Which of two answers to one question holds. A graph has one plan: AlreadyExists if they differ. Two
// measurements needn't agree, the one that is known is kept; of bounds it is the greater. DataLoss: an answer
// that can't be.
absl::StatusOr<std::string> United(TextKind kind, const std::string& known, const std::string& added);

// The question about a bound, and back; nothing if it is none.
std::string BoundQuestion(const Spec& spec, Lines available);
std::optional<Question> ParseBoundQuestion(std::string_view text);

// A bound as an answer, and back.
std::string BoundText(Cost bound);
absl::StatusOr<Cost> ParseBound(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_TABLE_TEXTS_H_
