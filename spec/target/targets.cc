// SPDX-License-Identifier: Apache-2.0
#include "spec/target/targets.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "spec/check.h"
#include "spec/target/dlti.h"
#include "spec/target/host.h"
#include "spec/target/target_files.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr std::string_view kForAvx2 = "-avx2";

std::vector<Target> ReadTargetFiles() {
  std::vector<Target> targets;
  for (const EmbeddedFile& file : TargetFiles()) {
    absl::StatusOr<TargetFile> parsed = ParseTarget(file.text, file.name);
    // A file that does not parse, or has another name than its target, is a mistake of ours.
    KIRSCH_CHECK(parsed.ok() && parsed->target.name == file.name);
    targets.push_back(std::move(parsed->target));
  }
  return targets;
}

// The directory of settings: $KIRSCH_CONFIG, or what the XDG base directory specification says. By that, a
// relative path is ignored. Empty: there is none.
std::string ConfigDirectory() {
  if (const char* const own = std::getenv("KIRSCH_CONFIG"); own != nullptr && *own != '\0')
    return std::string_view(own) == "none" ? "" : own;
  if (const char* const config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config == '/')
    return Cat(config, "/kirsch");
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? Cat(home, "/.config/kirsch") : "";
}

// Reads a calibrated file. It may be of a time when the machine had more features or other cores, as virtual
// machines do. Missing features are an error, since its kernels would not run. Cores are those of today.
absl::StatusOr<TargetFile> CalibratedHost(const Host& host, std::string_view text, std::string_view path) {
  KIRSCH_ASSIGN_OR_RETURN(TargetFile file, ParseTarget(text, path));
  for (const std::string& feature : file.target.features)
    if (std::ranges::find(host.features, feature) == host.features.end())
      return absl::InvalidArgumentError(
          Cat(path, ": expected features of this CPU, got ", feature, " (kirsch target calibrate)"));
  file.target.name = "host";
  file.target.cores = host.cores;
  file.note = Cat("host: calibrated ", file.calibrated.empty() ? "by hand" : file.calibrated);
  return file;
}

absl::StatusOr<TargetFile> FindHost(std::string_view llvm_cpu) {
  const Host host = ReadHost();
  // Only a file that is there and cannot be read is an error: else wrong costs would be used silently.
  const std::string path = HostFile();
  if (!path.empty() && access(path.c_str(), F_OK) == 0) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok()) return absl::InvalidArgumentError(Cat("target host: ", text.status().message()));
    return CalibratedHost(host, *text, path);
  }
  KIRSCH_ASSIGN_OR_RETURN(Target target, HostTarget(host, llvm_cpu));
  TargetFile file = {std::move(target)};
  file.note =
      Cat("host: constants of ", NearestTarget(host, llvm_cpu), ", not calibrated: kirsch target calibrate");
  file.uncalibrated = true;
  return file;
}

absl::StatusOr<TargetFile> ForCode(absl::StatusOr<TargetFile> found, bool for_avx2) {
  if (!for_avx2 || !found.ok()) return found;
  found->target = ForAvx2(std::move(found->target));
  found->target.name += kForAvx2;
  if (found->target.vectors.empty())
    return absl::InvalidArgumentError(
        Cat("target ", found->target.name, ": expected vectors of 16 or 32 bytes"));
  return found;
}

}  // namespace

std::string HostFile() {
  const std::string directory = ConfigDirectory();
  return directory.empty() ? "" : Cat(directory, "/targets/", Signature(ReadHost()), ".json");
}

const std::vector<Target>& NamedTargets() {
  static const std::vector<Target>& targets = *new std::vector<Target>(ReadTargetFiles());
  return targets;
}

absl::StatusOr<TargetFile> FindTarget(std::string_view name_or_path, std::string_view llvm_cpu) {
  // "host" and the named targets, for all code that they run or for AVX2 alone.
  std::string_view name = name_or_path;
  const bool for_avx2 = name.ends_with(kForAvx2);
  if (for_avx2) name.remove_suffix(kForAvx2.size());
  if (name == "host") return ForCode(FindHost(llvm_cpu), for_avx2);
  for (const Target& target : NamedTargets())
    if (target.name == name) return ForCode(TargetFile{target, {}}, for_avx2);
  absl::StatusOr<std::string> text = ReadFile(name_or_path);
  if (text.ok())
    return IsDltiFile(name_or_path) ? ParseDlti(*text, name_or_path) : ParseTarget(*text, name_or_path);
  const std::string names = Join(NamedTargets(), " ", &Target::name);
  return absl::InvalidArgumentError(Cat("target: expected one of ", names, " host, or a target file, got ",
                                        text.status().message(),
                                        DidYouMean(name_or_path, NamesOf(NamedTargets()))));
}

}  // namespace kirsch
