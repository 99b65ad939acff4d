// SPDX-License-Identifier: Apache-2.0
// Target files: JSON to Target and back. Every key, its unit and its default are in docs/targets.md.
#ifndef KIRSCH_SPEC_TARGET_TARGET_JSON_H_
#define KIRSCH_SPEC_TARGET_TARGET_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"
#include "spec/text/text.h"

namespace kirsch {

struct TargetFile {
  Target target;
  std::vector<std::string> warnings = {};  // one line each: keys that mean nothing
  TextPosition cpu = {};        // where `target.cpu` stands, which only a compiler knows to be right
  std::string calibrated = {};  // the date of a calibration; empty: the file doesn't tell of one
  std::string note = {};        // of a host: where its constants are from, one line
  bool uncalibrated = false;    // of a host: they are those of another machine
};

// What a target is when its file says nothing: a middling AVX2 core.
Target DefaultTarget();

// `file` is what messages call the text. An error (malformed JSON, a value of the wrong type or out of range,
// units that the features do not allow) is InvalidArgument, one line: "<file>:<line>:<column>: expected
// <what>, got <value>". Any text is safe to pass.
absl::StatusOr<TargetFile> ParseTarget(std::string_view text, std::string_view file);

// JSON with every key; ParseTarget gives an equal target back.
std::string PrintTarget(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGET_JSON_H_
