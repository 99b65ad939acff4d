// SPDX-License-Identifier: Apache-2.0
// Some 300 kernels and 60 families, for four targets: the schedule that the search chooses, the cycles that
// it predicts, and a hash of the object are what they were when somebody last looked at them.
//
// KIRSCH_BLESS=1 writes what they are now. The diff of the files is then read like code: it says which
// kernels a change touches, and what it makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "codegen/llvm/emit.h"
#include "spec/language/kernel_file.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "synthesis/kernel_library.h"

namespace kirsch {
namespace {

constexpr const char* kLists[] = {"contractions", "convolutions", "graphs", "families"};
constexpr const char* kTargets[] = {"haswell", "skylake-avx512", "znver4", "sapphirerapids"};

std::string PathOf(const std::string& name) { return Cat(KIRSCH_GOLDENS, "/", name); }

std::string ScheduleOf(const FamilySynthesis& kernel) {
  return kernel.members.size() == 1 ? PrintSchedule(kernel.members.front().program) : RegionPrograms(kernel);
}

// The sum of all members.
double CyclesOf(const FamilySynthesis& kernel) {
  double cycles = 0;
  for (const Synthesis& member : kernel.members) cycles += member.cycles;
  return cycles;
}

// One kernel: what is known of it, under its label.
std::string GoldenOf(const FamilySynthesis& kernel, const HeaderFunction& function) {
  const absl::StatusOr<std::string> object = EmitFunction(function, CodeForm::kObject, Abi::kSystemV);
  std::string text = absl::StrFormat("%.10g cycles, object %016x\n", CyclesOf(kernel),
                                     object.ok() ? XXH3_64bits(object->data(), object->size()) : 0);
  if (!object.ok()) text += Cat(object.status().message(), "\n");
  for (absl::string_view line : absl::StrSplit(ScheduleOf(kernel), '\n', absl::SkipEmpty()))
    text += Cat("  ", std::string(line), "\n");
  return text;
}

// The goldens of a list by their labels, in the order of the list.
using Goldens = std::vector<std::pair<std::string, std::string>>;

absl::StatusOr<Goldens> MakeGoldens(const std::string& list, const Target& target) {
  const absl::StatusOr<std::string> text = ReadFile(PathOf(Cat(list, ".kirsch")));
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::vector<KernelRequest>> requests = ParseKernelFile(*text, list);
  if (!requests.ok()) return requests.status();
  const DbOptions no_table = {.path = "", .none = true};
  SolveArguments arguments;
  arguments.db = &no_table;
  const absl::StatusOr<Library> library = SolveLibrary(arguments, list, *requests, {target});
  if (!library.ok()) return library.status();
  const HeaderFile file = MakeHeaderFile(*library, LibraryStyle());
  Goldens goldens;
  for (size_t i = 0; i < library->kernels.size(); ++i)
    goldens.emplace_back(library->kernels[i].request().label,
                         GoldenOf(library->kernels[i].variants.front(), file.functions[i]));
  return goldens;
}

std::string Print(const Goldens& goldens) {
  std::string text;
  for (const auto& [label, golden] : goldens) text += Cat("== ", label, "\n", golden);
  return text;
}

std::map<std::string, std::string> Parse(const std::string& text) {
  std::map<std::string, std::string> goldens;
  for (const std::string& entry : std::vector<std::string>(absl::StrSplit(text, "== ", absl::SkipEmpty()))) {
    const size_t end = entry.find('\n');
    goldens[entry.substr(0, end)] = end == std::string::npos ? "" : entry.substr(end + 1);
  }
  return goldens;
}

class GoldensTest : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(GoldensTest, AreAsTheyWere) {
  const auto& [list, target] = GetParam();
  const absl::StatusOr<Goldens> now = MakeGoldens(list, FindTarget(target, "")->target);
  ASSERT_TRUE(now.ok()) << now.status();
  const std::string path = PathOf(Cat(list, ".", target, ".txt"));
  if (std::getenv("KIRSCH_BLESS") != nullptr) {
    ASSERT_TRUE(WriteFile(path, Print(*now)).ok());
    GTEST_SKIP() << "blessed " << path;
  }
  std::map<std::string, std::string> blessed = Parse(*ReadFile(path));
  for (const auto& [label, golden] : *now) EXPECT_EQ(golden, blessed[label]) << label;
  EXPECT_EQ(blessed.size(), now->size()) << path;
}

INSTANTIATE_TEST_SUITE_P(All, GoldensTest,
                         ::testing::Combine(::testing::ValuesIn(kLists), ::testing::ValuesIn(kTargets)),
                         [](const auto& instance) {
                           std::string name =
                               Cat(std::get<0>(instance.param), "_", std::get<1>(instance.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace kirsch
