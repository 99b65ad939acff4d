// SPDX-License-Identifier: Apache-2.0
// Adds a checksum to each page of a table's SQLite file. SQLite keeps none, so a changed byte could go
// unnoticed. The last 8 bytes of each page are reserved, which SQLite leaves alone; they hold a checksum of
// the rest. So a checksum covers every byte of a file.
#ifndef KIRSCH_MEMO_CHECKSUM_VFS_H_
#define KIRSCH_MEMO_CHECKSUM_VFS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace kirsch {

inline constexpr int kChecksumBytes = 8;                // at the end of each page
inline constexpr uint32_t kApplicationId = 0x4b525343;  // "KRSC"; in other files nothing is checksummed

// Returns the name of a VFS for sqlite3_open_v2. It is the default VFS, except that it writes the checksums.
// nullptr if SQLite does not accept it. Thread-safe.
const char* ChecksumVfs();

// Reads the file at `path` and compares the checksums. DataLoss names the page that something else has
// changed. Pages that nobody ever wrote are zeros, and are right. A write-ahead log beside the file is not
// read: it has SQLite's own checksums.
absl::Status CheckPages(const std::string& path);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_CHECKSUM_VFS_H_
