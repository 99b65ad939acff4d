// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files, with errors that are one line for the user.
//
// A file that another process may read is replaced at once, never rewritten in place. An interrupted run
// leaves the old file as it was.
#ifndef KIRSCH_SPEC_TEXT_FILE_H_
#define KIRSCH_SPEC_TEXT_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kirsch {

// Returns the bytes of the file at `path`. A file of more than 64 MiB is an error, as is one that cannot be
// read. InvalidArgument, one line: "'<path>': No such file or directory".
absl::StatusOr<std::string> ReadFile(std::string_view path);

// Replaces the file at `path`: readers see the old file or the new one, never a part. Two kinds of paths are
// written to instead, as they cannot be replaced:
//   - anything that is not a regular file: /dev/null, a pipe;
//   - a descriptor that this process has open already: /dev/stdout, /dev/fd/3.
// An error is InvalidArgument, one line, as that of ReadFile.
absl::Status WriteFile(std::string_view path, std::string_view contents);

// Returns the error that WriteFile would give for `path` now, but for a full disk. Nothing is changed there.
// It is for commands that compute for long: they learn before, and not at the end, that the result has no
// place.
absl::Status CheckWritable(std::string_view path);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_FILE_H_
