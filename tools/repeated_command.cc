// SPDX-License-Identifier: Apache-2.0
#include "tools/repeated_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "spec/text/cat.h"
#include "synthesis/cold_operands.h"

namespace kirsch {
namespace {

// Options that say where results go, or how they are found and checked, not what they are.
constexpr std::array<std::string_view, 6> kLeftOut = {"help",   "json",           "no-verify",
                                                      "output", "search-threads", "declarations"};

bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-.,:=/").find(c) != std::string_view::npos;
  });
}

// For a shell.
std::string ShellWord(const std::string& word) {
  if (IsPlain(word)) return word;
  std::string text = absl::StrReplaceAll(word, {{"'", "'\\''"}});
  return Cat("'", absl::StrReplaceAll(text, {{"\n", " "}, {"\r", " "}}), "'");
}

// "a.json" of "/home/me/a.json"; names between commas each.
std::string WithoutFolders(const std::string& files) {
  return absl::StrJoin(absl::StrSplit(files, ','), ",", [](std::string* text, absl::string_view file) {
    text->append(std::filesystem::path(std::string(file)).filename().string());
  });
}

// A flag whose value is not what it stands for without one has that behind it.
std::string FlagText(const CLI::Option& option) {
  const std::string value = option.results().back(), name = option.get_name();
  const bool usual = value == "true" || value == "false" || value == kAllCold;
  return usual ? name : Cat(name, "=", ShellWord(value));
}

std::string OptionText(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_expected_min() == 0) return FlagText(option);
  const std::string value = option.results().back();
  if (option.get_positional()) return ShellWord(value);
  const bool files =
      option.check_lname("file") || option.check_lname("schedule") || option.check_lname("target");
  return Cat(option.get_name(), " ", ShellWord(files ? WithoutFolders(value) : value));
}

}  // namespace

std::string RepeatedCommand(const CLI::App& command) {
  std::string text = Cat("kirsch ", command.get_name());
  for (const CLI::Option* option : command.get_options()) {
    const bool left_out = std::ranges::any_of(
        kLeftOut, [&](std::string_view name) { return option->check_lname(std::string(name)); });
    if (option->count() > 0 && !left_out) Append(&text, " ", OptionText(*option));
  }
  return text;
}

}  // namespace kirsch
