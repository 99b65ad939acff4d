// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_macros.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "codegen/c/c_groups.h"
#include "codegen/c/c_statements.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr size_t kWidth = 110;  // bytes of a line of calls, or of a macro

// Fills lines with words, a space between two. Lines begin with the indent; `more` ends all but the last.
std::string Flow(absl::Span<const std::string> words, const std::string& indent, const char* more) {
  std::string text, line = indent;
  for (const std::string& word : words) {
    if (line.size() > indent.size() && line.size() + word.size() > kWidth) {
      Append(&text, line, more, "\n");
      line = indent;
    }
    Append(&line, line.size() > indent.size() ? " " : "", word);
  }
  return Cat(text, line, "\n");
}

// Prints functions in three steps. Functions of one shape become instances of a macro; groups of statements
// that occur several times become calls of macros (c_groups.h); then all is printed, macros where they are
// first needed.
class MacroPrinter {
 public:
  MacroPrinter(absl::Span<const CFunction> functions, const std::string& prefix)
      : functions_(functions), prefix_(prefix), calls_(functions.size()) {
    for (const CFunction& function : functions) bodies_.push_back(SplitStatements(function.after));
  }

  // Bodies that became instances are left out of the search for groups: the macro's body stands for them, and
  // is searched itself.
  std::string Print() && {
    MakeInstances();
    std::vector<Statements*> texts;
    for (size_t i = 0; i < functions_.size(); ++i)
      if (calls_[i].macro == kNone) texts.push_back(&bodies_[i]);
    MakeGroups(texts, &macros_);
    names_.resize(macros_.size());
    for (size_t i = 0; i < functions_.size(); ++i) {
      if (i > 0) text_ += "\n";
      PrintFunction(i);
    }
    if (defined_ > 0) text_ += "\n";
    for (size_t i = 1; i <= defined_; ++i) Append(&text_, "#undef ", prefix_, i, "\n");
    return std::move(text_);
  }

 private:
  // Makes macros of functions that have one shape, and the same text before their names.
  void MakeInstances() {
    std::map<std::string, std::vector<size_t>> alike;
    for (size_t i = 0; i < functions_.size(); ++i)
      if (functions_[i].by_macro)
        alike[Cat(functions_[i].before, "\n", ShapeOf(bodies_[i].front()))].push_back(i);
    for (const auto& [shape, same] : alike)
      if (same.size() > 1) MakeInstances(same);
  }
  void MakeInstances(const std::vector<size_t>& same) {
    std::vector<std::vector<Hole>> texts;
    for (size_t i : same) texts.push_back(FindHoles(bodies_[i]));
    const Parameters parameters(texts);
    // More parameters than C allows: these functions stay as they are.
    if (parameters.size() > kMostParameters) return;
    for (size_t i = 0; i < same.size(); ++i)
      calls_[same[i]] = {MacroCall(parameters, texts[i]), {}, false, macros_.size()};
    macros_.push_back(
        {WithValues(bodies_[same[0]], parameters), parameters.size(), functions_[same[0]].before});
  }

  // An instance is one line: KIRSCH_3(name, 16, 512). Any other function is printed with its calls of macros.
  void PrintFunction(size_t number) {
    const CFunction& function = functions_[number];
    const Statement& call = calls_[number];
    if (call.macro != kNone) {
      Define(call.macro);
      const std::string arguments = call.head.Text();  // "(...)"
      Append(&text_, names_[call.macro], "(", function.name, arguments == "()" ? "" : ", ",
             arguments.substr(1), "\n");
      return;
    }
    DefineAll(bodies_[number]);
    Append(&text_, function.before, function.name, Lines(bodies_[number], ""));
  }

  void DefineAll(const Statements& statements) {
    for (const Statement& statement : statements) {
      if (statement.macro != kNone) Define(statement.macro);
      DefineAll(statement.body);
    }
  }

  // Defines the macro, if it is not defined yet, behind those that it calls. Names are given in this order,
  // so they ascend in the file.
  void Define(size_t number) {
    if (!names_[number].empty()) return;
    const Macro& macro = macros_[number];
    DefineAll(macro.body);
    names_[number] = Cat(prefix_, ++defined_);
    std::vector<std::string> parameters, words;
    if (!macro.before.empty()) parameters.push_back("NAME");
    for (size_t i = 0; i < macro.parameters; ++i) parameters.push_back(ParameterName(i));
    AppendWords(macro.body, &words);
    if (!macro.before.empty())
      // A function's macro begins as the function does. The name is its first parameter, NAME.
      words[0] = Cat(Join(absl::StrSplit(macro.before, '\n'), " "), "NAME", words[0]);
    Append(&text_, "#define ", names_[number], "(", Join(parameters, ", "), ") \\\n",
           Flow(words, "  ", " \\"));
  }

  // Prints one statement a line. Calls of macros fill lines instead: they are short, and nobody reads them
  // one by one.
  std::string Lines(const Statements& statements, const std::string& indent) const {
    std::string text;
    std::vector<std::string> calls;
    const auto print_calls = [&] {
      if (!calls.empty()) text += Flow(calls, indent, "");
      calls.clear();
    };
    for (const Statement& statement : statements) {
      if (statement.macro != kNone) {
        calls.push_back(Text(statement));
        continue;
      }
      print_calls();
      Append(&text, indent, Text(statement), "\n");
      if (statement.is_block) Append(&text, Lines(statement.body, indent + "  "), indent, "}\n");
    }
    print_calls();
    return text;
  }

  // Appends the statements as the words of a macro's body, where no line ends matter.
  void AppendWords(const Statements& statements, std::vector<std::string>* words) const {
    for (const Statement& statement : statements) {
      words->push_back(Text(statement));
      AppendWords(statement.body, words);
      if (statement.is_block) words->push_back("}");
    }
  }

  std::string Text(const Statement& statement) const {
    return Cat(statement.macro == kNone ? "" : names_[statement.macro], statement.head.Text());
  }

  absl::Span<const CFunction> functions_;
  const std::string prefix_;
  std::vector<Statements> bodies_;
  Statements calls_;  // by function: of its macro, if it is an instance
  std::deque<Macro> macros_;
  std::vector<std::string> names_;  // of macros that are defined
  size_t defined_ = 0;
  std::string text_;
};

}  // namespace

std::string PrintFunctions(absl::Span<const CFunction> functions, const std::string& prefix) {
  if (!prefix.empty()) return MacroPrinter(functions, prefix).Print();
  return Join(functions, "\n",
              [](const CFunction& function) { return Cat(function.before, function.name, function.after); });
}

}  // namespace kirsch
