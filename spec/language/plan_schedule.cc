// SPDX-License-Identifier: Apache-2.0
#include "spec/language/plan_schedule.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>

#include "absl/strings/numbers.h"
#include "spec/language/decision_parser.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr std::string_view kGroupLines =
    "each | REWRITE PARAMETER=SIZE... [keep=LEVEL] [in-place=no] | copy STAGE...: DECISION | leave STAGE... "
    "| "
    "contraction STAGE | rows STAGE KEY=VALUE...";

// Comments begin at one column, so that decisions are easy to read beside them.
std::string WithComment(std::string line, std::string_view comment) {
  constexpr size_t kCommentColumn = 40;
  if (line.size() < kCommentColumn) line.resize(kCommentColumn, ' ');
  return Cat(line, "  # ", comment, "\n");
}

std::string PrintCycles(double cycles) { return Cat(static_cast<int64_t>(std::llround(cycles)), " cycles"); }

// Prints the decisions of a plan as ParsePlanSchedule reads them.
class Printer {
 public:
  explicit Printer(const Plan& plan) : plan_(plan) {}

  std::string Print() && {
    PrintHead();
    for (size_t group = 0; group < plan_.groups.size(); ++group) PrintGroup(group);
    return std::move(text_);
  }

 private:
  // The lines for the whole plan, and as comments the operation that each name stands for.
  void PrintHead() {
    Append(&text_, "threads ", plan_.threads, "\n");
    if (const std::vector<int> folded = plan_.graph.FoldedOperations(); !folded.empty())
      Append(&text_, "ahead ", NamesOfValues(plan_.graph, folded), "\n");
    for (size_t i = 0; i < plan_.graph.nodes.size(); ++i) {
      const GraphNode& node = plan_.graph.nodes[i];
      if (Info(node.op).kind == OperationKind::kLeaf) continue;
      const auto name = [&](int value) { return NameOfValue(plan_.graph, value); };
      Append(&text_, "# ", name(static_cast<int>(i)), " = ", Info(node.op).name, "(",
             Join(node.inputs, ", ", name), "): ", PrintTensorType(node.type), "\n");
    }
  }

  // A group's decisions, and then its stages by their numbers.
  void PrintGroup(size_t number) {
    const GroupDecision& group = plan_.groups[number];
    text_ += WithComment(Cat("group ", NamesOfValues(plan_.graph, group.operations)),
                         PrintCycles(plan_.GroupCycles(number)));
    if (group.each) text_ += "  each\n";
    Append(&text_, "  ", PrintCandidate(group.candidate), "\n");
    for (const GroupDecision::Copy& copy : group.copies) PrintCopy(copy);
    int stage = 0;
    for (const Stage* each : NumberedStages(plan_, number)) PrintStage(stage++, *each);
  }

  void PrintCopy(const GroupDecision::Copy& copy) {
    const std::string readers = Join(copy.readers, " ");
    if (copy.decision.kind == RewriteKind::kNone)
      Append(&text_, "  leave ", readers, "\n");
    else
      Append(&text_, "  copy ", readers, ": ", PrintDecision(copy.op, copy.decision), "\n");
  }

  void PrintStage(int number, const Stage& stage) {
    if (stage.kind == StageKind::kRows)
      text_ += WithComment(Cat("  rows ", number, " ", PrintRowSchedule(stage.schedule)),
                           PrintCycles(stage.cycles));
    if (stage.kind != StageKind::kContraction) return;
    text_ += WithComment(Cat("  contraction ", number), PrintCycles(stage.cycles));
    // The schedule of its spec is moved in, as InContraction expects it.
    AppendIndented(PrintSchedule(stage.impl), "    ", &text_);
  }

  const Plan& plan_;
  std::string text_;
};

// The words that end a contraction's decisions where they are on its line.
bool EndsContraction(std::string_view word) {
  return std::ranges::find(kScheduleWords, word) != kScheduleWords.end();
}

// Reads a schedule line by line. A line belongs to the group before it; lines below a contraction, further to
// the right, to that contraction. Indentation means nothing else. Semicolons divide a line as its end does.
class Parser {
 public:
  explicit Parser(std::string_view source) { schedule_.source = source; }

  absl::Status ParseLine(std::string_view line, int number) {
    line = line.substr(0, line.find('#'));
    const std::vector<Word> parts = Split({line, {number, 1}}, ';');
    const std::vector<Word> words = SplitWords(parts[0]);
    // Nothing but the empty word: a blank line or a comment.
    if (parts.size() == 1 && words.size() == 1) return absl::OkStatus();
    if (IsOfNames(words[0])) {
      AppendLine({line, {number, 1}}, &names_);
      return absl::OkStatus();
    }
    bool of_contraction = InContraction(words[0]);
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<Word> part = SplitWords(parts[i]);
      if (i > 0 && EndsContraction(part[0].text)) of_contraction = false;
      if (!of_contraction) KIRSCH_RETURN_IF_ERROR(ParsePart(part, parts[i]));
      if (of_contraction) i = AppendDecisions(line, parts, i) - 1;
      of_contraction = of_contraction || part[0].text == "contraction";
    }
    return absl::OkStatus();
  }

  PlanSchedule Take() && { return std::move(schedule_); }

 private:
  GroupSchedule& group() { return schedule_.groups.back(); }
  absl::Status Expected(const Word& word, std::string_view what) const {
    return ExpectedAt(schedule_.source, word, what);
  }

  // What is between semicolons. Its first word says what it is.
  absl::Status ParsePart(const std::vector<Word>& words, const Word& part) {
    const Word& verb = words[0];
    if (verb.text == "threads" && schedule_.groups.empty()) return ParseThreads(words);
    if (verb.text == "ahead" && schedule_.groups.empty() && schedule_.folded.empty()) {
      if (words.size() == 2) return Expected(words[1], "the names of what is made of constants");
      return ParseValues(words, "the name of a value that an operation makes of constants",
                         &schedule_.folded);
    }
    if (verb.text == "group" || verb.text == "slice") return ParseGroup(words);
    if (schedule_.groups.empty() || verb.text.empty()) return Expected(verb, "group VALUE...");
    return ParseDecision(words, part);
  }

  // Is the line with this first word a named schedule, or a part of the last one?
  bool IsOfNames(const Word& word) {
    const bool begins = word.text == "schedule" && !InContraction(word);
    if (begins || word.position.column <= names_column_)
      names_column_ = begins ? word.position.column : INT_MAX;
    return names_column_ != INT_MAX;
  }

  // Appends the decisions from the i-th part on to the last contraction's; returns the part that ends them.
  size_t AppendDecisions(std::string_view line, const std::vector<Word>& parts, size_t i) {
    size_t end = i + 1;
    while (end < parts.size() && !EndsContraction(SplitWords(parts[end])[0].text)) ++end;
    const auto last =
        static_cast<size_t>(parts[end - 1].text.data() + parts[end - 1].text.size() - line.data());
    const auto first = static_cast<size_t>(parts[i].position.column - 1);
    AppendLine({line.substr(first, last - first), parts[i].position},
               &std::get<ContractionText>(group().stages.back().contraction).decisions);
    return end;
  }

  // Is the line with this first word a part of the last contraction's schedule?
  bool InContraction(const Word& word) {
    if (schedule_.groups.empty() || group().stages.empty() || group().stages.back().rows) return false;
    return word.position.column > group().stages.back().position.column;
  }

  // Appends a piece of a line so that it has its place in `text`: empty lines and blanks stand for what is
  // between. So errors of ParseSchedule have their place in the whole text.
  static void AppendLine(const Word& piece, std::string* text) {
    const auto lines = std::ranges::count(*text, '\n');
    text->append(static_cast<size_t>(piece.position.line - 1 - lines), '\n');
    Append(text, std::string(static_cast<size_t>(piece.position.column - 1), ' '), piece.text, "\n");
  }

  // threads N; Spec has one byte for them.
  absl::Status ParseThreads(const std::vector<Word>& words) {
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t threads,
                            ParseNumber(schedule_.source, words[1], "threads", 1, UINT8_MAX));
    schedule_.threads = static_cast<int>(threads);
    return ExpectEnd(words, 2);
  }

  absl::Status ExpectEnd(const std::vector<Word>& words, size_t at) const {
    return words[at].text.empty() ? absl::OkStatus() : Expected(words[at], "the end of the line");
  }

  // group VALUE...
  absl::Status ParseGroup(const std::vector<Word>& words) {
    GroupSchedule& added = schedule_.groups.emplace_back();
    added.position = words[0].position;
    if (words.size() == 2) return Expected(words[1], "the names of what the operations make");
    return ParseValues(words, "the name of a value that an operation makes", &added.operations);
  }

  // "v3" or "out", all behind the first word.
  absl::Status ParseValues(const std::vector<Word>& words, std::string_view expected,
                           std::vector<ScheduledValue>* values) const {
    for (size_t at = 1; at + 1 < words.size(); ++at) {
      const Word& word = words[at];
      int node = ScheduledValue::kResult;
      if (word.text.starts_with('v')) (void)absl::SimpleAtoi(ForAbsl(word.text.substr(1)), &node);
      values->push_back({node, word.position});
      // Words such as "v03" or "v-1" are no names: printed, the value has another one.
      if (PrintValue(values->back()) != word.text) return Expected(word, expected);
    }
    return absl::OkStatus();
  }

  // A line of a group. Its first word may be a rewrite's name, so whatever is none of the others is one.
  absl::Status ParseDecision(const std::vector<Word>& words, const Word& part) {
    const std::string_view verb = words[0].text;
    if (verb == "each") {
      group().each = true;
      return ExpectEnd(words, 1);
    }
    if (verb == "copy" || verb == "leave") return ParseCopy(words, part);
    if (verb == "contraction" || verb == "rows")
      // Rewrites may be called "rows", too: their words have a '=', a stage has a number.
      if (words[1].text.find('=') == std::string_view::npos) return ParseStage(words);
    return ParseRewrite(words);
  }

  // How many stages the group has is known when the plan is followed.
  absl::StatusOr<int> ParseStageNumber(const Word& word) const {
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t stage, ParseNumber(schedule_.source, word, "a stage", 0, 9999));
    return static_cast<int>(stage);
  }

  // copy STAGE...: DECISION, or leave STAGE...
  absl::Status ParseCopy(const std::vector<Word>& words, const Word& part) {
    CopySchedule& copy = group().copies.emplace_back();
    copy.position = words[0].position;
    // Readers end at the word with a colon; `leave` has none.
    bool ends = false;
    size_t at = 1;
    for (; !ends && !words[at].text.empty(); ++at) {
      ends = words[at].text.ends_with(':');
      const Word word = words[at].Part(0, words[at].text.size() - (ends ? 1 : 0));
      KIRSCH_ASSIGN_OR_RETURN(const int stage, ParseStageNumber(word));
      copy.readers.push_back(stage);
    }
    if (copy.readers.empty()) return Expected(words[at], "the stages that read the matrix");
    if (words[0].text == "leave") return ends ? Expected(words[at - 1], "a stage") : absl::OkStatus();
    if (!ends || words[at].text.empty()) return Expected(words[at], "a colon and the decision to copy");
    // The decision is kept as text until its op is known.
    const auto offset = static_cast<size_t>(words[at].position.column - part.position.column);
    AppendLine(part.Part(offset),
               &std::get<ContractionText>(copy.decision.emplace(ContractionText{names_})).decisions);
    return absl::OkStatus();
  }

  // contraction STAGE, or rows STAGE KEY=VALUE...
  absl::Status ParseStage(const std::vector<Word>& words) {
    KIRSCH_ASSIGN_OR_RETURN(const int number, ParseStageNumber(words[1]));
    StageSchedule stage;
    stage.position = words[0].position;
    stage.stage = number;
    stage.rows = words[0].text == "rows";
    stage.contraction = ContractionText{names_};
    for (size_t at = 2; stage.rows && !words[at].text.empty(); ++at)
      KIRSCH_RETURN_IF_ERROR(ParseRows(words[at], &stage.row_schedule));
    group().stages.push_back(std::move(stage));
    return group().stages.back().rows ? absl::OkStatus() : ExpectEnd(words, 2);
  }

  // REWRITE PARAMETER=SIZE..., keep=LEVEL, in-place=no; once for a group. Which rewrites there are is known
  // when the plan is followed.
  absl::Status ParseRewrite(const std::vector<Word>& words) {
    if (!group().rewrite.text.empty()) return Expected(words[0], kGroupLines);
    group().rewrite = words[0];
    for (size_t at = 1; !words[at].text.empty(); ++at) KIRSCH_RETURN_IF_ERROR(ParseParameter(words[at]));
    return absl::OkStatus();
  }

  // NAME=SIZE. Two names are the candidate's, whatever the rewrite; all others are the rewrite's own.
  absl::Status ParseParameter(const Word& word) {
    const size_t sign = word.text.find('=');
    if (sign == std::string_view::npos) return Expected(word, "PARAMETER=SIZE");
    const Word key = word.Part(0, sign), value = word.Part(sign + 1);
    if (key.text == "keep") {
      for (Level level : {Level::kL1, Level::kL2})
        if (value.text == Name(level)) group().keep = level;
      return group().keep ? absl::OkStatus() : Expected(value, "L1 or L2");
    }
    if (key.text == "in-place") {
      if (value.text != "yes" && value.text != "no") return Expected(value, "yes or no");
      group().in_place = value.text == "yes";
      return absl::OkStatus();
    }
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t size,
                            ParseNumber(schedule_.source, value, "a size", 0, INT32_MAX));
    group().parameters.push_back({key, size});
    return absl::OkStatus();
  }

  // One KEY=VALUE of a row program's schedule.
  absl::Status ParseRows(const Word& word, RowSchedule* schedule) const {
    const size_t sign = word.text.find('=');
    const Word key = word.Part(0, sign);
    std::vector<int> values;
    for (const Word& number :
         sign == std::string_view::npos ? std::vector<Word>() : Split(word.Part(sign + 1), ',')) {
      int value = 0;
      const char* const end = number.text.data() + number.text.size();
      if (std::from_chars(number.text.data(), end, value).ptr != end || number.text.empty())
        return Expected(number, "a number");
      values.push_back(value);
    }
    // Keys with a list, keys with one number, and `online`, which has none.
    const bool one = values.size() == 1;
    if (key.text == "online" && values.empty())
      schedule->online = true;
    else if (key.text == "unroll" && !values.empty())
      schedule->unroll = values;
    else if (key.text == "kept" && !values.empty())
      schedule->kept = values;
    else if (key.text == "lanes" && one)
      schedule->lanes = values[0];
    else if (key.text == "prefetch" && one)
      schedule->prefetch = values[0];
    else if (key.text == "streamed" && one)
      schedule->streamed = values[0];
    else
      return Expected(word, "lanes=N, unroll=N,..., kept=N,..., online, prefetch=BYTES or streamed=RESULT");
    return absl::OkStatus();
  }

  PlanSchedule schedule_;
  std::string names_;           // the named schedules so far, at their places in the text
  int names_column_ = INT_MAX;  // of the one that is being read; else INT_MAX
};

}  // namespace

absl::StatusOr<Schedule> ReadSchedule(const ContractionSchedule& schedule, std::string_view source,
                                      OpKind op) {
  if (const auto* const text = std::get_if<ContractionText>(&schedule))
    return ParseSchedule(text->decisions, source, op, text->names);
  return std::get<Schedule>(schedule);
}

void GroupSchedule::SetRewrite(const AppliedRewrite& applied) {
  rewrite = {applied.name, {}};
  parameters.clear();
  for (const AppliedRewrite::Parameter& parameter : applied.parameters)
    parameters.push_back({{parameter.name, {}}, parameter.value});
}

PlanSchedule MakeSchedule(const Plan& plan) {
  PlanSchedule schedule{"plan", plan.threads};
  for (const int node : plan.graph.FoldedOperations()) schedule.folded.push_back({node});
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    // Every decision becomes one that is pinned.
    const GroupDecision& decision = plan.groups[i];
    GroupSchedule& group = schedule.groups.emplace_back();
    for (const int node : decision.operations) group.operations.push_back({node});
    group.each = decision.each;
    group.SetRewrite(decision.candidate.rewrite);
    group.keep = decision.candidate.keep;
    // That results may replace values is the usual case, and is not pinned.
    if (!decision.candidate.in_place) group.in_place = false;
    for (const GroupDecision::Copy& copy : decision.copies) {
      CopySchedule& pinned = group.copies.emplace_back(CopySchedule{{}, copy.readers});
      if (copy.decision.kind != RewriteKind::kNone) pinned.decision = Schedule{copy.decision, {}, {}};
    }
    // Stages of other kinds have numbers, too, but no decisions of their own.
    int number = -1;
    for (const Stage* stage : NumberedStages(plan, i)) {
      ++number;
      if (stage->kind == StageKind::kRows)
        group.stages.push_back({{}, number, true, stage->schedule});
      else if (stage->kind == StageKind::kContraction)
        group.stages.push_back({{}, number, false, {}, MakeSchedule(stage->impl)});
    }
  }
  return schedule;
}

std::string PrintValue(const ScheduledValue& value) {
  return value.node == ScheduledValue::kResult ? "out" : Cat("v", value.node);
}

std::string NameOfValue(const Graph& graph, int node) {
  if (graph.results.size() == 1 && graph.IsResult(node)) return PrintValue({});
  const GraphNode& at = graph.at(node);
  return Info(at.op).kind == OperationKind::kLeaf ? at.text : PrintValue({node});
}

std::string NamesOfValues(const Graph& graph, const std::vector<int>& nodes) {
  return Join(nodes, " ", [&](int node) { return NameOfValue(graph, node); });
}

std::string PrintRewrite(const AppliedRewrite& rewrite) {
  std::string text(rewrite.name);
  for (const AppliedRewrite::Parameter& parameter : rewrite.parameters)
    Append(&text, " ", parameter.name, "=", parameter.value);
  return text;
}

std::string PrintCandidate(const GroupCandidate& candidate) {
  return Cat(PrintRewrite(candidate.rewrite), " keep=", Name(candidate.keep),
             candidate.in_place ? "" : " in-place=no");
}

std::string PrintRowSchedule(const RowSchedule& schedule) {
  std::string text = Cat("lanes=", schedule.lanes);
  if (!schedule.unroll.empty()) Append(&text, " unroll=", Join(schedule.unroll, ","));
  if (!schedule.kept.empty()) Append(&text, " kept=", Join(schedule.kept, ","));
  if (schedule.online) text += " online";
  if (schedule.prefetch != 0) Append(&text, " prefetch=", schedule.prefetch);
  if (schedule.streamed != RowSchedule::kNone) Append(&text, " streamed=", schedule.streamed);
  return text;
}

std::string PrintPlanSchedule(const Plan& plan) { return Printer(plan).Print(); }

absl::StatusOr<PlanSchedule> ParsePlanSchedule(std::string_view text, std::string_view source) {
  Parser parser(source);
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    KIRSCH_RETURN_IF_ERROR(parser.ParseLine(line, number));
  }
  return std::move(parser).Take();
}

}  // namespace kirsch
