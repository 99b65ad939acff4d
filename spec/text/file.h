// SPDX-License-Identifier: Apache-2.0
// Whole files.
#ifndef KIRSCH_SPEC_TEXT_FILE_H_
#define KIRSCH_SPEC_TEXT_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kirsch {

// The bytes of the file at `path`, 64 MiB at most. An error is one line: "'<path>': No such file or
// directory".
absl::StatusOr<std::string> ReadFile(std::string_view path);

// Replaces the file at `path`: readers see the old file or the new one, never a part. What is not a regular
// file (/dev/null, a pipe) is written to, and so is what this process has open already (/dev/stdout,
// /dev/fd/3). An error is one line.
absl::Status WriteFile(std::string_view path, std::string_view contents);

// The error that WriteFile would give for `path` now, but for a full disk. Nothing is changed there.
absl::Status CheckWritable(std::string_view path);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_FILE_H_
