// SPDX-License-Identifier: Apache-2.0
#include "tools/output.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/json_text.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;

// A remark for the end; `said` may be empty.
struct Remark {
  std::string text;
  std::function<void()> said;
};

// Never destroyed, as remarks are printed when the command is done.
std::vector<Remark>& RemarksForTheEnd() {
  static std::vector<Remark>& remarks = *new std::vector<Remark>();
  return remarks;
}

bool IsStandardOutput(std::string_view path) { return path.empty() || path == "-"; }

// A pipe or /dev/null takes several outputs one after the other, so it may be named twice.
bool IsPlainFile(const fs::path& path) {
  std::error_code error;
  return !fs::exists(path, error) || fs::is_regular_file(path, error);
}

// The file that a path leads to, so that two paths of one file compare equal. It need not exist.
fs::path FileAt(std::string_view path) {
  std::error_code error;
  const fs::path file = fs::weakly_canonical(fs::absolute(fs::path(path), error), error);
  return error ? fs::path(path) : file;
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

absl::Status CheckOutputs(std::initializer_list<std::string_view> outputs,
                          const std::vector<std::string>& inputs) {
  // Paths are compared as files: "a.h" and "./a.h" are the same.
  std::set<fs::path> read, written;
  for (const std::string& path : inputs)
    if (!path.empty()) read.insert(FileAt(path));
  for (std::string_view path : outputs) {
    if (IsStandardOutput(path)) continue;
    // Directories that are missing, and permissions, show here.
    KIRSCH_RETURN_IF_ERROR(CheckWritable(path));
    if (!IsPlainFile(path)) continue;
    const fs::path file = FileAt(path);
    if (read.contains(file))
      return absl::InvalidArgumentError(
          Cat("expected another file to write to than ", Quoted(path), ", which is read"));
    if (!written.insert(file).second)
      return absl::InvalidArgumentError(Cat("expected a file for each output, got ", Quoted(path), " twice"));
  }
  return absl::OkStatus();
}

void PrintRemark(std::string_view remark) { std::fprintf(stderr, "kirsch: %s\n", Printable(remark).c_str()); }

void RemarkAtEnd(std::string_view remark, std::function<void()> said) {
  std::vector<Remark>& remarks = RemarksForTheEnd();
  // The same remark is kept once, however often it is made.
  if (std::ranges::none_of(remarks, [&](const Remark& other) { return other.text == remark; }))
    remarks.push_back({std::string(remark), std::move(said)});
}

void PrintRemarksAtEnd() {
  for (const Remark& remark : RemarksForTheEnd()) {
    PrintRemark(remark.text);
    if (remark.said) remark.said();
  }
  RemarksForTheEnd().clear();
}

}  // namespace kirsch
