// SPDX-License-Identifier: Apache-2.0
#include "bench/workload/suite.h"

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/json.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr char kShape[] = R"({"name": "...", "specs": ["SPEC", ...]})";

// Reads a spec: a string, or an array with the lines of a kernel. Its place is that of the first character of
// text, one behind the quote.
absl::StatusOr<SuiteSpec> SpecOf(const JsonValue& value, const std::string& file_name) {
  using Kind = JsonValue::Kind;
  if (value.kind != Kind::kString && value.kind != Kind::kArray)
    return ExpectedAt(file_name, value, "a spec, a string, or an array of a kernel's lines");
  if (value.kind == Kind::kString)
    return SuiteSpec{value.text, value.position.line, value.position.column + 1};
  if (value.children.empty())
    return ErrorAt(file_name, value.position, "expected the lines of a kernel, got none");
  // Messages about lines of a kernel count from its first line.
  const TextPosition first = value.children.front().position;
  SuiteSpec spec{"", first.line, first.column + 1};
  for (const JsonValue& line : value.children) {
    if (line.kind != Kind::kString) return ExpectedAt(file_name, line, "a line of a kernel, a string");
    Append(&spec.text, &line == &value.children.front() ? "" : "\n", line.text);
  }
  return spec;
}

// Adds the specs of the array to the suite.
absl::Status AddSpecs(const JsonValue& specs, const std::string& file_name, Suite* suite) {
  if (specs.kind != JsonValue::Kind::kArray) return ExpectedAt(file_name, specs, "an array of specs");
  for (const JsonValue& value : specs.children) {
    KIRSCH_ASSIGN_OR_RETURN(SuiteSpec spec, SpecOf(value, file_name));
    suite->specs.push_back(std::move(spec));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Suite> ParseSuite(std::string_view text, const std::string& file_name) {
  KIRSCH_ASSIGN_OR_RETURN(const JsonValue document, ParseJson(text, file_name));
  // Messages show the form that a suite has.
  if (document.kind != JsonValue::Kind::kObject) return ExpectedAt(file_name, document, kShape);
  Suite suite;
  for (const JsonValue& member : document.children) {
    if (member.key == "specs") {
      KIRSCH_RETURN_IF_ERROR(AddSpecs(member, file_name, &suite));
      // Unknown keys are errors: a misspelt one would otherwise be ignored.
    } else if (member.key != "name") {
      return ErrorAt(file_name, member.key_position,
                     Cat("expected \"name\" or \"specs\", got ", Quoted(member.key)));
    } else if (member.kind != JsonValue::Kind::kString) {
      return ExpectedAt(file_name, member, "the suite's name, a string");
    } else {
      suite.name = member.text;
    }
  }
  // A suite without specs measures nothing, which is surely a mistake.
  if (suite.specs.empty())
    return ErrorAt(file_name, document.position, Cat("expected ", kShape, ", got no specs"));
  return suite;
}

absl::StatusOr<Suite> LoadSuite(const std::string& path) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseSuite(text, path);
}

}  // namespace kirsch
