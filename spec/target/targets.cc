#include "spec/target/targets.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_join.h"
#include "spec/check.h"
#include "spec/target/host.h"
#include "spec/target/target_files.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"

namespace kirsch {
namespace {

std::vector<Target> ReadTargetFiles() {
  std::vector<Target> targets;
  for (const EmbeddedFile& file : TargetFiles()) {
    absl::StatusOr<TargetFile> parsed = ParseTarget(file.text, file.name);
    KIRSCH_CHECK(parsed.ok() && parsed->target.name == file.name);
    targets.push_back(std::move(parsed->target));
  }
  return targets;
}

}  // namespace

const std::vector<Target>& NamedTargets() {
  static const std::vector<Target>& targets = *new std::vector<Target>(ReadTargetFiles());
  return targets;
}

absl::StatusOr<TargetFile> FindTarget(std::string_view name_or_path, std::string_view llvm_cpu) {
  for (const Target& target : NamedTargets())
    if (target.name == name_or_path) return TargetFile{target, {}};
  if (name_or_path == "host") {
    absl::StatusOr<Target> host = TargetOf(ReadHost(), llvm_cpu);
    if (!host.ok()) return host.status();
    return TargetFile{*std::move(host), {}};
  }
  absl::StatusOr<std::string> text = ReadFile(name_or_path);
  if (text.ok()) return ParseTarget(*text, name_or_path);
  const std::string names = absl::StrJoin(
      NamedTargets(), " ", [](std::string* out, const Target& target) { Append(out, target.name); });
  return absl::InvalidArgumentError(
      Cat("target: expected one of ", names, " host, or a target file, got ", text.status().message()));
}

}  // namespace kirsch
