// SPDX-License-Identifier: Apache-2.0
// Reads and writes target files: JSON to Target and back.
//
// Every key, its unit and its default are in docs/targets.md. Every key is optional, so a file may say only
// what its CPU has different from DefaultTarget():
//
//   {"name": "mine", "cpu": "znver4", "ghz": 4.5, "memory": {"L3": {"bytes": 33554432}}}
#ifndef KIRSCH_SPEC_TARGET_TARGET_JSON_H_
#define KIRSCH_SPEC_TARGET_TARGET_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"
#include "spec/text/text.h"

namespace kirsch {

// A target, and what its file says besides.
struct TargetFile {
  Target target;
  std::vector<std::string> warnings = {};  // one line each: keys that mean nothing
  TextPosition cpu = {};        // where `target.cpu` stands, which only a compiler knows to be right
  std::string calibrated = {};  // the date of a calibration; empty: the file doesn't tell of one
  std::string note = {};        // of a host: where its constants are from, one line
  bool uncalibrated = false;    // of a host: they are those of another machine
};

// The target that an empty file stands for: a middling AVX2 core.
Target DefaultTarget();

// Reads a target. `file` is what messages call the text, which may be any. InvalidArgument, one line
// "<file>:<line>:<column>: expected <what>, got <value>", for:
//   - malformed JSON,
//   - a value of the wrong type or out of range,
//   - a key under its former and its present name,
//   - units that the features do not allow, or caches that are smaller than the one before.
// Keys that are not known are only warnings: a file may have been written for a later version.
absl::StatusOr<TargetFile> ParseTarget(std::string_view text, std::string_view file);

// Returns JSON with every key, defaults included. ParseTarget gives an equal target back.
std::string PrintTarget(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGET_JSON_H_
