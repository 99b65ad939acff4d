// SPDX-License-Identifier: Apache-2.0
#include "tools/repeated_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "spec/text/cat.h"
#include "synthesis/cold_operands.h"

namespace kirsch {
namespace {

// Options that don't change the result: where it goes, how it is found, how it is checked.
constexpr std::array<std::string_view, 7> kLeftOut = {
    "--help", "--json", "--no-verify", "--output", "--search-threads", "--declarations", "--trace"};
// Options whose values are files, or may be.
constexpr std::array<std::string_view, 3> kFiles = {"--file", "--schedule", "--target"};

bool IsAmong(absl::Span<const std::string_view> names, const GivenOption& option) {
  return std::ranges::find(names, option.name) != names.end();
}

// True if a shell takes the text as it is.
bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-.,:=/").find(c) != std::string_view::npos;
  });
}

// The word as a shell reads it back, in quotes where it needs them. Line ends become spaces, as the text is a
// comment of one line.
//   haswell   -->  haswell
//   it's 8x8  -->  'it'\''s 8x8'
std::string ShellWord(const std::string& word) {
  if (IsPlain(word)) return word;
  std::string text = absl::StrReplaceAll(word, {{"'", "'\\''"}});
  return Cat("'", absl::StrReplaceAll(text, {{"\n", " "}, {"\r", " "}}), "'");
}

// "a.json" of "/home/me/a.json"; of a list with commas, each name by itself.
std::string WithoutFolders(const std::string& files) {
  return Join(absl::StrSplit(files, ','), ",", [](absl::string_view file) {
    return std::filesystem::path(std::string(file)).filename().string();
  });
}

// A flag alone, or with its value where that says more: "--cold", "--cold=rhs".
std::string FlagText(const GivenOption& option) {
  const bool usual = option.value == "true" || option.value == "false" || option.value == kAllCold;
  return usual ? option.name : Cat(option.name, "=", ShellWord(option.value));
}

// An option with its value; a positional one is the value alone.
std::string OptionText(const GivenOption& option) {
  if (!option.needs_value) return FlagText(option);
  if (option.positional) return ShellWord(option.value);
  return Cat(option.name, " ",
             ShellWord(IsAmong(kFiles, option) ? WithoutFolders(option.value) : option.value));
}

}  // namespace

// Options that were not given are left out, as are those that don't change the result.
//   kirsch synth 'matmul f32 8x8x8' --target my/t.json --search-threads 1 -o x.h
//     -->  kirsch synth 'matmul f32 8x8x8' --target t.json
std::string RepeatedCommand(const Command& command) {
  std::string text = Cat("kirsch ", command.name());
  for (const GivenOption& option : command.given())
    if (!IsAmong(kLeftOut, option)) Append(&text, " ", OptionText(option));
  return text;
}

}  // namespace kirsch
