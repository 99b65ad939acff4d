// SPDX-License-Identifier: Apache-2.0
#include "tools/measured.h"

#include <nlohmann/json.hpp>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/json.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The member `key` of a result. An error with its place if it is missing, or of another kind.
absl::StatusOr<const JsonValue*> Member(const JsonValue& result, std::string_view key, JsonValue::Kind kind,
                                        const std::string& path) {
  const JsonValue* const value = result.kind == JsonValue::Kind::kObject ? result.Find(key) : nullptr;
  if (value == nullptr) return ExpectedAt(path, result, Cat("a result of bench, which has ", key));
  if (value->kind != kind)
    return ExpectedAt(path, *value,
                      kind == JsonValue::Kind::kString   ? "a string"
                      : kind == JsonValue::Kind::kNumber ? "a number"
                                                         : "true or false");
  return value;
}

}  // namespace

// A report of bench has more than is read here:
//   {"results": [{"spec": "matmul f32 64x64x64", "name": "kirsch", "gflops_median": 96.1,
//                 "compulsory_bytes": 49152, "correct": true, ...}, ...], ...}
absl::StatusOr<std::vector<MeasuredRate>> ReadMeasured(const std::string& path) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  KIRSCH_ASSIGN_OR_RETURN(const JsonValue json, ParseJson(text, path));
  // The report must be an object with an array of results. Its other keys are of no use here.
  const JsonValue* const results = json.kind == JsonValue::Kind::kObject ? json.Find("results") : nullptr;
  if (results == nullptr || results->kind != JsonValue::Kind::kArray)
    return ExpectedAt(path, json, "a report of bench, which has results");
  std::vector<MeasuredRate> rates;
  for (const JsonValue& result : results->children) {
    // The first member that is missing is the error.
    using Kind = JsonValue::Kind;
    const auto spec = Member(result, "spec", Kind::kString, path),
               name = Member(result, "name", Kind::kString, path),
               gflops = Member(result, "gflops_median", Kind::kNumber, path),
               bytes = Member(result, "compulsory_bytes", Kind::kNumber, path),
               correct = Member(result, "correct", Kind::kBool, path);
    for (const auto* member : {&spec, &name, &gflops, &bytes, &correct})
      if (!member->ok()) return member->status();
    // A wrong result has a rate, but it counts for nothing.
    if ((*correct)->boolean)
      rates.push_back({(*spec)->text, (*name)->text, (*gflops)->number, (*bytes)->number});
  }
  return rates;
}

}  // namespace kirsch
