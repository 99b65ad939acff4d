// Where results go.
#ifndef KIRSCH_TOOLS_OUTPUT_H_
#define KIRSCH_TOOLS_OUTPUT_H_

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace kirsch {

// Writes `contents` to standard output if `path` is "-" or empty, else to a file, all of it or nothing.
absl::Status WriteOutput(std::string_view path, std::string_view contents);

// The same for a report.
absl::Status WriteJson(std::string_view path, const nlohmann::ordered_json& json);

// An error if WriteOutput would not find a place to write to at one of `outputs`, or at two of them the same
// file, or one of `inputs`, the files that the command reads (empty ones are none). Nothing is changed there.
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
