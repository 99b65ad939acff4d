// SPDX-License-Identifier: Apache-2.0
#include "spec/language/decision_parser.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "spec/language/shorthand.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

std::optional<uint32_t> ParsePositive(std::string_view text) {
  uint32_t number = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9' || !absl::SimpleAtoi(ForAbsl(text), &number) ||
      number == 0)
    return std::nullopt;
  return number;
}

// Reads one decision: a verb, and then its arguments, each by a method of its own.
class DecisionParser {
 public:
  DecisionParser(std::string_view file, const OpInfo& op, const std::vector<Word>& words)
      : file_(file), op_(op), words_(words) {}

  absl::StatusOr<Schedule> Parse() {
    const std::string_view verb = words_[0].text;
    KIRSCH_RETURN_IF_ERROR(ParseArguments(verb));
    if (!words_[next_].text.empty()) return ExpectedAt(file_, words_[next_], "the end of the line");
    return Schedule{decision_, {}, words_[0].position, holes_, verb == kGapWord};
  }

 private:
  absl::Status ParseArguments(std::string_view verb) {
    if (verb == "search" || verb == kGapWord) return absl::OkStatus();
    if (verb == "microkernel")
      return InOrder(Set(RewriteKind::kMicrokernel), &DecisionParser::OptionalPrefetch);
    if (verb == "tile") return InOrder(Set(RewriteKind::kTile), &DecisionParser::Dim, &DecisionParser::Size);
    if (verb == "parallel")
      return InOrder(Set(RewriteKind::kParallelTile), &DecisionParser::Dim, &DecisionParser::Size,
                     &DecisionParser::Parts);
    if (verb == "move")
      return InOrder(Set(RewriteKind::kMove), &DecisionParser::Operand, &DecisionParser::ToLevel,
                     &DecisionParser::OptionalLayout);
    if (verb == "pack")
      return InOrder(Set(RewriteKind::kPack), &DecisionParser::Operand, &DecisionParser::ToLevel,
                     &DecisionParser::CopyLayout, &DecisionParser::CopyType);
    return ExpectedAt(file_, words_[0], kDecisionForms, DidYouMean(verb, kDecisionVerbs));
  }

  // Never fails; it returns a status so that InOrder can begin with it.
  absl::Status Set(RewriteKind kind) {
    decision_.kind = kind;
    return absl::OkStatus();
  }

  // Calls the steps one after the other until one fails. `status` is that of what came before.
  template <typename... Steps>
  absl::Status InOrder(absl::Status status, Steps... steps) {
    ((status.ok() ? void(status = (this->*steps)()) : void()), ...);
    return status;
  }

  // The next word; the empty one at the end of the line is never passed.
  const Word& Next() { return words_[AtEnd() ? next_ : next_++]; }
  bool AtEnd() const { return words_[next_].text.empty(); }

  // True if the next word leaves the argument open; passes it then.
  bool TakeHole(Holes hole) {
    if (words_[next_].text != kHoleWord) return false;
    ++next_;
    holes_ |= hole;
    return true;
  }
  // Leaves an argument open that has no word.
  absl::Status LeaveOpen(Holes hole) {
    holes_ |= hole;
    return absl::OkStatus();
  }

  absl::Status Dim() {
    if (TakeHole(kHoleDim)) return absl::OkStatus();
    // The names are looked up in the op's own tables.
    const Word& word = Next();
    for (int dim = 0; dim < op_.num_dims; ++dim)
      if (op_.dims[static_cast<size_t>(dim)].name == word.text) {
        decision_.dim = static_cast<uint8_t>(dim);
        return absl::OkStatus();
      }
    return ExpectedAt(file_, word, Cat("a dim of ", op_.name));
  }

  absl::Status Operand() {
    if (TakeHole(kHoleOperand)) return absl::OkStatus();
    const Word& word = Next();
    for (int operand = 0; operand <= op_.output(); ++operand)
      if (op_.operands[static_cast<size_t>(operand)].name == word.text) {
        decision_.operand = static_cast<uint8_t>(operand);
        return absl::OkStatus();
      }
    return ExpectedAt(file_, word, Cat("an operand of ", op_.name));
  }

  absl::Status ToLevel() {
    if (TakeHole(kHoleLevel)) return absl::OkStatus();
    const Word& word = Next();
    for (int level = 0; level < kNumLevels; ++level)
      if (kLevelNames[static_cast<size_t>(level)] == word.text) {
        decision_.level = static_cast<Level>(level);
        return absl::OkStatus();
      }
    return ExpectedAt(file_, word, "VRF, L1, L2, L3 or RAM");
  }

  absl::Status Size() { return Positive(kHoleSize, &decision_.size); }
  absl::Status Parts() { return Positive(kHoleParts, &decision_.parts); }
  absl::Status Positive(Holes hole, uint32_t* value) {
    if (TakeHole(hole)) return absl::OkStatus();
    const Word& word = Next();
    const std::optional<uint32_t> number = ParsePositive(word.text);
    if (!number) return ExpectedAt(file_, word, "a positive number");
    *value = *number;
    return absl::OkStatus();
  }

  absl::Status CopyType() {
    if (AtEnd()) return LeaveOpen(kHoleType);
    if (TakeHole(kHoleType)) return absl::OkStatus();
    const Word& word = Next();
    for (const DtypeInfo& info : kDtypes)
      if (info.name == word.text) {
        decision_.dtype = info.dtype;
        return absl::OkStatus();
      }
    return ExpectedAt(file_, word, "the element type of the copy");
  }

  // "microkernel ?" leaves open whether there is a prefetch at all.
  absl::Status OptionalPrefetch() {
    if (AtEnd()) return absl::OkStatus();
    const absl::Status dim = Dim();
    return holes_ != 0 && AtEnd() ? LeaveOpen(kHoleSize) : InOrder(dim, &DecisionParser::Size);
  }

  // Only in registers is there more than one layout.
  absl::Status OptionalLayout() {
    if (!AtEnd()) return CopyLayout();
    const bool registers = decision_.level == Level::kVrf || (holes_ & kHoleLevel) != 0;
    return registers ? LeaveOpen(kHoleLayout) : absl::OkStatus();
  }

  // "packed32x2-col": a kind, its panel, its group, and its order; the inverse of PrintLayout.
  absl::Status CopyLayout() {
    if (AtEnd()) return LeaveOpen(kHoleLayout);
    if (TakeHole(kHoleLayout)) return absl::OkStatus();
    const Word& word = Next();
    std::string_view text = word.text;
    Layout& layout = decision_.layout;
    if (text.ends_with(kColSuffix)) {
      layout.order = Order::kCol;
      text.remove_suffix(kColSuffix.size());
    }
    // A constant operand's copy may also be plain rows or columns.
    for (Order order : {Order::kRow, Order::kCol})
      if (word.text == OrderWord(order)) {
        layout.order = order;
        return absl::OkStatus();
      }
    for (size_t kind = 0; kind < kLayouts.size(); ++kind) {
      const LayoutInfo& info = kLayouts[kind];
      if (!info.decided || !text.starts_with(info.word)) continue;
      layout.kind = static_cast<LayoutKind>(kind);
      text.remove_prefix(info.word.size());
      // Only "packed" may stand without a number: it is one panel.
      if (text.empty() && layout.kind == LayoutKind::kPacked) return absl::OkStatus();
      const size_t sign = text.find(kGroupSign);
      const std::optional<uint32_t> panel = ParsePositive(text.substr(0, sign));
      const std::optional<uint32_t> group =
          sign == std::string_view::npos ? 1 : ParsePositive(text.substr(sign + kGroupSign.size()));
      // Layout has a byte for each.
      if (!panel || *panel > UINT8_MAX || !group || *group > UINT8_MAX) break;
      layout.panel = static_cast<uint8_t>(*panel);
      layout.group = static_cast<uint8_t>(*group);
      return absl::OkStatus();
    }
    return ExpectedAt(file_, word,
                      "a layout (row, col, packed, packedN, vectorsN, chainsN, sumsN, lanesN or tilesN; "
                      "xGROUP and -col after it)");
  }

  std::string_view file_;
  const OpInfo& op_;
  const std::vector<Word>& words_;
  // The verb is the word before.
  size_t next_ = 1;
  Decision decision_;
  Holes holes_ = 0;
};

}  // namespace

absl::StatusOr<Schedule> ParseDecision(const std::vector<Word>& words, std::string_view file, OpKind op) {
  return DecisionParser(file, Info(op), words).Parse();
}

}  // namespace kirsch
