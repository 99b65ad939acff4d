// SPDX-License-Identifier: Apache-2.0
#include "spec/text/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestFile = size_t{64} << 20;  // for input: far more than any has

absl::Status SystemError(std::string_view path) {
  return absl::InvalidArgumentError(Cat(Quoted(path, 4096), ": ", std::strerror(errno)));
}

bool WriteAll(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = write(file, contents.data(), contents.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) contents.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Writes `contents` to the descriptor `file` and closes it; if it is none, `errno` says why. Errors call it
// `shown`.
absl::Status WriteAndClose(int file, std::string_view contents, std::string_view shown) {
  if (file < 0) return SystemError(shown);
  const bool written = WriteAll(file, contents);
  const int error = errno;
  const bool closed = close(file) == 0;
  if (written && closed) return absl::OkStatus();
  if (!written) errno = error;
  return SystemError(shown);
}

int OpenToWrite(const std::string& path, int flags) {
  return open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
}

// Follows symbolic links as long as `is_end` is false of where they have led.
template <typename IsEnd>
fs::path Followed(std::string_view path, const IsEnd& is_end) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  fs::path target(path);
  for (int links = 0; links < kMostLinks && !is_end(target) && fs::is_symlink(target, error); ++links)
    target = target.parent_path() / fs::read_symlink(target, error);
  return target;
}

// Through symbolic links, so that a link that is written to stays one, also if it leads to what isn't there
// yet. Of links that lead nowhere, the path of one.
std::string Resolve(std::string_view path) {
  std::error_code error;
  const fs::path target = Followed(path, [](const fs::path&) { return false; });
  const fs::path canonical = fs::weakly_canonical(target, error);
  return error ? target.string() : canonical.string();
}

// The descriptor of this process that `path` names, as /dev/stdout and /dev/fd/3 do; -1: it names none.
// Whatever such a descriptor is of, it is open already: its file may not be replaced.
int DescriptorOf(std::string_view path) {
  std::error_code error;
  const fs::path own = fs::canonical("/proc/self/fd", error);
  if (error) return -1;
  const auto is_own = [&](const fs::path& link) { return fs::canonical(link.parent_path(), error) == own; };
  const fs::path link = Followed(path, is_own);
  int descriptor = -1;
  return is_own(link) && absl::SimpleAtoi(link.filename().string(), &descriptor) ? descriptor : -1;
}

std::string TemporaryFor(const std::string& name) { return Cat(name, ".", getpid(), ".tmp"); }

}  // namespace

absl::StatusOr<std::string> ReadFile(std::string_view path) {
  const int file = open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path);
  std::string contents;
  char buffer[1 << 14];
  ssize_t count = 0;
  errno = EFBIG;  // the error if the loop ends for its size
  while (contents.size() <= kLargestFile && (count = read(file, buffer, sizeof(buffer))) != 0) {
    if (count > 0) contents.append(buffer, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  const int error = errno;
  close(file);
  if (count == 0) return contents;
  errno = error;
  return SystemError(path);
}

absl::Status WriteFile(std::string_view path, std::string_view contents) {
  if (const int descriptor = DescriptorOf(path); descriptor >= 0)
    return WriteAndClose(fcntl(descriptor, F_DUPFD_CLOEXEC, 0), contents, path);
  const std::string given(path);
  struct stat info;
  const bool exists = stat(given.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) return SystemError(path);
  if (exists && !S_ISREG(info.st_mode)) return WriteAndClose(OpenToWrite(given, 0), contents, path);
  const std::string name = Resolve(path);
  const std::string temporary = TemporaryFor(name);
  absl::Status status = WriteAndClose(OpenToWrite(temporary, O_CREAT | O_TRUNC), contents, path);
  if (status.ok() && rename(temporary.c_str(), name.c_str()) != 0) status = SystemError(path);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

absl::Status CheckWritable(std::string_view path) {
  if (const int descriptor = DescriptorOf(path); descriptor >= 0) {
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return absl::OkStatus();
    errno = EBADF;
    return SystemError(path);
  }
  const std::string given(path);
  struct stat info;
  const bool exists = stat(given.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) return SystemError(path);
  if (exists && !S_ISREG(info.st_mode)) {
    // A pipe is not opened: its reader would take that for all there is.
    errno = S_ISDIR(info.st_mode) ? EISDIR : S_ISSOCK(info.st_mode) ? ENXIO : 0;
    if (errno == 0 && access(given.c_str(), W_OK) == 0) return absl::OkStatus();
    return SystemError(path);
  }
  const std::string temporary = TemporaryFor(Resolve(path));
  absl::Status status = WriteAndClose(OpenToWrite(temporary, O_CREAT | O_TRUNC), "", path);
  unlink(temporary.c_str());
  return status;
}

}  // namespace kirsch
