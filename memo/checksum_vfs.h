// SPDX-License-Identifier: Apache-2.0
// SQLite keeps no checksums of its pages. Tables do: the last 8 bytes of each page are reserved (SQLite
// leaves such bytes alone) and hold a checksum of the rest, so that every byte of a file is covered.
#ifndef KIRSCH_MEMO_CHECKSUM_VFS_H_
#define KIRSCH_MEMO_CHECKSUM_VFS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace kirsch {

inline constexpr int kChecksumBytes = 8;                // at the end of each page
inline constexpr uint32_t kApplicationId = 0x4b525343;  // "KRSC"; in other files nothing is checksummed

// The name of a VFS for sqlite3_open_v2 that is the default one, but that it writes the checksums.
// Thread-safe.
const char* ChecksumVfs();

// Reads the file at `path` and compares: DataLoss says which page was changed by something else. Pages that
// nobody ever wrote are zeros. What is in a write-ahead log beside the file has checksums of its own and
// isn't looked at.
absl::Status CheckPages(const std::string& path);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_CHECKSUM_VFS_H_
