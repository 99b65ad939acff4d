// SPDX-License-Identifier: Apache-2.0
#include "spec/language/schedule.h"

#include <algorithm>
#include <utility>

#include "spec/language/decision_parser.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr size_t kMaxLevels = 256;
constexpr int kMaxDecisions = 1 << 16;  // names of names could make any number

// A line of a schedule: one decision, or several with semicolons between, each in words.
struct ScheduleLine {
  int column = 0;                        // of its first word
  std::vector<std::vector<Word>> chain;  // each ends with its empty word

  const Word& first() const { return chain[0][0]; }
};

// A named schedule. It stays lines until the name is used.
struct NamedSchedule {
  std::string_view name;
  std::vector<ScheduleLine> lines;
  bool used = false;
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

// The decisions of a line, or of what is left of one. None if there are no words.
ScheduleLine SplitChain(const Word& text) {
  ScheduleLine line;
  for (const Word& decision : Split(text, ';')) line.chain.push_back(SplitWords(decision));
  line.column = line.first().position.column;
  if (line.chain.size() == 1 && line.first().text.empty()) line.chain.clear();
  return line;
}

// Every line that has words, without its comment. Lines count from 1.
std::vector<Word> SplitLines(std::string_view text) {
  std::vector<Word> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.push_back({line.substr(0, line.find('#')), {number, 1}});
  }
  std::erase_if(lines, [](const Word& line) { return SplitWords(line).size() == 1; });
  return lines;
}

// Makes trees of lines, and puts the decisions of named schedules where their names are.
class ScheduleReader {
 public:
  ScheduleReader(std::string_view file, OpKind op) : file_(file), op_(op) {}

  absl::StatusOr<Schedule> Read(std::string_view text, std::string_view names) {
    std::vector<ScheduleLine> lines;
    KIRSCH_RETURN_IF_ERROR(TakeNames(SplitLines(names), &lines));
    const size_t others = names_.size();
    KIRSCH_RETURN_IF_ERROR(TakeNames(SplitLines(text), &lines));
    std::vector<Schedule> roots;
    KIRSCH_RETURN_IF_ERROR(ReadLines(lines, names_.size(), 0, &roots));
    for (size_t i = others; i < names_.size(); ++i) {
      std::vector<Schedule> unused;
      if (names_[i].used) continue;
      KIRSCH_RETURN_IF_ERROR(ReadLines(names_[i].lines, i, 0, &unused));
    }
    if (roots.empty())
      return ErrorAt(file_, {}, Cat("expected a schedule (", kDecisionForms, "), got nothing"));
    return std::move(roots.front());
  }

 private:
  // A node that may still get children, and where its line begins.
  struct Open {
    Schedule* node;  // stays put while it is open
    int column;
    size_t depth;
    int child_column = 0;  // of the lines of its children; 0: there is none yet
  };

  // Takes out "schedule NAME = DECISIONS", with the lines below each that are further to the right.
  absl::Status TakeNames(const std::vector<Word>& text, std::vector<ScheduleLine>* rest) {
    for (size_t i = 0; i < text.size(); ++i) {
      const std::vector<Word> words = SplitWords(text[i]);
      if (words[0].text != "schedule") {
        rest->push_back(SplitChain(text[i]));
        continue;
      }
      KIRSCH_RETURN_IF_ERROR(CheckName(words, *rest));
      NamedSchedule named{words[1].text, {}};
      const size_t sign = text[i].text.find('=');
      if (ScheduleLine own = SplitChain(text[i].Part(sign + 1)); !own.chain.empty()) {
        own.column = words[0].position.column;  // lines below it go on from its last decision
        named.lines.push_back(std::move(own));
      }
      for (; i + 1 < text.size(); ++i) {
        ScheduleLine below = SplitChain(text[i + 1]);
        if (below.column <= words[0].position.column) break;
        named.lines.push_back(std::move(below));
      }
      if (named.lines.empty()) return ExpectedAt(file_, words.back(), "the decisions of the name");
      names_.push_back(std::move(named));
    }
    return absl::OkStatus();
  }

  // A name is new, and stands before all that use it.
  absl::Status CheckName(const std::vector<Word>& line, const std::vector<ScheduleLine>& before) const {
    const Word& name = line[1];
    if (!before.empty()) return ExpectedAt(file_, line[0], "named schedules before all decisions");
    const auto is_among = [&](const auto& words) {
      return std::ranges::find(words, name.text) != words.end();
    };
    if (!IsIdentifier(name.text) || is_among(kDecisionVerbs) || is_among(kScheduleWords) ||
        Find(name.text, names_.size()) != nullptr)
      return ExpectedAt(
          file_, name,
          "a new name that is no word of schedules (letters, digits, underscores; a letter first)");
    if (line[2].text != "=") return ExpectedAt(file_, line[2], "'='");
    return absl::OkStatus();
  }

  // The schedule of that name among the first `visible`: a schedule may use those before it. Null: none.
  const NamedSchedule* Find(std::string_view name, size_t visible) const {
    const auto end = names_.begin() + static_cast<std::ptrdiff_t>(visible);
    const auto found =
        std::find_if(names_.begin(), end, [&](const auto& known) { return known.name == name; });
    return found == end ? nullptr : &*found;
  }

  // Reads lines as one tree, whose root goes to the end of *siblings, at `depth`.
  absl::Status ReadLines(const std::vector<ScheduleLine>& lines, size_t visible, size_t depth,
                         std::vector<Schedule>* siblings) {
    const size_t first = siblings->size();
    std::vector<Open> open;  // the node read last and those above it
    for (const ScheduleLine& line : lines) {
      // A line that is not further to the right than a node ends that node.
      while (!open.empty() && line.column <= open.back().column) open.pop_back();
      if (open.empty() && siblings->size() > first)
        return ExpectedAt(file_, line.first(), "one decision at the top");
      if (!open.empty()) {
        // Children of one node stand below each other.
        int& column = open.back().child_column;
        if (column == 0) column = line.column;
        if (column != line.column)
          return ErrorAt(file_, line.first().position, Cat("expected column ", column));
      }
      // Each decision is the first below the one before.
      for (const std::vector<Word>& words : line.chain) {
        if (!open.empty() && open.back().node->decision.kind == RewriteKind::kNone && !open.back().node->gap)
          return ExpectedAt(file_, words.front(), "nothing below 'search'");
        Open next{nullptr, line.column, open.empty() ? depth : open.back().depth + 1};
        std::vector<Schedule>* const level = open.empty() ? siblings : &open.back().node->children;
        KIRSCH_RETURN_IF_ERROR(ReadDecision(words, visible, &next, level));
        open.push_back(next);
      }
    }
    return absl::OkStatus();
  }

  // Reads a decision, or those of a name, to the end of *siblings. What follows goes below next->node.
  absl::Status ReadDecision(const std::vector<Word>& words, size_t visible, Open* next,
                            std::vector<Schedule>* siblings) {
    if (next->depth >= kMaxLevels)
      return ErrorAt(file_, words[0].position, Cat("expected at most ", kMaxLevels, " levels"));
    if (++decisions_ > kMaxDecisions)
      return ErrorAt(file_, words[0].position, Cat("expected at most ", kMaxDecisions, " decisions"));
    if (Find(words[0].text, visible) != nullptr) return UseName(words, next, siblings);
    KIRSCH_ASSIGN_OR_RETURN(Schedule node, ParseDecision(words, file_, op_));
    siblings->push_back(std::move(node));
    next->node = &siblings->back();
    return absl::OkStatus();
  }

  absl::Status UseName(const std::vector<Word>& words, Open* next, std::vector<Schedule>* siblings) {
    if (!words[1].text.empty()) return ExpectedAt(file_, words[1], "the end of the name's decision");
    const auto at = static_cast<size_t>(Find(words[0].text, names_.size()) - names_.data());
    names_[at].used = true;
    KIRSCH_RETURN_IF_ERROR(ReadLines(names_[at].lines, at, next->depth, siblings));
    next->node = &siblings->back();
    for (; !next->node->children.empty(); ++next->depth) next->node = &next->node->children.front();
    return absl::OkStatus();
  }

  const std::string_view file_;
  const OpKind op_;
  std::vector<NamedSchedule> names_;
  int decisions_ = 0;
};

}  // namespace

std::string PrintDecision(OpKind op, const Decision& decision) {
  return PrintDecision(op, Schedule{decision, {}, {}});
}

std::string PrintDecision(OpKind op, const Schedule& node) {
  const Decision& decision = node.decision;
  const auto or_hole = [&](Holes hole, const auto& argument) {
    return (node.holes & hole) != 0 ? std::string(kHoleWord) : Cat(argument);
  };
  const OpInfo& info = Info(op);
  const std::string dim = or_hole(kHoleDim, info.dims[decision.dim].name);
  const std::string operand = or_hole(kHoleOperand, info.operands[decision.operand].name);
  const std::string level = or_hole(kHoleLevel, Name(decision.level)),
                    size = or_hole(kHoleSize, decision.size);
  // A strided layout is the usual one of a move, and is left out.
  const bool relaid = decision.kind == RewriteKind::kPack || decision.layout.kind != LayoutKind::kStrided ||
                      (node.holes & kHoleLayout) != 0;
  const std::string layout = relaid ? Cat(" ", or_hole(kHoleLayout, PrintLayout(decision.layout))) : "";
  switch (decision.kind) {
    case RewriteKind::kNone:
      return node.gap ? std::string(kGapWord) : "search";
    case RewriteKind::kTile:
      return Cat("tile ", dim, " ", size);
    case RewriteKind::kParallelTile:
      return Cat("parallel ", dim, " ", size, " ", or_hole(kHoleParts, decision.parts));
    case RewriteKind::kMove:
      return Cat("move ", operand, " ", level, layout);
    case RewriteKind::kPack:
      return Cat("pack ", operand, " ", level, layout, " ", or_hole(kHoleType, Info(decision.dtype).name));
    case RewriteKind::kMicrokernel:
      return decision.size == 0 && node.holes == 0 ? "microkernel" : Cat("microkernel ", dim, " ", size);
  }
  return "";
}

bool Schedule::Fits(const Decision& other) const {
  Decision filled = decision;
  if ((holes & kHoleDim) != 0) filled.dim = other.dim;
  if ((holes & kHoleOperand) != 0) filled.operand = other.operand;
  if ((holes & kHoleLevel) != 0) filled.level = other.level;
  if ((holes & kHoleSize) != 0) filled.size = other.size;
  if ((holes & kHoleParts) != 0) filled.parts = other.parts;
  if ((holes & kHoleLayout) != 0) filled.layout = other.layout;
  if ((holes & kHoleType) != 0) filled.dtype = other.dtype;
  return filled == other;
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

absl::StatusOr<Schedule> ParseSchedule(std::string_view text, std::string_view file, OpKind op,
                                       std::string_view names) {
  return ScheduleReader(file, op).Read(text, names);
}

}  // namespace kirsch
