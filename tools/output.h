// SPDX-License-Identifier: Apache-2.0
// Writes results, and remarks beside them. Results go to standard output or to files, remarks to standard
// error, so that a pipe gets results only.
#ifndef KIRSCH_TOOLS_OUTPUT_H_
#define KIRSCH_TOOLS_OUTPUT_H_

#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace kirsch {

// Writes `contents` to standard output if `path` is "-" or empty; else to a file, all of it or nothing.
// Whether standard output took it is looked at when the command is done (command_line.cc).
absl::Status WriteOutput(std::string_view path, std::string_view contents);

// The same for a report, indented and with a line end.
absl::Status WriteJson(std::string_view path, const nlohmann::ordered_json& json);

// An error if WriteOutput could not write to one of `outputs`, if two of them are the same file, or if one is
// among `inputs`, the files that the command reads. Empty names are none. Nothing is changed there.
//   expected another file to write to than 'm.h', which is read
//   expected a file for each output, got 'm.h' twice
//
// Commands call it before they search or measure: minutes of work are lost if the result has nowhere to go.
absl::Status CheckOutputs(std::initializer_list<std::string_view> outputs,
                          const std::vector<std::string>& inputs);

// Prints "kirsch: <remark>" on standard error: one line of printable characters.
void PrintRemark(std::string_view remark);

// Keeps a remark until the command is done. It is printed once, and only if the command has not failed: then
// the error stays a single line. Calls `said` after it is printed.
void RemarkAtEnd(std::string_view remark, std::function<void()> said = {});
// Prints what RemarkAtEnd has kept.
void PrintRemarksAtEnd();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OUTPUT_H_
