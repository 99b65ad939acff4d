// SPDX-License-Identifier: Apache-2.0
#include "tools/target_help.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "spec/feature.h"
#include "spec/target/target_json.h"
#include "spec/target/target_keys.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr size_t kNames = 32, kDefaults = 26;  // widths of columns

std::string Number(double number) { return absl::StrFormat("%.12g", number); }

// A line of the text. Columns are wider where a name or a default needs it.
std::string Row(std::string name, std::string usual, std::string_view range) {
  name.resize(std::max(name.size() + 1, kNames), ' ');
  usual.resize(std::max(usual.size() + 1, kDefaults), ' ');
  return Cat("  ", name, usual, range, "\n");
}

// The default of a key: its value in each of `defaults`, or once if all are equal. Levels of memory differ in
// theirs.
template <typename Struct>
std::string DefaultOf(const NumericKey<Struct>& key, const std::vector<Struct>& defaults) {
  std::vector<std::string> values;
  for (const Struct& one : defaults)
    values.push_back(
        std::visit([&](auto member) { return Number(static_cast<double>(one.*member)); }, key.member));
  const bool equal =
      std::ranges::all_of(values, [&](const std::string& value) { return value == values.front(); });
  return equal ? values.front() : Join(values, ", ");
}

// A row for each key; its name has `prefix` before it.
template <typename Struct, typename Keys>
std::string Rows(std::string_view prefix, const Keys& keys, const std::vector<Struct>& defaults) {
  std::string text;
  for (const NumericKey<Struct>& key : keys)
    Append(&text, Row(Cat(prefix, key.name), DefaultOf(key, defaults),
                      Cat(Number(key.low), " to ", Number(key.high))));
  return text;
}

// The keys of a vector unit, then the timing of each instruction, then what widening a type costs.
std::string VectorsText(const VectorUnit& unit) {
  std::string text = Rows<VectorUnit>("", kVectorKeys, {unit});
  Append(&text, Row("masks", "false", "true or false"));
  for (const Instruction& instruction : kInstructions)
    if (!instruction.timing.empty())
      Append(&text, Rows<ArithmeticRate>(instruction.timing, kRateKeys, {instruction.rate}));
  return Cat(text, Rows<WideningCosts>("TYPE", kWideningKeys, {WideningCosts()}));
}

// Caches have a size. Caches and RAM have costs of transfers.
std::string MemoryText(const Target& target) {
  const std::vector<MemoryLevel> caches = {target.at(Level::kL1), target.at(Level::kL2),
                                           target.at(Level::kL3)};
  std::vector<MemoryLevel> all = caches;
  all.push_back(target.at(Level::kRam));
  return Cat("\nL1, L2 and L3 of `memory`\n", Rows<MemoryLevel>("", kCapacityKeys, caches),
             "\nL1, L2, L3 and RAM of `memory`\n", Rows<MemoryLevel>("", kTransferKeys, all));
}

// The names that `features` may have.
std::string FeaturesText() { return Cat("\nFeatures\n  ", Join(kFeatures, " ", &Feature::name), "\n"); }

}  // namespace

std::string TargetHelp() {
  // A target file that says nothing means this target.
  const Target target = DefaultTarget();
  return Cat(
      "A target file is a JSON object. Every key is optional: the columns are key, default and range.\n\n",
      "The CPU\n", Row("name", target.name, "text"), Row("cpu", target.cpu, "LLVM's name of a CPU"),
      Row("features", Join(target.features, " "), "names, listed below"),
      Rows<Target>("", kTargetKeys, {target}), "\nEach of `vectors`, the widest first\n",
      VectorsText(target.vectors.front()), "\n`matrix`, if there is such a unit\n",
      Rows<MatrixUnit>("", kMatrixKeys, {MatrixUnit()}), MemoryText(target), FeaturesText());
}

}  // namespace kirsch
