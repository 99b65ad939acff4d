#include "spec/text/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

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

// Writes `contents` to `path`, which is opened with `flags`; errors call it `shown`.
absl::Status Write(const std::string& path, int flags, std::string_view contents, std::string_view shown) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (file < 0) return SystemError(shown);
  const bool written = WriteAll(file, contents);
  const int error = errno;
  const bool closed = close(file) == 0;
  if (written && closed) return absl::OkStatus();
  if (!written) errno = error;
  return SystemError(shown);
}

// Through symbolic links, so that a link that is written to stays one, also if it leads to what isn't there
// yet. Of links that lead nowhere, the path of one.
std::string Resolve(std::string_view path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;
  std::error_code error;
  fs::path target(path);
  for (int links = 0; links < kMostLinks && fs::is_symlink(target, error); ++links)
    target = target.parent_path() / fs::read_symlink(target, error);
  const fs::path canonical = fs::weakly_canonical(target, error);
  return error ? target.string() : canonical.string();
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
  const std::string name = Resolve(path);
  struct stat info;
  const bool exists = stat(name.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) return SystemError(path);
  if (exists && !S_ISREG(info.st_mode)) return Write(name, 0, contents, path);
  const std::string temporary = TemporaryFor(name);
  absl::Status status = Write(temporary, O_CREAT | O_TRUNC, contents, path);
  if (status.ok() && rename(temporary.c_str(), name.c_str()) != 0) status = SystemError(path);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

absl::Status CheckWritable(std::string_view path) {
  const std::string name = Resolve(path);
  struct stat info;
  const bool exists = stat(name.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) return SystemError(path);
  if (exists && !S_ISREG(info.st_mode)) {
    // A pipe is not opened: its reader would take that for all there is.
    errno = S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (errno == 0 && access(name.c_str(), W_OK) == 0) return absl::OkStatus();
    return SystemError(path);
  }
  const std::string temporary = TemporaryFor(name);
  absl::Status status = Write(temporary, O_CREAT | O_TRUNC, "", path);
  unlink(temporary.c_str());
  return status;
}

}  // namespace kirsch
