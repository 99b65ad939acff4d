#include "tools/once_a_day.h"

#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "spec/text/cat.h"
#include "spec/text/date.h"
#include "spec/text/file.h"
#include "synthesis/database.h"

namespace kirsch {
bool IsDueToday(const std::string& what) {
  const std::string directory = CacheDirectory();
  if (directory.empty()) return true;
  const absl::StatusOr<std::string> said = ReadFile(Cat(directory, "/", what));
  return !said.ok() || *said != Today();
}

void KeepToday(const std::string& what) {
  const std::string directory = CacheDirectory();
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  (void)WriteFile(Cat(directory, "/", what), Today());
}

}  // namespace kirsch
