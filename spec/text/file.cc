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

// A limit keeps a wrong path, such as /dev/zero, from filling the memory.
constexpr size_t kLargestFile = size_t{64} << 20;  // for input: far more than any has

// Reads `errno`, so nothing that may set it can come between the failed call and this one.
absl::Status SystemError(std::string_view path) {
  return absl::InvalidArgumentError(Cat(Quoted(path, 4096), ": ", std::strerror(errno)));
}

// Writes all of `contents`, however many calls that takes: write() may take in less than it was given, or be
// interrupted. False: `errno` says why.
bool WriteAll(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = write(file, contents.data(), contents.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) contents.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Writes `contents` to the descriptor `file` and closes it. If `file` is negative, opening it has failed, and
// `errno` says why. Errors call the file `shown`, which is the path that the user gave.
absl::Status WriteAndClose(int file, std::string_view contents, std::string_view shown) {
  if (file < 0) return SystemError(shown);
  const bool written = WriteAll(file, contents);
  // close() may set errno, and it can report a failed write, too. The first error is the one that is
  // reported.
  const int error = errno;
  const bool closed = close(file) == 0;
  if (written && closed) return absl::OkStatus();
  if (!written) errno = error;
  return SystemError(shown);
}

// Returns a descriptor, or -1 with the reason in `errno`. O_CLOEXEC keeps it from programs that this one
// starts.
int OpenToWrite(const std::string& path, int flags) {
  return open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
}

// Follows symbolic links until `is_end` is true of the path reached, or it is no link. Links may form a
// circle, so that there is a limit on their number.
template <typename IsEnd>
fs::path Followed(std::string_view path, const IsEnd& is_end) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  fs::path target(path);
  for (int links = 0; links < kMostLinks && !is_end(target) && fs::is_symlink(target, error); ++links)
    // A relative link counts from the directory that it is in; operator/ drops that if the link is absolute.
    target = target.parent_path() / fs::read_symlink(target, error);
  return target;
}

// The path that `path` stands for, without symbolic links. WriteFile replaces that file, so that a link stays
// a link, even if it leads to a file that does not exist yet. If a link leads nowhere, the result is the path
// that it names.
std::string Resolve(std::string_view path) {
  std::error_code error;
  const fs::path target = Followed(path, [](const fs::path&) { return false; });
  const fs::path canonical = fs::weakly_canonical(target, error);
  return error ? target.string() : canonical.string();
}

// The descriptor of this process that `path` names, as /dev/stdout and /dev/fd/3 do; -1: it names none. Such
// a file is open already, and others may hold it, too: it is written to, not replaced.
int DescriptorOf(std::string_view path) {
  std::error_code error;
  const fs::path own = fs::canonical("/proc/self/fd", error);
  if (error) return -1;
  // /dev/stdout is a link to /proc/self/fd/1, which is a link as well. The walk must end at the link within
  // /proc/self/fd, as its name is the number.
  const auto is_own = [&](const fs::path& link) { return fs::canonical(link.parent_path(), error) == own; };
  const fs::path link = Followed(path, is_own);
  int descriptor = -1;
  return is_own(link) && absl::SimpleAtoi(link.filename().string(), &descriptor) ? descriptor : -1;
}

// In the same directory, as rename() works within one file system only. The process's number keeps two runs
// of the program apart.
std::string TemporaryFor(const std::string& name) { return Cat(name, ".", getpid(), ".tmp"); }

}  // namespace

absl::StatusOr<std::string> ReadFile(std::string_view path) {
  // Read by pieces, not by the size that stat() gives: pipes and files of /proc have none.
  const int file = open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path);
  std::string contents;
  char buffer[1 << 14];
  ssize_t count = 0;
  while (contents.size() <= kLargestFile && (count = read(file, buffer, sizeof(buffer))) != 0) {
    if (count > 0) contents.append(buffer, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  const int error = count > 0 ? EFBIG : errno;  // the loop ended for the file's size, or for an error
  close(file);
  if (count == 0) return contents;
  errno = error;
  return SystemError(path);
}

absl::Status WriteFile(std::string_view path, std::string_view contents) {
  // A duplicate is written to and closed, so that the process's own descriptor stays open.
  if (const int descriptor = DescriptorOf(path); descriptor >= 0)
    return WriteAndClose(fcntl(descriptor, F_DUPFD_CLOEXEC, 0), contents, path);
  const std::string given(path);
  struct stat info;
  const bool exists = stat(given.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) return SystemError(path);
  if (exists && !S_ISREG(info.st_mode)) return WriteAndClose(OpenToWrite(given, 0), contents, path);
  // The new contents go to a temporary file first. Renaming it replaces the old file in one step.
  const std::string name = Resolve(path);
  const std::string temporary = TemporaryFor(name);
  absl::Status status = WriteAndClose(OpenToWrite(temporary, O_CREAT | O_TRUNC), contents, path);
  if (status.ok() && rename(temporary.c_str(), name.c_str()) != 0) status = SystemError(path);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

absl::Status CheckWritable(std::string_view path) {
  if (const int descriptor = DescriptorOf(path); descriptor >= 0) {
    // The process has the file open. Writing to it works if it was opened for that.
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
    // A pipe is not opened: its reader would take the closing of it for the end of all output. Directories
    // and sockets are refused by the error that opening them would give.
    errno = S_ISDIR(info.st_mode) ? EISDIR : S_ISSOCK(info.st_mode) ? ENXIO : 0;
    if (errno == 0 && access(given.c_str(), W_OK) == 0) return absl::OkStatus();
    return SystemError(path);
  }
  // WriteFile needs a directory in which it may create files, whatever the file's own permissions are. So
  // this is tried.
  const std::string temporary = TemporaryFor(Resolve(path));
  absl::Status status = WriteAndClose(OpenToWrite(temporary, O_CREAT | O_TRUNC), "", path);
  unlink(temporary.c_str());
  return status;
}

}  // namespace kirsch
