// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch help [SPEC | TARGET | COMMAND]`. SPEC lists what a spec can say, TARGET what a target file
// can.
#include <cstdio>
#include <memory>
#include <optional>
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

// The help of a command. `words` lead to it from the app, as in "target calibrate". An error lists what is
// known at the word that is not:
//   help: expected synth verify bench explain fidelity target db help SPEC TARGET, got 'synthh'; did you mean
//   'synth'?
absl::StatusOr<std::string> CommandHelp(const Command& app, const std::vector<std::string>& words) {
  Command command = app;
  std::string name = app.name();
  for (const std::string& word : words) {
    // `known` is what the word could have been.
    std::vector<std::string> known;
    std::optional<Command> next;
    for (const Command& below : command.commands()) {
      known.push_back(below.name());
      if (below.name() == word) next = below;
    }
    if (&word == &words.front()) known.insert(known.end(), {kSpecTopic, kTargetTopic});
    if (!next)
      return absl::InvalidArgumentError(Cat("help: expected ", known.empty() ? "nothing" : Join(known, " "),
                                            ", got ", Quoted(word), DidYouMean(word, known)));
    command = *next;
    Append(&name, " ", word);
  }
  return command.Help(name);
}

// The command. SPEC may be in any case; TARGET must be in capitals, as `target` is a command. Without a
// topic, all commands and SPEC are printed.
absl::StatusOr<int> Help(const Command& app, const std::vector<std::string>& words) {
  absl::StatusOr<std::string> text = CommandHelp(app, words);
  if (words.size() == 1 && absl::AsciiStrToUpper(words.front()) == kSpecTopic) text = SpecHelp();
  if (words == std::vector<std::string>{kTargetTopic}) text = TargetHelp();  // `target` is a command
  if (!text.ok()) return text.status();
  if (words.empty()) Append(&*text, "\n", SpecHelp());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

void AddHelpCommand(const Command& app, Run& run) {
  const Command command =
      app.AddCommand("help", "What a SPEC can say, what a target file can, and what commands take");
  auto words = std::make_shared<std::vector<std::string>>();
  command.Add("TOPIC", *words, "SPEC, TARGET (files), or a command; else SPEC and all commands");
  command.OnChosen([&run, app, words] { run = [app, words] { return Help(app, *words); }; });
}

}  // namespace kirsch
