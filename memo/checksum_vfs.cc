// SPDX-License-Identifier: Apache-2.0
#include "memo/checksum_vfs.h"

#include <sqlite3.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <vector>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Places in the first page of SQLite's file format. kLockAt is the byte that locks are held on; the page
// around it is never written.
constexpr size_t kHeaderBytes = 100, kPageSizeAt = 16, kReservedAt = 20, kPagesAt = 28, kApplicationIdAt = 68;
constexpr int64_t kLockAt = int64_t{1} << 30;
constexpr int kSmallestPage = 512, kLargestPage = 65536;

// SQLite's numbers have the highest byte first.
uint32_t BigEndian(const unsigned char* bytes, int count) {
  uint32_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | bytes[i];
  return number;
}

// The size of pages has two bytes, so 65536 is stored as 1.
int PageSizeOf(const unsigned char* header) {
  const auto size = static_cast<int>(BigEndian(header + kPageSizeAt, 2));
  return size == 1 ? kLargestPage : size;
}

// True for a database that is a table of Kirsch's and has room for checksums.
bool HasChecksums(const unsigned char* header) {
  return header[kReservedAt] == kChecksumBytes && BigEndian(header + kApplicationIdAt, 4) == kApplicationId;
}

// Computes the checksum of a page, without the checksum itself. The page's number, from 1, is a part of it,
// so a page in another's place is found, too.
std::array<unsigned char, kChecksumBytes> ComputeChecksum(const unsigned char* page, int page_size,
                                                          int64_t number) {
  const uint64_t hash =
      XXH64(page, static_cast<size_t>(page_size - kChecksumBytes), static_cast<unsigned long long>(number));
  std::array<unsigned char, kChecksumBytes> bytes = {};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(hash >> (8 * i));
  return bytes;
}

// An open file of this VFS. SQLite gives one piece of memory: it holds this struct and, behind it, the file
// of the default VFS.
struct File {
  sqlite3_file base;
  bool checksums = false;  // a database whose first page says that it has them
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(File) % alignof(std::max_align_t) == 0);

// SQLite knows the base only, which is the first member.
File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
const sqlite3_io_methods& MethodsOf(sqlite3_file* file) { return *Of(file).real()->pMethods; }

// Finds out whether writes need checksums. It reads the header again as long as they do not, since another
// process may have made the table after the file was opened.
bool WritesChecksums(sqlite3_file* file) {
  std::array<unsigned char, kHeaderBytes> header = {};
  if (!Of(file).checksums &&
      MethodsOf(file).xRead(Of(file).real(), header.data(), kHeaderBytes, 0) == SQLITE_OK)
    Of(file).checksums = HasChecksums(header.data());
  return Of(file).checksums;
}

// Writes to the file, with checksums if they are whole pages of a table. SQLite writes a database in whole
// pages; the write-ahead log is another file.
int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const auto* const bytes = static_cast<const unsigned char*>(data);
  // The first page says whether there are checksums. It may be the one that is being written.
  if (offset == 0 && size >= kSmallestPage) Of(file).checksums = HasChecksums(bytes);
  if (size < kSmallestPage || offset % size != 0 || !WritesChecksums(file))
    return MethodsOf(file).xWrite(Of(file).real(), data, size, offset);
  // SQLite's memory must not change, so the checksum goes into a copy.
  std::vector<unsigned char> page(bytes, bytes + size);
  const auto checksum = ComputeChecksum(page.data(), size, offset / size + 1);
  std::ranges::copy(checksum, page.end() - kChecksumBytes);
  return MethodsOf(file).xWrite(Of(file).real(), page.data(), size, offset);
}

// Calls the same method of the file behind.
template <auto kMethod, typename... Arguments>
int Forward(sqlite3_file* file, Arguments... arguments) {
  return (MethodsOf(file).*kMethod)(Of(file).real(), arguments...);
}

void ShmBarrier(sqlite3_file* file) { MethodsOf(file).xShmBarrier(Of(file).real()); }

// The methods of an open file. Version 2 has no xFetch and xUnfetch (of version 3), so SQLite maps no part of
// a file into memory, and all writes come to Write.
constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = Forward<&sqlite3_io_methods::xClose>,
    .xRead = Forward<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = Write,
    .xTruncate = Forward<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
    .xSync = Forward<&sqlite3_io_methods::xSync, int>,
    .xFileSize = Forward<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = Forward<&sqlite3_io_methods::xLock, int>,
    .xUnlock = Forward<&sqlite3_io_methods::xUnlock, int>,
    .xCheckReservedLock = Forward<&sqlite3_io_methods::xCheckReservedLock, int*>,
    .xFileControl = Forward<&sqlite3_io_methods::xFileControl, int, void*>,
    .xSectorSize = Forward<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = Forward<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = Forward<&sqlite3_io_methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = Forward<&sqlite3_io_methods::xShmLock, int, int, int>,
    .xShmBarrier = ShmBarrier,
    .xShmUnmap = Forward<&sqlite3_io_methods::xShmUnmap, int>,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// The VFS that does the real work.
sqlite3_vfs* DefaultVfs() { return sqlite3_vfs_find(nullptr); }

// Opens databases with this VFS's methods. All other files, such as the write-ahead log, are the default's
// own.
int Open(sqlite3_vfs*, const char* name, sqlite3_file* memory, int flags, int* flags_out) {
  File* const file = new (memory) File{};
  sqlite3_vfs* const vfs = DefaultVfs();
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return vfs->xOpen(vfs, name, memory, flags, flags_out);
  const int code = vfs->xOpen(vfs, name, file->real(), flags, flags_out);
  if (code != SQLITE_OK) return code;
  file->base.pMethods = &kMethods;
  return SQLITE_OK;
}

// Registers the VFS under its name, not as the default.
const char* Register() {
  static constexpr char kName[] = "kirsch-checksums";
  static sqlite3_vfs vfs = *DefaultVfs();
  vfs.zName = kName;
  vfs.pNext = nullptr;
  vfs.szOsFile += static_cast<int>(sizeof(File));
  vfs.xOpen = Open;
  return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? kName : nullptr;
}

// The one form of errors about a file that something has changed.
absl::Status Damaged(const std::string& path, const std::string& what) {
  return absl::DataLossError(Cat("'", path, "': damaged: ", what));
}

}  // namespace

const char* ChecksumVfs() {
  static const char* const name = Register();
  return name;
}

// Reads the file as bytes, without SQLite. The header says how large pages are.
absl::Status CheckPages(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, kHeaderBytes> header = {};
  file.read(reinterpret_cast<char*>(header.data()), kHeaderBytes);
  if (!file || !HasChecksums(header.data())) return Damaged(path, "its first page has no checksum");
  const int page_size = PageSizeOf(header.data());
  if (page_size < kSmallestPage) return Damaged(path, "its first page has no size of pages");
  // A page is right if its checksum is, if nobody wrote it, or if locks are held on it.
  std::vector<unsigned char> page(static_cast<size_t>(page_size));
  file.seekg(0);
  int64_t pages = 0;
  while (file.read(reinterpret_cast<char*>(page.data()), page_size)) {
    ++pages;
    const auto checksum = ComputeChecksum(page.data(), page_size, pages);
    const bool whole = std::equal(checksum.begin(), checksum.end(), page.end() - kChecksumBytes);
    const bool zeros = std::ranges::all_of(page, [](unsigned char byte) { return byte == 0; });
    if (!whole && !zeros && (pages - 1) * page_size != kLockAt)
      return Damaged(path, Cat("the file's page ", pages, " is not as it was written"));
  }
  // The file must end with a whole page, and have as many as its header says.
  if (file.gcount() != 0) return Damaged(path, "it does not end with a page");
  const uint32_t expected = BigEndian(header.data() + kPagesAt, 4);
  if (pages < expected) return Damaged(path, Cat("expected ", expected, " pages of the file, got ", pages));
  return absl::OkStatus();
}

}  // namespace kirsch
