#include "tools/output.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/json_text.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;

std::vector<std::string>& RemarksForTheEnd() {
  static std::vector<std::string>& remarks = *new std::vector<std::string>();
  return remarks;
}

bool IsStandardOutput(std::string_view path) { return path.empty() || path == "-"; }

// What is no regular file (a pipe, /dev/null) takes one after the other.
bool IsPlainFile(const fs::path& path) {
  std::error_code error;
  return !fs::exists(path, error) || fs::is_regular_file(path, error);
}

}  // namespace

absl::Status WriteOutput(std::string_view path, std::string_view contents) {
  if (!IsStandardOutput(path)) return WriteFile(path, contents);
  std::fwrite(contents.data(), 1, contents.size(), stdout);  // main looks whether it went well
  return absl::OkStatus();
}

absl::Status WriteJson(std::string_view path, const nlohmann::ordered_json& json) {
  return WriteOutput(path, JsonText(json, 2) + "\n");
}

absl::Status CheckOutputs(std::initializer_list<std::string_view> paths) {
  std::set<fs::path> files;
  for (std::string_view path : paths) {
    if (IsStandardOutput(path)) continue;
    if (absl::Status writable = CheckWritable(path); !writable.ok()) return writable;
    std::error_code error;
    const fs::path file = fs::weakly_canonical(fs::path(path), error);
    if (!error && IsPlainFile(file) && !files.insert(file).second)
      return absl::InvalidArgumentError(Cat("expected a file for each output, got ", Quoted(path), " twice"));
  }
  return absl::OkStatus();
}

void PrintRemark(std::string_view remark) { std::fprintf(stderr, "kirsch: %s\n", Printable(remark).c_str()); }

void RemarkAtEnd(std::string_view remark) {
  std::vector<std::string>& remarks = RemarksForTheEnd();
  if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.emplace_back(remark);
}

void PrintRemarksAtEnd() {
  for (const std::string& remark : RemarksForTheEnd()) PrintRemark(remark);
  RemarksForTheEnd().clear();
}

}  // namespace kirsch
