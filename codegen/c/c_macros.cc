#include "codegen/c/c_macros.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
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

constexpr size_t kLongestGroup = 16;      // lines
constexpr size_t kMostParameters = 26;    // of a group: A to Z
constexpr size_t kWidth = 110;            // of a line of calls
constexpr size_t kDefinition = 45;        // bytes that a macro takes besides its text
constexpr size_t kMostInFunction = 100;   // parameters; C has 127

// Texts of one shape, and which parameter of a macro is in which hole.
struct Parameters {
  std::vector<std::string> values;                  // what is in each hole of the macro
  std::vector<std::vector<std::string>> arguments;  // of each text
};

// The hole in each of the texts.
std::vector<std::string> Column(absl::Span<const Pattern> texts, size_t hole) {
  std::vector<std::string> column;
  for (const Pattern& text : texts) column.push_back(text.holes[hole].value);
  return column;
}

bool AllEqual(const std::vector<std::string>& column) {
  return std::all_of(column.begin(), column.end(), [&](const auto& value) { return value == column[0]; });
}

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

// The parameters of a macro for whole functions.
class FunctionParameters {
 public:
  explicit FunctionParameters(absl::Span<const Pattern> texts) : texts_(texts) {
    parameters_.arguments.resize(texts.size());
    for (size_t hole = 0; hole < texts[0].holes.size(); ++hole)
      parameters_.values.push_back(ValueOf(Column(texts, hole), texts[0].holes[hole].pasted));
  }
  Parameters Get() && { return std::move(parameters_); }

 private:
  std::string ValueOf(const std::vector<std::string>& column, bool pasted) {
    if (AllEqual(column)) return column[0];
    const auto same = std::find(columns_.begin(), columns_.end(), column);
    if (same != columns_.end()) return NameOf(static_cast<size_t>(same - columns_.begin()));
    const std::optional<std::vector<int64_t>> numbers = Numbers(column);
    for (size_t i = 0; numbers && !pasted && i < columns_.size(); ++i) {
      const std::optional<std::vector<int64_t>> of = Numbers(columns_[i]);
      const std::optional<Line> line = of ? LineThrough(*numbers, *of) : std::nullopt;
      if (line) return LineText(*line, NameOf(i));
    }
    columns_.push_back(column);
    for (size_t i = 0; i < texts_.size(); ++i) parameters_.arguments[i].push_back(column[i]);
    return NameOf(columns_.size() - 1);
  }
  static std::string NameOf(size_t parameter) { return Cat(std::string(1, kBound), parameter + 1); }

  const absl::Span<const Pattern> texts_;
  std::vector<std::vector<std::string>> columns_;  // of the parameters
  Parameters parameters_;
};

// Those of a macro for lines: what is the same in all groups is no parameter, unless it is one of the function.
Parameters GroupParameters(absl::Span<const Pattern> texts) {
  Parameters parameters;
  parameters.arguments.resize(texts.size());
  std::vector<std::vector<std::string>> columns;
  for (size_t hole = 0; hole < texts[0].holes.size(); ++hole) {
    const std::vector<std::string> column = Column(texts, hole);
    if (AllEqual(column) && !texts[0].holes[hole].bound) {
      parameters.values.push_back(column[0]);
      continue;
    }
    const size_t same =
        static_cast<size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin());
    if (same == columns.size()) {
      columns.push_back(column);
      for (size_t i = 0; i < texts.size(); ++i) parameters.arguments[i].push_back(column[i]);
    }
    parameters.values.emplace_back(1, static_cast<char>('A' + same));
  }
  return parameters;
}

class MacroPrinter {
 public:
  explicit MacroPrinter(const std::string& prefix) : prefix_(prefix) {}

  std::string Print(absl::Span<const CFunction> functions) {
    std::map<std::string, std::vector<size_t>> alike;
    for (size_t i = 0; i < functions.size(); ++i)
      alike[ShapeOf(functions[i], i)].push_back(i);
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

  std::string NewName() {
    names_.push_back(Cat(prefix_, names_.size() + 1));
    return names_.back();
  }

  // Of functions of one shape, the macro; and each as an instance of it. Nothing if it had too many parameters.
  void Define(absl::Span<const CFunction> functions, const std::vector<size_t>& same) {
    std::vector<Pattern> texts;
    for (size_t i : same) texts.push_back(PatternOf(functions[i].after));
    const Parameters parameters = FunctionParameters(texts).Get();
    if (parameters.arguments[0].size() > kMostInFunction) return;
    const std::string after = Grouped(texts[0].With(parameters.values));
    const std::string name = NewName();
    std::string names = "NAME";
    for (size_t i = 0; i < parameters.arguments[0].size(); ++i) Append(&names, ", ", std::string(1, kBound), i + 1);
    std::string body = Cat(functions[same[0]].before, "NAME", after);
    body.pop_back();  // the end of the last line
    Append(&text_, "#define ", name, "(", names, ") \\\n", absl::StrReplaceAll(body, {{"\n", " \\\n"}}), "\n");
    for (size_t i = 0; i < same.size(); ++i) {
      std::vector<std::string> arguments = {functions[same[i]].name};
      arguments.insert(arguments.end(), parameters.arguments[i].begin(), parameters.arguments[i].end());
      instances_[same[i]] = Cat(name, "(", absl::StrJoin(arguments, ", "), ")\n");
    }
  }

  // Lines of a function, with groups of them by macros.
  std::string Grouped(const std::string& after);

  struct Lines {
    std::vector<std::string> text, indents;
    std::vector<Pattern> patterns;
    std::vector<std::string> shapes;  // empty: no line of a group
  };
  static Lines LinesOf(const std::string& text);
  static Pattern Join(const Lines& lines, size_t first, size_t count) {
    Pattern joined = lines.patterns[first];
    for (size_t i = 1; i < count; ++i) {
      joined.text.back() += " ";
      joined.Append(lines.patterns[first + i]);
    }
    return joined;
  }

  // Groups of `length` lines one after the other, all by one macro.
  struct Run {
    size_t length = 0;
    Pattern shape;
    Parameters parameters;
    int64_t saves = 0;  // bytes
  };
  Run RunOf(const Lines& lines, size_t first, size_t length) const;
  std::string Calls(const Run& run, const std::string& indent);

  const std::string prefix_;
  std::string text_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> groups_;  // the macro's name by its text
  std::map<size_t, std::string> instances_;    // of functions
};

MacroPrinter::Lines MacroPrinter::LinesOf(const std::string& text) {
  Lines lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    lines.indents.emplace_back(line.substr(0, indent));
    lines.text.emplace_back(line.substr(indent));
    lines.patterns.push_back(PatternOf(std::string_view(lines.text.back())));
    // Statements that end in their line, and declare nothing.
    const std::string& statement = lines.text.back();
    const bool whole = !statement.empty() && statement.back() == ';' && !statement.starts_with("for") &&
                       statement.find_first_of("{}#") == std::string::npos;
    lines.shapes.push_back(whole ? lines.patterns.back().shape() : "");
  }
  return lines;
}

MacroPrinter::Run MacroPrinter::RunOf(const Lines& lines, size_t first, size_t length) const {
  Run run;
  run.length = length;
  const auto alike = [&](size_t a, size_t b) {
    for (size_t i = 0; i < length; ++i)
      if (b + i >= lines.shapes.size() || lines.shapes[b + i].empty() || lines.shapes[a + i] != lines.shapes[b + i])
        return false;
    return true;
  };
  std::vector<Pattern> texts;
  for (size_t at = first; alike(first, at); at += length) texts.push_back(Join(lines, at, length));
  if (texts.size() < 2) return run;
  run.parameters = GroupParameters(texts);
  run.shape = texts[0];
  if (run.parameters.arguments[0].empty() || run.parameters.arguments[0].size() > kMostParameters) return run;
  const std::string body = run.shape.With(run.parameters.values);
  for (size_t i = 0; i < texts.size(); ++i) {
    for (size_t line = 0; line < length; ++line) {
      const size_t number = first + i * length + line;
      run.saves += static_cast<int64_t>(lines.text[number].size() + lines.indents[number].size() + 1);
    }
    run.saves -= static_cast<int64_t>(absl::StrJoin(run.parameters.arguments[i], ", ").size() + 13);
  }
  if (!groups_.contains(body)) run.saves -= static_cast<int64_t>(body.size() + kDefinition);
  return run;
}

std::string MacroPrinter::Calls(const Run& run, const std::string& indent) {
  std::string& name = groups_[run.shape.With(run.parameters.values)];
  if (name.empty()) {
    name = NewName();
    std::string names;
    for (size_t i = 0; i < run.parameters.arguments[0].size(); ++i)
      Append(&names, i > 0 ? ", " : "", std::string(1, static_cast<char>('A' + i)));
    // Statement by statement, in lines of their own.
    Append(&text_, "#define ", name, "(", names, ") \\\n  ",
           absl::StrReplaceAll(run.shape.With(run.parameters.values), {{"; ", "; \\\n  "}}), "\n");
  }
  std::string text, line = indent;
  for (const std::vector<std::string>& arguments : run.parameters.arguments) {
    const std::string call = Cat(name, "(", absl::StrJoin(arguments, ", "), ")");
    if (line.size() + call.size() > kWidth && line.size() > indent.size()) {
      Append(&text, line, "\n");
      line = indent;
    }
    Append(&line, line.size() > indent.size() ? " " : "", call);
  }
  return Cat(text, line, "\n");
}

std::string MacroPrinter::Grouped(const std::string& after) {
  const Lines lines = LinesOf(after);
  std::string text;
  for (size_t i = 0; i < lines.text.size();) {
    Run best;
    if (!lines.shapes[i].empty()) {
      for (size_t length = 1; length <= kLongestGroup; ++length) {
        Run run = RunOf(lines, i, length);
        if (run.saves > best.saves) best = std::move(run);
      }
    }
    if (best.saves > 0) {
      text += Calls(best, lines.indents[i]);
      i += best.length * best.parameters.arguments.size();
    } else {
      Append(&text, lines.indents[i], lines.text[i], i + 1 < lines.text.size() ? "\n" : "");
      ++i;
    }
  }
  return text;
}

}  // namespace

std::string PrintFunctions(absl::Span<const CFunction> functions, const std::string& prefix) {
  if (!prefix.empty()) return MacroPrinter(prefix).Print(functions);
  return absl::StrJoin(functions, "\n", [](std::string* text, const CFunction& function) {
    Append(text, function.before, function.name, function.after);
  });
}

}  // namespace kirsch
