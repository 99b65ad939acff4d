// SPDX-License-Identifier: Apache-2.0
#include "tools/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/text.h"
#include "tools/output.h"

namespace kirsch {

OptionCheck NotEmpty(const std::string& what) {
  return [what](const std::string& text) {
    return text.empty() ? Cat("expected ", what, ", got nothing") : std::string();
  };
}

OptionCheck WordOf(const std::vector<std::string>& words) {
  return [words](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return Cat("expected ", Join(words, "|"), ", got ", Quoted(text), DidYouMean(text, words));
  };
}

Option Option::Check(const OptionCheck& check, const std::string& values) const {
  return Option(option_->check(CLI::Validator([check](std::string& text) { return check(text); }, values)));
}

Option Option::InRange(int low, int high) const { return Option(option_->check(CLI::Range(low, high))); }

Option Option::Required(bool required) const { return Option(option_->required(required)); }

Option Option::Excludes(const Option& other) const { return Option(option_->excludes(other.option_)); }

Option Option::Excludes(const std::string& other) const { return Option(option_->excludes(other)); }

Option Option::SplitAt(char delimiter) const { return Option(option_->delimiter(delimiter)); }

Option Option::TakeLast() const { return Option(option_->take_last()); }

Option Option::OneValueEach() const { return Option(option_->allow_extra_args(false)); }

Command Command::AddCommand(const std::string& name, const std::string& help) const {
  return Command(*app_->add_subcommand(name, help));
}

void Command::RequireCommand() const { app_->require_subcommand(1); }

void Command::OnChosen(const std::function<void()>& function) const { app_->callback(function); }

void Command::AddToFooter(const std::string& text) const { app_->footer(app_->get_footer() + text); }

std::string Command::name() const { return app_->get_name(); }

std::vector<Command> Command::commands() const {
  std::vector<Command> commands;
  for (CLI::App* command : app_->get_subcommands({})) commands.emplace_back(*command);
  return commands;
}

std::string Command::Help(const std::string& name) const {
  return app_->get_formatter()->make_help(app_, name, CLI::AppFormatMode::Normal);
}

std::vector<GivenOption> Command::given() const {
  std::vector<GivenOption> given;
  for (const CLI::Option* option : app_->get_options())
    if (option->count() > 0)
      given.push_back({option->get_name(), option->results().back(),
                       option->get_expected_min() > 0 && option->get_expected_max() > 0,
                       option->get_positional()});
  return given;
}

void Command::BeginGroup(const char* group) const { app_->option_defaults()->group(group); }

template <typename Value>
Option Command::Add(const std::string& names, Value& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}

template <typename Value>
Option Command::AddFlag(const std::string& names, Value& value, const std::string& help) const {
  return Option(app_->add_flag(names, value, help));
}

Option Command::AddCalled(const std::string& names, const std::function<void(const std::string&)>& function,
                          const std::string& help) const {
  return Option(app_->add_option_function<std::string>(names, function, help));
}

void Command::Describe(const std::string& name, const std::string& help) const {
  app_->get_option(name)->description(help);
}

void Command::KeepOldName(const std::string& old_name, const Option& option) const {
  CLI::Option* const known = option.option_;
  app_->add_option_function<std::string>(
          old_name,
          [old_name, known](const std::string& value) {
            RemarkAtEnd(Cat(old_name, " is called ", known->get_name(), " now"));
            known->add_result(value);
            known->run_callback();
          },
          "")
      ->group("");
}

template Option Command::Add(const std::string&, std::string&, const std::string&) const;
template Option Command::Add(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Command::Add(const std::string&, int&, const std::string&) const;
template Option Command::Add(const std::string&, uint64_t&, const std::string&) const;
template Option Command::Add(const std::string&, double&, const std::string&) const;
template Option Command::AddFlag(const std::string&, bool&, const std::string&) const;
template Option Command::AddFlag(const std::string&, int&, const std::string&) const;
template Option Command::AddFlag(const std::string&, std::string&, const std::string&) const;

}  // namespace kirsch
