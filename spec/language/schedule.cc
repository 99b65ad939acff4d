// SPDX-License-Identifier: Apache-2.0
#include "spec/language/schedule.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "spec/language/printer.h"
#include "spec/language/shorthand.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"

namespace kirsch {
namespace {

constexpr size_t kMaxLevels = 256;
constexpr std::string_view kDecisions =
    "tile DIM SIZE | parallel DIM SIZE PARTS | move OPERAND LEVEL [LAYOUT] | pack OPERAND LEVEL LAYOUT TYPE "
    "| "
    "microkernel [DIM AHEAD] | "
    "search";

std::optional<uint32_t> ParsePositive(std::string_view text) {
  uint32_t number = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9' || !absl::SimpleAtoi(ForAbsl(text), &number) ||
      number == 0)
    return std::nullopt;
  return number;
}

// Reads one line: a verb, and then its arguments, each by a method of its own.
class DecisionParser {
 public:
  DecisionParser(std::string_view file, const OpInfo& op, const std::vector<Word>& words)
      : file_(file), op_(op), words_(words) {}

  absl::StatusOr<Decision> Parse() {
    const std::string_view verb = words_[0].text;
    if (absl::Status status = ParseArguments(verb); !status.ok()) return status;
    if (!words_[next_].text.empty()) return ExpectedAt(file_, words_[next_], "the end of the line");
    return decision_;
  }

 private:
  absl::Status ParseArguments(std::string_view verb) {
    if (verb == "search") return absl::OkStatus();
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
    return ExpectedAt(
        file_, words_[0], kDecisions,
        DidYouMean(verb, std::array{"tile", "parallel", "move", "pack", "microkernel", "search"}));
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
  const Word& Next() { return words_[words_[next_].text.empty() ? next_ : next_++]; }

  absl::Status Dim() {
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
    const Word& word = Next();
    for (int operand = 0; operand <= op_.output(); ++operand)
      if (op_.operands[static_cast<size_t>(operand)].name == word.text) {
        decision_.operand = static_cast<uint8_t>(operand);
        return absl::OkStatus();
      }
    return ExpectedAt(file_, word, Cat("an operand of ", op_.name));
  }

  absl::Status ToLevel() {
    const Word& word = Next();
    for (int level = 0; level < kNumLevels; ++level)
      if (kLevelNames[static_cast<size_t>(level)] == word.text) {
        decision_.level = static_cast<Level>(level);
        return absl::OkStatus();
      }
    return ExpectedAt(file_, word, "VRF, L1, L2, L3 or RAM");
  }

  absl::Status Size() { return Positive(&decision_.size); }
  absl::Status Parts() { return Positive(&decision_.parts); }
  absl::Status Positive(uint32_t* value) {
    const Word& word = Next();
    const std::optional<uint32_t> number = ParsePositive(word.text);
    if (!number) return ExpectedAt(file_, word, "a positive number");
    *value = *number;
    return absl::OkStatus();
  }

  absl::Status CopyType() {
    const Word& word = Next();
    for (const DtypeInfo& info : kDtypes)
      if (info.name == word.text) {
        decision_.dtype = info.dtype;
        return absl::OkStatus();
      }
    return ExpectedAt(file_, word, "the element type of the copy");
  }

  absl::Status OptionalPrefetch() {
    return words_[next_].text.empty() ? absl::OkStatus() : InOrder(Dim(), &DecisionParser::Size);
  }

  absl::Status OptionalLayout() { return words_[next_].text.empty() ? absl::OkStatus() : CopyLayout(); }

  // "packed32x2-col": a kind, its panel, its group, and its order; the inverse of PrintLayout.
  absl::Status CopyLayout() {
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
    for (LayoutKind kind : {LayoutKind::kPacked, LayoutKind::kVectors, LayoutKind::kPartialSums,
                            LayoutKind::kLanewise, LayoutKind::kChains, LayoutKind::kTiles}) {
      const std::string_view name = kLayoutWords[static_cast<size_t>(kind)];
      if (!text.starts_with(name)) continue;
      layout.kind = kind;
      text.remove_prefix(name.size());
      // Only "packed" may stand without a number: it is one panel.
      if (text.empty() && kind == LayoutKind::kPacked) return absl::OkStatus();
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
};

// The line of a node, then those of its children, two blanks further to the right.
void Print(const Impl& impl, int64_t trips, int depth, std::string* text) {
  std::string line =
      Cat(std::string(static_cast<size_t>(2 * depth), ' '), PrintDecision(impl.spec.op, impl.decision));
  constexpr size_t kCommentColumn = 40;
  if (line.size() < kCommentColumn) line.resize(kCommentColumn, ' ');
  Append(text, line, "  # ", trips, " x ", PrintSpec(impl.spec), "\n");
  for (const Impl::Child& child : impl.children) Print(child.impl, child.trips, depth + 1, text);
}

// The words of every line that has some, without comments. Each line ends with its empty word. Lines count
// from 1.
std::vector<std::vector<Word>> SplitLines(std::string_view text) {
  std::vector<std::vector<Word>> lines;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    std::vector<Word> words = SplitWords(line);
    for (Word& word : words) word.position.line = number;
    // The empty word alone is a blank line, or one that has a comment only.
    if (words.size() > 1) lines.push_back(std::move(words));
  }
  return lines;
}

}  // namespace

std::string PrintDecision(OpKind op, const Decision& decision) {
  const OpInfo& info = Info(op);
  const std::string_view dim = info.dims[decision.dim].name, operand = info.operands[decision.operand].name;
  // A strided layout is the usual one of a move, and is left out.
  const bool relaid = decision.kind == RewriteKind::kPack || decision.layout.kind != LayoutKind::kStrided;
  const std::string layout = relaid ? Cat(" ", PrintLayout(decision.layout)) : "";
  switch (decision.kind) {
    case RewriteKind::kNone:
      return "search";
    case RewriteKind::kTile:
      return Cat("tile ", dim, " ", decision.size);
    case RewriteKind::kParallelTile:
      return Cat("parallel ", dim, " ", decision.size, " ", decision.parts);
    case RewriteKind::kMove:
      return Cat("move ", operand, " ", Name(decision.level), layout);
    case RewriteKind::kPack:
      return Cat("pack ", operand, " ", Name(decision.level), layout, " ", Info(decision.dtype).name);
    case RewriteKind::kMicrokernel:
      return decision.size == 0 ? "microkernel" : Cat("microkernel ", dim, " ", decision.size);
  }
  return "";
}

Schedule MakeSchedule(const Impl& impl) {
  Schedule schedule{impl.decision, {}, {}};
  for (const Impl::Child& child : impl.children) schedule.children.push_back(MakeSchedule(child.impl));
  return schedule;
}

std::string PrintSchedule(const Impl& impl) {
  std::string text;
  Print(impl, 1, 0, &text);
  return text;
}

absl::StatusOr<Schedule> ParseSchedule(std::string_view text, std::string_view file, OpKind op) {
  std::vector<Schedule> roots;
  std::vector<Schedule*> open;  // the node read last and those above it; a node stays put while it is open
  for (const std::vector<Word>& words : SplitLines(text)) {
    absl::StatusOr<Decision> decision = DecisionParser(file, Info(op), words).Parse();
    if (!decision.ok()) return decision.status();
    const Word& first = words[0];
    // A line that is not further to the right than a node ends that node.
    while (!open.empty() && first.position.column <= open.back()->position.column) open.pop_back();
    std::vector<Schedule>& siblings = open.empty() ? roots : open.back()->children;
    if (open.empty() && !roots.empty()) return ExpectedAt(file, first, "one decision at the top");
    // Children of one node stand below each other.
    if (!siblings.empty() && siblings.back().position.column != first.position.column)
      return ErrorAt(file, first.position, Cat("expected column ", siblings.back().position.column));
    if (open.size() == kMaxLevels)
      return ErrorAt(file, first.position, Cat("expected at most ", kMaxLevels, " levels"));
    siblings.push_back({*decision, {}, first.position});
    open.push_back(&siblings.back());
  }
  if (roots.empty()) return ErrorAt(file, {}, Cat("expected a schedule (", kDecisions, "), got nothing"));
  return std::move(roots.front());
}

}  // namespace kirsch
