// SPDX-License-Identifier: Apache-2.0
#include "tools/measured.h"

#include <nlohmann/json.hpp>

#include "spec/text/file.h"
#include "spec/text/json.h"
#include "spec/text/json_members.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

class MeasuredReader : JsonMembers {
 public:
  explicit MeasuredReader(std::string_view path) : JsonMembers(path) {}

  // A wrong result has a rate, but it counts for nothing. Other keys of the report are of no use here.
  absl::StatusOr<std::vector<MeasuredRate>> Read(const JsonValue& report) {
    using Kind = JsonValue::Kind;
    std::vector<MeasuredRate> rates;
    for (const JsonValue& result : Member(report, "results", Kind::kArray, "an array of results").children) {
      const MeasuredRate rate = {Member(result, "spec", Kind::kString, "a string").text,
                                 Member(result, "name", Kind::kString, "a string").text,
                                 Member(result, "gflops_median", Kind::kNumber, "a number").number,
                                 Member(result, "compulsory_bytes", Kind::kNumber, "a number").number};
      if (Member(result, "correct", Kind::kBool, "true or false").boolean) rates.push_back(rate);
    }
    if (!ok()) return status();
    return rates;
  }
};

}  // namespace

// A report of bench has more than is read here:
//   {"results": [{"spec": "matmul f32 64x64x64", "name": "kirsch", "gflops_median": 96.1,
//                 "compulsory_bytes": 49152, "correct": true, ...}, ...], ...}
absl::StatusOr<std::vector<MeasuredRate>> ReadMeasured(const std::string& path) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  KIRSCH_ASSIGN_OR_RETURN(const JsonValue json, ParseJson(text, path));
  return MeasuredReader(path).Read(json);
}

}  // namespace kirsch
