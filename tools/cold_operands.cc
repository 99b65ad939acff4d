#include "tools/cold_operands.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr char kSource[] = "--cold";

std::vector<std::string> NamesOf(const ParsedSpec& parsed) {
  const OpInfo& info = parsed.spec.op_info();
  std::vector<std::string> names;
  for (int operand = 0; operand < info.num_operands; ++operand)
    names.emplace_back(info.operands[static_cast<size_t>(operand)].name);
  if (parsed.swapped) std::swap(names[0], names[1]);
  return names;
}

std::vector<std::string> NamesOf(const Graph& graph) {
  std::vector<std::string> names;
  for (int i = 0; i < graph.num_inputs(); ++i) names.push_back(graph.at(i).text);
  names.emplace_back("out");
  return names;
}

absl::StatusOr<Residency> Parse(const std::string& cold, const std::vector<std::string>& names) {
  if (cold.empty()) return Residency::kWarm;
  if (cold == kAllCold) return Residency::kCold;
  return ParseResidency(cold, kSource, names);
}

// A spec's names of operands by the request's: "lhs = x, rhs = w".
std::map<std::string, std::string> SpecNames(const KernelRequest& request) {
  std::map<std::string, std::string> names = {{"out", "out"}};
  constexpr std::string_view kIs = " = ";
  for (const absl::string_view pair : absl::StrSplit(request.operands, ", ", absl::SkipEmpty())) {
    const std::string text(pair);
    const size_t is = text.find(kIs);
    KIRSCH_CHECK(is != std::string::npos);
    names[text.substr(is + kIs.size())] = text.substr(0, is);
  }
  return names;
}

}  // namespace

absl::Status CheckCold(const std::string& cold, const ParsedSpec& parsed) {
  return Parse(cold, NamesOf(parsed)).status();
}

absl::Status CheckCold(const std::string& cold, const Graph& graph) {
  return Parse(cold, NamesOf(graph)).status();
}

absl::Status CheckCold(const std::string& cold, const KernelRequest& request) {
  if (request.graph) return CheckCold(cold, request.graph->member(0));
  if (request.operands.empty()) return CheckCold(cold, request.family.member(0));
  std::vector<std::string> names;
  for (const auto& [name, in_spec] : SpecNames(request)) names.push_back(name);
  return Parse(cold, names).status();
}

Residency ColdOperands(const std::string& cold, const ParsedSpec& parsed) {
  const absl::StatusOr<Residency> residency = Parse(cold, NamesOf(parsed));
  KIRSCH_CHECK(residency.ok());
  return *residency;
}

Residency ColdOperands(const std::string& cold, const Graph& graph) {
  const absl::StatusOr<Residency> residency = Parse(cold, NamesOf(graph));
  KIRSCH_CHECK(residency.ok());
  return *residency;
}

std::string ColdInSpec(const std::string& cold, const KernelRequest& request) {
  if (request.operands.empty() || cold.empty() || cold == kAllCold) return cold;
  const std::map<std::string, std::string> names = SpecNames(request);
  std::vector<std::string> own;
  for (const absl::string_view name : absl::StrSplit(cold, ',')) own.push_back(names.at(std::string(name)));
  return absl::StrJoin(own, ",");
}

std::string ColdText(const std::string& cold) {
  if (cold.empty()) return "warm";
  return cold == kAllCold ? "cold" : Cat("cold ", cold);
}

}  // namespace kirsch
