// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch help [SPEC | TARGET | COMMAND]`. SPEC lists what a spec can say, TARGET what a target file
// can.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/text.h"
#include "tools/command.h"
#include "tools/spec_help.h"
#include "tools/target_help.h"

namespace kirsch {
namespace {

// Topics that are no commands.
constexpr char kSpecTopic[] = "SPEC", kTargetTopic[] = "TARGET";

// CLI11's help of a command, as `name --help` prints it.
std::string HelpText(const CLI::App& command, const std::string& name) {
  return command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
}

// The help of a command. `words` lead to it from the app, as in "target calibrate". An error lists what is
// known at the word that is not:
//   help: expected synth verify bench explain fidelity target db help SPEC TARGET, got 'synthh'; did you mean
//   'synth'?
absl::StatusOr<std::string> CommandHelp(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    // `known` is what the word could have been.
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* below : command->get_subcommands({})) {
      known.push_back(below->get_name());
      if (below->get_name() == word) next = below;
    }
    if (command == &app) known.insert(known.end(), {kSpecTopic, kTargetTopic});
    if (next == nullptr)
      return absl::InvalidArgumentError(Cat("help: expected ", known.empty() ? "nothing" : Join(known, " "),
                                            ", got ", Quoted(word), DidYouMean(word, known)));
    command = next;
    Append(&name, " ", word);
  }
  return HelpText(*command, name);
}

// The command. SPEC may be in any case; TARGET must be in capitals, as `target` is a command. Without a
// topic, all commands and SPEC are printed.
absl::StatusOr<int> Help(const CLI::App& app, const std::vector<std::string>& words) {
  absl::StatusOr<std::string> text = CommandHelp(app, words);
  if (words.size() == 1 && absl::AsciiStrToUpper(words.front()) == kSpecTopic) text = SpecHelp();
  if (words == std::vector<std::string>{kTargetTopic}) text = TargetHelp();  // `target` is a command
  if (!text.ok()) return text.status();
  if (words.empty()) Append(&*text, "\n", SpecHelp());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

void AddHelpCommand(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("help", "What a SPEC can say, what a target file can, and what commands take");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("TOPIC", *words, "SPEC, TARGET (files), or a command; else SPEC and all commands");
  command->callback([&run, &app, words] { run = [&app, words] { return Help(app, *words); }; });
}

}  // namespace kirsch
