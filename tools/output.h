// SPDX-License-Identifier: Apache-2.0
// Where results go.
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

// Writes `contents` to standard output if `path` is "-" or empty, else to a file, all of it or nothing.
absl::Status WriteOutput(std::string_view path, std::string_view contents);

// The same for a report.
absl::Status WriteJson(std::string_view path, const nlohmann::ordered_json& json);

// An error if WriteOutput can't write to one of `outputs`, or if two of them are the same file. So it is if
// one of them is among `inputs`, the files that the command reads (an empty name is none). Nothing is changed
// there.
absl::Status CheckOutputs(std::initializer_list<std::string_view> outputs,
                          const std::vector<std::string>& inputs);

// "kirsch: <remark>" on standard error, one line of printable characters.
void PrintRemark(std::string_view remark);

// The same, once, when the command is done and has not failed: an error stays a single line. Then calls
// `said`.
void RemarkAtEnd(std::string_view remark, std::function<void()> said = {});
void PrintRemarksAtEnd();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OUTPUT_H_
