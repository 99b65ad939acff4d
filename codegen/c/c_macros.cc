#include "codegen/c/c_macros.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "codegen/c/c_pattern.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr size_t kLongestGroup = 48;     // statements
constexpr size_t kMostParameters = 100;  // of a macro; C has 127
constexpr size_t kWidth = 110;           // of a line of calls
constexpr size_t kDefinition = 45;       // bytes that a macro takes besides its text

std::optional<std::vector<int64_t>> Numbers(const std::vector<std::string>& column) {
  std::vector<int64_t> numbers;
  for (const std::string& value : column) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(value, &number) || number > std::numeric_limits<int32_t>::max()) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

// times * of + plus
struct Line {
  int64_t times = 0, plus = 0;
};

// How the numbers follow from others; nothing if they don't by natural numbers.
std::optional<Line> LineThrough(const std::vector<int64_t>& numbers, const std::vector<int64_t>& of) {
  const size_t other = static_cast<size_t>(
      std::find_if(of.begin(), of.end(), [&](int64_t number) { return number != of[0]; }) - of.begin());
  if (other == of.size()) return std::nullopt;
  const int64_t rise = numbers[other] - numbers[0], run = of[other] - of[0];
  const Line line = {rise / run, numbers[0] - rise / run * of[0]};
  if (rise % run != 0 || line.times <= 0 || line.plus < 0) return std::nullopt;
  for (size_t i = 0; i < of.size(); ++i)
    if (line.times * of[i] + line.plus != numbers[i]) return std::nullopt;
  return line;
}

std::string LineText(const Line& line, const std::string& of) {
  if (line.times == 1 && line.plus == 0) return of;
  const std::string product = line.times == 1 ? of : Cat(line.times, " * ", of);
  return line.plus == 0 ? Cat("(", product, ")") : Cat("(", product, " + ", line.plus, ")");
}

// The parameters of one macro for texts of one shape.
class Parameters {
 public:
  explicit Parameters(absl::Span<const Pattern> texts) : texts_(texts), values_(texts[0].holes.size()) {
    std::vector<Column> columns;
    for (size_t hole = 0; hole < values_.size(); ++hole) columns.push_back(ColumnOf(hole));
    // Each after those that it may follow from.
    std::stable_sort(columns.begin(), columns.end(),
                     [](const Column& a, const Column& b) { return a.rank < b.rank; });
    for (const Column& column : columns) values_[column.hole] = ValueOf(column);
  }

  size_t size() const { return columns_.size(); }
  // The text of the macro, which has these in the holes.
  std::string Body() const { return texts_[0].With(values_); }
  std::string Names() const {
    std::string names;
    for (size_t i = 0; i < size(); ++i) Append(&names, i > 0 ? ", " : "", NameOf(i));
    return names;
  }
  // Those of the call that stands for a text.
  std::string ArgumentsOf(size_t text) const {
    std::string arguments;
    for (size_t i = 0; i < size(); ++i) Append(&arguments, i > 0 ? ", " : "", columns_[i].values[text]);
    return arguments;
  }

 private:
  // What is in a hole of each text.
  struct Column {
    size_t hole = 0;
    std::vector<std::string> values;
    std::optional<std::vector<int64_t>> numbers;
    int64_t rank = 0;
  };

  Column ColumnOf(size_t hole) const {
    Column column{hole, {}, {}, std::numeric_limits<int64_t>::max()};
    for (const Pattern& text : texts_) column.values.push_back(text.holes[hole].value);
    column.numbers = Numbers(column.values);
    // What is pasted follows from nothing, and a number only from smaller ones.
    if (texts_[0].holes[hole].pasted)
      column.rank = -1;
    else if (column.numbers)
      column.rank = std::accumulate(column.numbers->begin(), column.numbers->end(), int64_t{0});
    return column;
  }

  std::string ValueOf(const Column& column) {
    const Hole& first = texts_[0].holes[column.hole];
    const bool same = std::all_of(column.values.begin(), column.values.end(),
                                  [&](const std::string& value) { return value == first.value; });
    // (A parameter of the macro that the texts are in is none of another's.)
    if (same && !first.bound) return first.value;
    for (size_t i = 0; i < size(); ++i)
      if (columns_[i].values == column.values) return NameOf(i);
    for (size_t i = 0; i < size() && column.numbers && !first.pasted; ++i) {
      if (!columns_[i].numbers) continue;
      const std::optional<Line> line = LineThrough(*column.numbers, *columns_[i].numbers);
      if (line) return LineText(*line, NameOf(i));
    }
    columns_.push_back(column);
    return NameOf(size() - 1);
  }
  static std::string NameOf(size_t parameter) { return Cat(std::string(1, kBound), parameter + 1); }

  absl::Span<const Pattern> texts_;
  std::vector<std::string> values_;  // by hole
  std::vector<Column> columns_;      // of the parameters
};

// A line, or one that begins a block with all up to the block's end.
struct Statement {
  std::string indent;
  std::vector<std::string> lines;  // without it
  Pattern pattern;
  std::string shape;
};

std::vector<Statement> StatementsOf(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  std::vector<Statement> statements;
  for (size_t i = 0; i < lines.size(); ++i) {
    Statement statement;
    statement.indent = lines[i].substr(0, lines[i].find_first_not_of(' '));
    const auto add = [&] { statement.lines.push_back(lines[i].substr(statement.indent.size())); };
    add();
    if (lines[i].back() == '{') {
      const std::string end = statement.indent + "}";
      while (lines[i] != end) {
        ++i;
        add();
      }
    }
    statement.pattern = PatternOf(absl::StrJoin(statement.lines, "\n"));
    statement.shape = statement.pattern.shape();
    statements.push_back(std::move(statement));
  }
  return statements;
}

// How many groups of `length` statements there are from `first` on, one after the other and of one shape.
size_t CountGroups(const std::vector<Statement>& statements, size_t first, size_t length) {
  size_t end = first + length;
  while (end < statements.size() && statements[end].shape == statements[end - length].shape) ++end;
  return (end - first) / length;
}

Pattern GroupAt(const std::vector<Statement>& statements, size_t first, size_t length) {
  Pattern group = statements[first].pattern;
  for (size_t i = 1; i < length; ++i) {
    group.text.back() += "\n";
    group.Append(statements[first + i].pattern);
  }
  return group;
}

class MacroPrinter {
 public:
  explicit MacroPrinter(const std::string& prefix) : prefix_(prefix) {}

  std::string Print(absl::Span<const CFunction> functions) {
    std::map<std::string, std::vector<size_t>> alike;
    for (size_t i = 0; i < functions.size(); ++i) alike[ShapeOf(functions[i], i)].push_back(i);
    for (size_t i = 0; i < functions.size(); ++i) {
      if (i > 0) text_ += "\n";
      const std::vector<size_t>& same = alike[ShapeOf(functions[i], i)];
      if (same.size() > 1 && same.front() == i) Define(functions, same);
      if (!instances_.contains(i)) {
        const std::string after = Grouped(functions[i].after);
        Append(&text_, functions[i].before, functions[i].name, after);
        continue;
      }
      text_ += instances_[i];
    }
    if (!names_.empty()) text_ += "\n";
    for (const std::string& name : names_) Append(&text_, "#undef ", name, "\n");
    return std::move(text_);
  }

 private:
  static std::string ShapeOf(const CFunction& function, size_t number) {
    if (!function.by_macro) return Cat(number);
    return Cat(function.before, "\n", PatternOf(function.after).shape());
  }

  // The name of a new macro. `text`: without the end of its last line.
  std::string NewMacro(const std::string& parameters, const std::string& text) {
    names_.push_back(Cat(prefix_, names_.size() + 1));
    Append(&text_, "#define ", names_.back(), "(", parameters, ") \\\n",
           absl::StrReplaceAll(text, {{"\n", " \\\n"}}), "\n");
    return names_.back();
  }

  // Of functions of one shape, the macro; and each as an instance of it. Nothing if it had too many parameters.
  void Define(absl::Span<const CFunction> functions, const std::vector<size_t>& same) {
    std::vector<Pattern> texts;
    for (size_t i : same) texts.push_back(PatternOf(functions[i].after));
    const Parameters parameters(texts);
    if (parameters.size() > kMostParameters) return;
    std::string body = Cat(functions[same[0]].before, "NAME", Grouped(parameters.Body()));
    body.pop_back();
    const char* separator = parameters.size() > 0 ? ", " : "";
    const std::string name = NewMacro(Cat("NAME", separator, parameters.Names()), body);
    for (size_t i = 0; i < same.size(); ++i)
      instances_[same[i]] =
          Cat(name, "(", functions[same[i]].name, separator, parameters.ArgumentsOf(i), ")\n");
  }

  // Groups of `length` statements one after the other, all by one macro.
  struct Run {
    size_t length = 0;
    std::string body;
    std::vector<std::string> arguments;  // of each call
    std::string names;
    int64_t saves = 0;  // bytes
  };
  // Statements, with groups of them by macros.
  std::string Grouped(const std::string& text) {
    const std::vector<Statement> statements = StatementsOf(text);
    std::string grouped;
    for (size_t i = 0; i < statements.size();) {
      const Run run = BestRunAt(statements, i);
      if (run.saves > 0) {
        grouped += Calls(run, statements[i].indent);
        i += run.length * run.arguments.size();
      } else {
        grouped += Single(statements[i++]);
      }
    }
    return grouped;
  }
  std::string Single(const Statement& statement) {
    const std::string first = Cat(statement.indent, statement.lines.front(), "\n");
    if (statement.lines.size() == 1) return first;
    std::string inner;
    for (size_t i = 1; i + 1 < statement.lines.size(); ++i)
      Append(&inner, statement.indent, statement.lines[i], "\n");
    return Cat(first, Grouped(inner), statement.indent, statement.lines.back(), "\n");
  }

  Run BestRunAt(const std::vector<Statement>& statements, size_t first) const {
    Run best;
    for (size_t length = 1; length <= kLongestGroup && first + 2 * length <= statements.size(); ++length) {
      Run run = RunAt(statements, first, length);
      if (run.saves > best.saves) best = std::move(run);
    }
    return best;
  }
  Run RunAt(const std::vector<Statement>& statements, size_t first, size_t length) const;
  std::string Calls(const Run& run, const std::string& indent);

  const std::string prefix_;
  std::string text_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> groups_;  // the macro's name by its text
  std::map<size_t, std::string> instances_;    // of functions
};

MacroPrinter::Run MacroPrinter::RunAt(const std::vector<Statement>& statements, size_t first,
                                      size_t length) const {
  Run run;
  const size_t count = CountGroups(statements, first, length);
  if (count < 2) return run;
  std::vector<Pattern> groups;
  for (size_t i = 0; i < count; ++i) groups.push_back(GroupAt(statements, first + i * length, length));
  const Parameters parameters(groups);
  if (parameters.size() == 0 || parameters.size() > kMostParameters) return run;
  run.length = length;
  run.body = parameters.Body();
  run.names = parameters.Names();
  for (size_t i = 0; i < count; ++i) {
    run.arguments.push_back(parameters.ArgumentsOf(i));
    run.saves -= static_cast<int64_t>(run.arguments.back().size() + 13);
  }
  for (size_t i = first; i < first + length * count; ++i)
    for (const std::string& line : statements[i].lines)
      run.saves += static_cast<int64_t>(statements[i].indent.size() + line.size() + 1);
  if (!groups_.contains(run.body)) run.saves -= static_cast<int64_t>(run.body.size() + kDefinition);
  return run;
}

std::string MacroPrinter::Calls(const Run& run, const std::string& indent) {
  if (!groups_.contains(run.body)) {
    std::string body = Grouped("  " + absl::StrReplaceAll(run.body, {{"\n", "\n  "}}));
    body.pop_back();
    groups_[run.body] = NewMacro(run.names, body);
  }
  const std::string& name = groups_[run.body];
  std::string text, line = indent;
  for (const std::string& arguments : run.arguments) {
    const std::string call = Cat(name, "(", arguments, ")");
    if (line.size() + call.size() > kWidth && line.size() > indent.size()) {
      Append(&text, line, "\n");
      line = indent;
    }
    Append(&line, line.size() > indent.size() ? " " : "", call);
  }
  return Cat(text, line, "\n");
}

}  // namespace

std::string PrintFunctions(absl::Span<const CFunction> functions, const std::string& prefix) {
  if (!prefix.empty()) return MacroPrinter(prefix).Print(functions);
  return absl::StrJoin(functions, "\n", [](std::string* text, const CFunction& function) {
    Append(text, function.before, function.name, function.after);
  });
}

}  // namespace kirsch
