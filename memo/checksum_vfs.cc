// SPDX-License-Identifier: Apache-2.0
#include "memo/checksum_vfs.h"

#include <sqlite3.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <new>
#include <vector>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Of SQLite's file format: places in the first page, and the page around the bytes that locks are held on,
// which is never written.
constexpr size_t kHeaderBytes = 100, kPageSizeAt = 16, kReservedAt = 20, kPagesAt = 28, kApplicationIdAt = 68;
constexpr int64_t kLockAt = int64_t{1} << 30;
constexpr int kSmallestPage = 512, kLargestPage = 65536;

uint32_t BigEndian(const unsigned char* bytes, int count) {
  uint32_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | bytes[i];
  return number;
}

int PageSizeOf(const unsigned char* header) {
  const auto size = static_cast<int>(BigEndian(header + kPageSizeAt, 2));
  return size == 1 ? kLargestPage : size;
}

bool HasChecksums(const unsigned char* header) {
  return header[kReservedAt] == kChecksumBytes && BigEndian(header + kApplicationIdAt, 4) == kApplicationId;
}

// Of all of a page but the checksum; the page's number, from 1, is in it, too.
std::array<unsigned char, kChecksumBytes> ComputeChecksum(const unsigned char* page, int page_size,
                                                          int64_t number) {
  const uint64_t hash =
      XXH64(page, static_cast<size_t>(page_size - kChecksumBytes), static_cast<unsigned long long>(number));
  std::array<unsigned char, kChecksumBytes> bytes = {};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(hash >> (8 * i));
  return bytes;
}

// An open file: SQLite's own is behind it, in the same memory.
struct File {
  sqlite3_file base;
  bool checksums = false;  // a database whose first page says that it has them
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(File) % alignof(std::max_align_t) == 0);

File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
const sqlite3_io_methods& MethodsOf(sqlite3_file* file) { return *Of(file).real()->pMethods; }

// Another process may have made the table since the file was opened.
bool WritesChecksums(sqlite3_file* file) {
  std::array<unsigned char, kHeaderBytes> header = {};
  if (!Of(file).checksums &&
      MethodsOf(file).xRead(Of(file).real(), header.data(), kHeaderBytes, 0) == SQLITE_OK)
    Of(file).checksums = HasChecksums(header.data());
  return Of(file).checksums;
}

// Whole pages only: SQLite writes a database so, and the write-ahead log is another file.
int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const auto* const bytes = static_cast<const unsigned char*>(data);
  if (offset == 0 && size >= kSmallestPage) Of(file).checksums = HasChecksums(bytes);
  if (size < kSmallestPage || offset % size != 0 || !WritesChecksums(file))
    return MethodsOf(file).xWrite(Of(file).real(), data, size, offset);
  std::vector<unsigned char> page(bytes, bytes + size);
  const auto checksum = ComputeChecksum(page.data(), size, offset / size + 1);
  std::copy(checksum.begin(), checksum.end(), page.end() - kChecksumBytes);
  return MethodsOf(file).xWrite(Of(file).real(), page.data(), size, offset);
}

// Calls the file behind.
template <auto kMethod, typename... Arguments>
int Forward(sqlite3_file* file, Arguments... arguments) {
  return (MethodsOf(file).*kMethod)(Of(file).real(), arguments...);
}

void ShmBarrier(sqlite3_file* file) { MethodsOf(file).xShmBarrier(Of(file).real()); }

// Without xFetch and xUnfetch (of version 3), SQLite maps no part of a file into memory, so all writes come
// here.
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

sqlite3_vfs* DefaultVfs() { return sqlite3_vfs_find(nullptr); }

int Open(sqlite3_vfs*, const char* name, sqlite3_file* memory, int flags, int* flags_out) {
  File* const file = new (memory) File{};
  sqlite3_vfs* const vfs = DefaultVfs();
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return vfs->xOpen(vfs, name, memory, flags, flags_out);
  const int code = vfs->xOpen(vfs, name, file->real(), flags, flags_out);
  if (code != SQLITE_OK) return code;
  file->base.pMethods = &kMethods;
  return SQLITE_OK;
}

const char* Register() {
  static constexpr char kName[] = "kirsch-checksums";
  static sqlite3_vfs vfs = *DefaultVfs();
  vfs.zName = kName;
  vfs.pNext = nullptr;
  vfs.szOsFile += static_cast<int>(sizeof(File));
  vfs.xOpen = Open;
  return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? kName : nullptr;
}

absl::Status Damaged(const std::string& path, const std::string& what) {
  return absl::DataLossError(Cat("'", path, "': damaged: ", what));
}

}  // namespace

const char* ChecksumVfs() {
  static const char* const name = Register();
  return name;
}

absl::Status CheckPages(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, kHeaderBytes> header = {};
  file.read(reinterpret_cast<char*>(header.data()), kHeaderBytes);
  if (!file || !HasChecksums(header.data())) return Damaged(path, "its first page has no checksum");
  const int page_size = PageSizeOf(header.data());
  if (page_size < kSmallestPage) return Damaged(path, "its first page has no size of pages");
  std::vector<unsigned char> page(static_cast<size_t>(page_size));
  file.seekg(0);
  int64_t pages = 0;
  while (file.read(reinterpret_cast<char*>(page.data()), page_size)) {
    ++pages;
    const auto checksum = ComputeChecksum(page.data(), page_size, pages);
    const bool whole = std::equal(checksum.begin(), checksum.end(), page.end() - kChecksumBytes);
    const bool zeros = std::all_of(page.begin(), page.end(), [](unsigned char byte) { return byte == 0; });
    if (!whole && !zeros && (pages - 1) * page_size != kLockAt)
      return Damaged(path, Cat("the file's page ", pages, " is not as it was written"));
  }
  if (file.gcount() != 0) return Damaged(path, "it does not end with a page");
  const uint32_t expected = BigEndian(header.data() + kPagesAt, 4);
  if (pages < expected) return Damaged(path, Cat("expected ", expected, " pages of the file, got ", pages));
  return absl::OkStatus();
}

}  // namespace kirsch
