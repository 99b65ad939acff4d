// SPDX-License-Identifier: Apache-2.0
// Programs of MLIR with something changed, be it a few characters, a number, a line or an operation's name:
// each is imported, or refused on one line that begins with its place.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/mutated_text.h"
#include "tools/mlir_file.h"

namespace kirsch::testing {
namespace {

using Range = std::pair<size_t, size_t>;  // of characters: from, end

// The runs of characters of a kind.
template <typename IsOfKind>
std::vector<Range> Runs(const std::string& text, const IsOfKind& is_of_kind) {
  std::vector<Range> runs;
  for (size_t i = 0, end; i < text.size(); i = end + 1) {
    for (end = i; end < text.size() && is_of_kind(text[end]);) ++end;
    if (end > i) runs.emplace_back(i, end);
  }
  return runs;
}
std::vector<Range> Numbers(const std::string& text) {
  return Runs(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}
std::vector<Range> Lines(const std::string& text) {
  return Runs(text, [](char c) { return c != '\n'; });
}
// What stands in quotes: names of operations and of attributes.
std::vector<Range> Names(const std::string& text) {
  std::vector<Range> names;
  for (size_t i = text.find('"'), end; i != std::string::npos; i = text.find('"', end + 1)) {
    end = text.find('"', i + 1);
    if (end == std::string::npos) break;
    names.emplace_back(i, end + 1);
  }
  return names;
}

class Mutation {
 public:
  explicit Mutation(unsigned seed) : random_(seed) {}

  std::string Of(std::string text) {
    switch (random_() % 6) {
      case 0:
        return Mutated(text, 1 + random_() % 3, random_);
      case 1:
        return WithSwapped(text, Lines(text));
      case 2:
        return WithSwapped(text, Names(text));
      case 3:
        return Without(text, Lines(text));
      case 4:
        return WithSwapped(text, Numbers(text));
      default:
        return WithAnother(text);
    }
  }

 private:
  Range Draw(const std::vector<Range>& ranges) { return ranges[random_() % ranges.size()]; }

  // Two of the ranges change places.
  std::string WithSwapped(const std::string& text, const std::vector<Range>& ranges) {
    Range a = Draw(ranges), b = Draw(ranges);
    if (b < a) std::swap(a, b);
    if (a == b) return text;
    const auto part = [&](size_t from, size_t end) { return text.substr(from, end - from); };
    return part(0, a.first) + part(b.first, b.second) + part(a.second, b.first) + part(a.first, a.second) +
           text.substr(b.second);
  }
  std::string Without(std::string text, const std::vector<Range>& ranges) {
    const Range range = Draw(ranges);
    return text.erase(range.first, range.second - range.first);
  }
  // A number becomes another one, such as programs have, or should not have.
  std::string WithAnother(std::string text) {
    const char* const kNumbers[] = {"0", "1", "2", "3", "-1", "17", "4294967296", "9223372036854775807"};
    const Range range = Draw(Numbers(text));
    return text.replace(range.first, range.second - range.first, kNumbers[random_() % std::size(kNumbers)]);
  }

  std::mt19937 random_;
};

std::vector<std::string> Programs() {
  std::vector<std::string> programs;
  for (const auto& entry : std::filesystem::directory_iterator(KIRSCH_JAX_PROGRAMS)) {
    if (!IsMlirFile(entry.path().string())) continue;
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    programs.push_back(text.str());
  }
  std::sort(programs.begin(), programs.end());  // whatever order the system has them in
  return programs;
}

enum Outcome : int { kImported, kRefused, kBadMessage };

// Imports the file, as a command would that ends then.
Outcome Import(const std::string& path) {
  const auto kernels = ReadMlirFile(path);
  if (kernels.ok()) return kImported;
  const std::string message(kernels.status().message());
  const bool good =
      message.find('\n') == std::string::npos && message.starts_with(path) && message.size() < 500;
  if (!good) std::fprintf(stderr, "%s\n", message.c_str());
  return good ? kRefused : kBadMessage;
}

// The same in a process of its own: where MLIR's parser fails at a text, what it leaves is of no use.
int ImportAlone(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) _exit(Import(path));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(MlirMutationTest, IsImportedOrRefusedOnOneLine) {
  const std::vector<std::string> programs = Programs();
  ASSERT_GT(programs.size(), 40u);
  const std::string path = ::testing::TempDir() + "/mutated.mlir";
  // The plug-in is loaded here, once for all processes.
  std::ofstream(path) << programs.front();
  const auto first = ReadMlirFile(path);
  if (absl::IsNotFound(first.status())) GTEST_SKIP() << first.status();
  ASSERT_TRUE(first.ok()) << first.status();
  std::map<int, int> outcomes;
  for (unsigned round = 0; round < 2000; ++round) {
    const std::string text = Mutation(round).Of(programs[round % programs.size()]);
    std::ofstream(path) << text;
    const int outcome = ImportAlone(path);
    ++outcomes[outcome];
    EXPECT_TRUE(outcome == kImported || outcome == kRefused) << round << ": " << outcome << "\n" << text;
  }
  EXPECT_GT(outcomes[kImported], 100);
  EXPECT_GT(outcomes[kRefused], 500);
}

}  // namespace
}  // namespace kirsch::testing
