#include "tools/output.h"

#include <cstdio>

#include "spec/file.h"

namespace kirsch {

absl::Status WriteOutput(std::string_view path, std::string_view contents) {
  if (!path.empty() && path != "-") return WriteFile(path, contents);
  std::fwrite(contents.data(), 1, contents.size(), stdout);  // main looks whether it went well
  return absl::OkStatus();
}

absl::Status CheckOutput(std::string_view path) {
  return path.empty() || path == "-" ? absl::OkStatus() : CheckWritable(path);
}

}  // namespace kirsch
