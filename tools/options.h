// SPDX-License-Identifier: Apache-2.0
// Declares commands and their options. It stands before CLI11, which reads them: that library is compiled
// with each file that includes it, which took a third of the time of tools/.
#ifndef KIRSCH_TOOLS_OPTIONS_H_
#define KIRSCH_TOOLS_OPTIONS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kirsch {

// The groups in which --help lists a command's options.
inline constexpr char kWhatGroup[] = "What";      // is computed
inline constexpr char kTargetGroup[] = "Target";  // the CPU, threads and caches it is for
inline constexpr char kSearchGroup[] = "Search";  // how its program is found
inline constexpr char kOutputGroup[] = "Output";  // what is written, and where
inline constexpr char kCheckGroup[] = "Check";    // what is held against what is known

// Looks at the text of a value. Returns what is wrong with it, or nothing.
using OptionCheck = std::function<std::string(const std::string& text)>;

// Refuses an empty text, as of a variable of a script that isn't set: it is not taken for an option that
// isn't there.
OptionCheck NotEmpty(const std::string& what);
// Takes one of `words` only.
OptionCheck WordOf(const std::vector<std::string>& words);

// An option of a command. A handle, valid as long as the command line is. Its functions return the handle
// again, so that calls can follow each other.
class Option {
 public:
  // `values` is what --help calls them; without it, they are called by their type.
  Option Check(const OptionCheck& check, const std::string& values = "") const;
  Option InRange(int low, int high) const;
  Option Required(bool required = true) const;
  Option Excludes(const Option& other) const;
  Option Excludes(const std::string& other) const;  // one that the command has so far: "--quick"
  Option SplitAt(char delimiter) const;             // a value is a list
  Option TakeLast() const;                          // of several values, the last one counts
  Option OneValueEach() const;                      // of a list: its name stands before each value

 private:
  friend class Command;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;
};

// An option that the user gave.
struct GivenOption {
  std::string name;   // with dashes; the long one, if it has one
  std::string value;  // the last of several
  bool needs_value = false;
  bool positional = false;
};

// A command, or a command of one: "target", and "calibrate" in it. A handle as well.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  std::string name() const;
  std::vector<Command> commands() const;
  std::string Help(const std::string& name) const;  // as `name --help` prints it
  std::vector<GivenOption> given() const;           // in the order in which they were added

  Command AddCommand(const std::string& name, const std::string& help) const;
  void RequireCommand() const;  // an error lists its commands where none was chosen
  // Calls `function` if the command was chosen, once all options have been read.
  void OnChosen(const std::function<void()>& function) const;
  void AddToFooter(const std::string& text) const;

  // Sets the group of the options that are added from here on.
  void BeginGroup(const char* group) const;

  // Adds an option that sets `value`, which outlives the command line. `names` are as in "-o,--output";
  // without dashes it is an argument by its place. Option values are of the types that options.cc lists.
  template <typename Value>
  Option Add(const std::string& names, Value& value, const std::string& help) const;

  // Adds an option that names a file.
  template <typename Value>
  Option AddFile(const std::string& names, Value& value, const std::string& help) const {
    return Add(names, value, help).Check(NotEmpty("a file"));
  }

  // Adds an option that needs no value: "--cold"; "--chosen{100}", which is 100 without one; "!--no-fusion",
  // which sets false.
  template <typename Value>
  Option AddFlag(const std::string& names, Value& value, const std::string& help) const;

  // Adds an option whose words stand for values.
  template <typename Value>
  Option AddChoice(const std::string& names, const std::map<std::string, Value>& words, Value& value,
                   const std::string& help) const {
    std::vector<std::string> known;
    for (const auto& [word, meaning] : words) known.push_back(word);
    return AddCalled(
               names, [words, &value](const std::string& word) { value = words.at(word); }, help)
        .Check(WordOf(known));
  }

  // Replaces the help of an option that the command has.
  void Describe(const std::string& name, const std::string& help) const;

  // Lets users go on calling `option` by the name it had before: --help does not list that name, and a remark
  // says the new one.
  void KeepOldName(const std::string& old_name, const Option& option) const;

 private:
  Option AddCalled(const std::string& names, const std::function<void(const std::string&)>& function,
                   const std::string& help) const;

  CLI::App* app_;
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OPTIONS_H_
