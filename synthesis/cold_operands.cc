// SPDX-License-Identifier: Apache-2.0
#include "synthesis/cold_operands.h"

#include <vector>

#include "spec/canonical.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr char kSource[] = "--cold";

// By the numbers of the operands.
std::vector<std::string> NamesOf(const ParsedSpec& parsed) {
  std::vector<std::string> names(parsed.parameters.size());
  for (const Parameter& parameter : parsed.parameters)
    names[static_cast<size_t>(parameter.operand)] = parameter.name;
  return names;
}

std::vector<std::string> NamesOf(const Graph& graph) {
  std::vector<std::string> names;
  for (int i = 0; i < graph.num_inputs(); ++i) names.push_back(graph.at(i).text);
  names.emplace_back("out");
  return names;
}

absl::StatusOr<Residency> Parse(const std::string& cold, const KernelMember& kernel) {
  if (cold.empty()) return Residency::kWarm;
  if (cold == kAllCold) return Residency::kCold;
  return ParseResidency(cold, kSource, std::visit([](const auto& of) { return NamesOf(of); }, kernel));
}

}  // namespace

absl::Status CheckCold(const std::string& cold, const KernelMember& kernel) {
  return Parse(cold, kernel).status();
}

Residency ColdOperands(const std::string& cold, const KernelMember& kernel) {
  const absl::StatusOr<Residency> residency = Parse(cold, kernel);
  KIRSCH_CHECK(residency.ok());
  return *residency;
}

std::string ColdText(const std::string& cold) {
  if (cold.empty()) return "warm";
  return cold == kAllCold ? "cold" : Cat("cold ", cold);
}

std::string ColdText(const std::string& cold, const ParsedSpec& parsed) {
  if (cold.empty() || cold == kAllCold) return ColdText(cold);
  const OpInfo& info = parsed.spec.op_info();
  const Residency residency = ColdOperands(cold, parsed);
  std::string names;
  for (int operand = 0; operand < info.num_operands; ++operand) {
    const int in_spec = SwappedOperand(operand, parsed.swapped);
    if (residency.InRam(in_spec))
      Append(&names, names.empty() ? "" : ",", std::string(info.operands[static_cast<size_t>(operand)].name));
  }
  return ColdText(names);
}

}  // namespace kirsch
