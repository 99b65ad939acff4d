// SPDX-License-Identifier: Apache-2.0
#include "synthesis/cold_operands.h"

#include <vector>

#include "spec/canonical.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Errors name the option, as the list has no file of its own.
constexpr char kSource[] = "--cold";

// The user's names, by the numbers that the operands have in the spec.
std::vector<std::string> NamesOf(const ParsedSpec& parsed) {
  std::vector<std::string> names(parsed.parameters.size());
  for (const Parameter& parameter : parsed.parameters)
    names[static_cast<size_t>(parameter.operand)] = parameter.name;
  return names;
}

// The same of a graph: its parameters in their order, then the results.
std::vector<std::string> NamesOf(const Graph& graph) {
  std::vector<std::string> names;
  for (int i = 0; i < graph.num_inputs(); ++i) names.push_back(graph.at(i).text);
  for (const GraphResult& result : graph.results) names.push_back(result.name);
  return names;
}

// An empty list and the list of all need no names, so they are read first.
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
    // `operand` is numbered as the user sees it. `in_spec` is the same operand in the spec.
    const int in_spec = SwappedOperand(operand, parsed.swapped);
    if (residency.InRam(in_spec))
      Append(&names, names.empty() ? "" : ",", std::string(info.operands[static_cast<size_t>(operand)].name));
  }
  return ColdText(names);
}

}  // namespace kirsch
