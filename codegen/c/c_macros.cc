// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_macros.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "codegen/c/c_groups.h"
#include "codegen/c/c_lines.h"
#include "codegen/c/c_statements.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The parameter of macros of beginnings.
constexpr char kFunctionName[] = "_z0";

// True if a macro stands for all of the statement.
bool IsCall(const Statement& statement) { return statement.macro != kNone && !statement.is_block; }

// Prints functions in five steps. Beginnings of functions that are the same but for the name become macros of
// the name. Functions of one shape become instances of a macro; groups of statements that occur several times
// become calls of macros, and so do beginnings of blocks (c_groups.h); then all is printed, macros where they
// are first needed.
class MacroPrinter {
 public:
  MacroPrinter(absl::Span<const CFunction> functions, const std::string& prefix)
      : functions_(functions), prefix_(prefix) {}

  // Functions that became instances are left out of the search for groups: the macro's body stands for them,
  // and is searched itself.
  std::string Print() && {
    DefineBeginnings();
    for (const CFunction& function : functions_) texts_.push_back(SplitStatements(TextOf(function)));
    MakeInstances();
    std::vector<Statements*> texts;
    for (Statements& text : texts_)
      if (!IsCall(text[0])) texts.push_back(&text);
    MakeGroups(texts, &macros_);
    texts.clear();
    // The beginning of a function stays text where somebody may look for it.
    for (size_t i = 0; i < functions_.size(); ++i)
      texts.push_back(functions_[i].by_macro ? &texts_[i] : &texts_[i][0].body);
    MakeBeginnings(texts, &macros_);
    names_.resize(macros_.size());
    for (size_t i = 0; i < functions_.size(); ++i) PrintFunction(i);
    PrintInstances();
    text_ += "\n";
    for (size_t i = 1; i <= defined_; ++i) Append(&text_, "#undef ", prefix_, i, "\n");
    return std::move(text_);
  }

 private:
  // Defines a macro of each beginning that several functions have: all but the name, up to the body.
  void DefineBeginnings() {
    std::map<std::string, size_t> times;
    for (const CFunction& function : functions_)
      if (function.by_macro) ++times[BeginningOf(function)];
    for (const auto& [beginning, count] : times) {
      if (count == 1) continue;
      beginnings_[beginning] = Cat(prefix_, ++defined_);
      AppendDefinition({kFunctionName}, {beginning});
    }
    if (defined_ > 0) text_ += "\n";
  }
  static std::string BeginningOf(const CFunction& function) {
    return Cat(Join(absl::StrSplit(function.before, '\n'), " "), kFunctionName,
               std::string_view(function.after).substr(0, function.after.find(" {\n")));
  }
  // Returns the function, which begins with the macro of its beginning, if there is one. Without one, what is
  // before its name on other lines is left out.
  std::string TextOf(const CFunction& function) const {
    const auto it = function.by_macro ? beginnings_.find(BeginningOf(function)) : beginnings_.end();
    if (it == beginnings_.end())
      return Cat(function.before.substr(function.before.rfind('\n') + 1), function.name, function.after);
    return Cat(it->second, "(", function.name, ")", function.after.substr(function.after.find(" {\n")));
  }

  // Makes macros of functions that have one shape.
  void MakeInstances() {
    std::map<std::string, std::vector<size_t>> alike;
    for (size_t i = 0; i < functions_.size(); ++i)
      if (functions_[i].by_macro && beginnings_.contains(BeginningOf(functions_[i])))
        alike[ShapeOf(texts_[i].front())].push_back(i);
    for (const auto& [shape, same] : alike)
      if (same.size() > 1) MakeInstances(same);
  }
  void MakeInstances(const std::vector<size_t>& same) {
    std::vector<std::vector<Hole>> holes;
    for (size_t i : same) holes.push_back(FindHoles(texts_[i]));
    const Parameters parameters(holes);
    // More parameters than C allows: these functions stay as they are.
    if (parameters.size() > kMostParameters) return;
    macros_.push_back({WithValues(texts_[same[0]], parameters), parameters.size()});
    for (size_t i = 0; i < same.size(); ++i)
      texts_[same[i]] = {{MacroCall(parameters, holes[i]), {}, false, macros_.size() - 1}};
  }

  // An instance is a call: KIR3(16,512). Any other function is printed with its calls of macros.
  void PrintFunction(size_t number) {
    const CFunction& function = functions_[number];
    const Statements& text = texts_[number];
    DefineAll(text);
    if (IsCall(text[0])) return instances_.push_back(Text(text[0]));
    PrintInstances();
    const size_t line = function.before.rfind('\n') + 1;
    const bool shortened = function.by_macro && beginnings_.contains(BeginningOf(function));
    Append(&text_, shortened ? "" : function.before.substr(0, line), Lines(text, ""));
  }
  // Prints the instances since the last text that is none.
  void PrintInstances() {
    if (!instances_.empty()) text_ += Flow(instances_, "", "");
    instances_.clear();
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
    PrintInstances();
    names_[number] = Cat(prefix_, ++defined_);
    std::vector<std::string> parameters, words;
    for (size_t i = 0; i < macro.parameters; ++i) parameters.push_back(ParameterName(i));
    AppendWords(macro.body, &words);
    AppendDefinition(parameters, words);
  }
  // Appends the definition of the last macro that has a name: on one line, if it fits there.
  void AppendDefinition(const std::vector<std::string>& parameters, const std::vector<std::string>& words) {
    const std::string list = parameters.empty() ? "" : Cat("(", Join(parameters, ","), ")");
    const std::string head = Cat("#define ", prefix_, defined_, list, " ");
    const std::string line = Cat(head, Join(words, " "), "\n");
    text_ += line.size() <= kLineWidth ? line : Cat(head, "\\\n", Flow(words, "  ", " \\"));
  }

  // Prints one statement a line, a block too if it fits there. Calls of macros fill lines instead: they are
  // short, and nobody reads them one by one.
  std::string Lines(const Statements& statements, const std::string& indent) const {
    std::string text;
    std::vector<std::string> calls;
    const auto print_calls = [&] {
      if (!calls.empty()) text += Flow(calls, indent, "");
      calls.clear();
    };
    for (const Statement& statement : statements) {
      if (IsCall(statement)) {
        calls.push_back(Text(statement));
        continue;
      }
      print_calls();
      std::vector<std::string> words;
      AppendWords({statement}, &words);
      const std::string line = Join(words, " ");
      if (!statement.is_block || indent.size() + line.size() < kLineWidth)
        Append(&text, indent, line, "\n");
      else
        Append(&text, indent, Text(statement), "\n", Lines(statement.body, indent + "  "), indent, "}\n");
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
  std::map<std::string, std::string> beginnings_;  // macros of functions' beginnings, by what they stand for
  std::vector<Statements> texts_;                  // by function: itself, or the call that it became
  std::deque<Macro> macros_;
  std::vector<std::string> names_;  // of macros that are defined
  size_t defined_ = 0;
  std::vector<std::string> instances_;  // calls that are not printed yet
  std::string text_;
};

}  // namespace

std::string PrintFunctions(absl::Span<const CFunction> functions, const std::string& prefix) {
  if (!prefix.empty()) return MacroPrinter(functions, prefix).Print();
  return Join(functions, "\n",
              [](const CFunction& function) { return Cat(function.before, function.name, function.after); });
}

}  // namespace kirsch
