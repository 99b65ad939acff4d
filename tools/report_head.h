// SPDX-License-Identifier: Apache-2.0
// Adds the keys that the JSON reports of all commands begin with. So a reader can tell any report's command,
// version and target. docs/json.md describes them.
#ifndef KIRSCH_TOOLS_REPORT_HEAD_H_
#define KIRSCH_TOOLS_REPORT_HEAD_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kirsch {

// The version of the schemas in docs/json/. It grows when a key goes or changes its meaning, not when one is
// added.
inline constexpr int kReportSchemaVersion = 1;

struct ReportHead {
  std::string command;  // as the user gives it: "synth", "db stats"
  std::string target;   // its name; of several the names with commas between
  bool timed = false;   // something was timed on this machine: the report has the date, in UTC
};

// {command, version, schema_version, target, date}, and then the keys of `report`. If `report` has one of
// these keys, the head's value stays.
nlohmann::ordered_json WithHead(const ReportHead& head, const nlohmann::ordered_json& report);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_REPORT_HEAD_H_
