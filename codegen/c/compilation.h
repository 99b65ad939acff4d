// SPDX-License-Identifier: Apache-2.0
// Runs the system's C compiler as a process beside the caller, to verify and to measure printed headers.
// Files are in a temporary directory of their own, so compilations never see each other's.
//
// For example:
//   Compilation::Start({{"kernel.h", text}, {"main.c", main}}, {compiler, "-O2", "main.c", "-o", "program"})
//   (*compilation)->Wait();             the compiler works meanwhile
//   (*compilation)->Run("./program");
#ifndef KIRSCH_CODEGEN_C_COMPILATION_H_
#define KIRSCH_CODEGEN_C_COMPILATION_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kirsch {

// Returns the path of `compiler`, or of the first of cc, gcc, clang if it is empty. gcc and clang are also
// looked for under names with a version, as clang-19, since some distributions have no others; the newest is
// taken. NOT_FOUND if there is none on the PATH.
absl::StatusOr<std::string> FindCompiler(const std::string& compiler);

// One compilation, in a private temporary directory that is removed with this object. Not thread-safe.
class Compilation {
 public:
  // Writes `files` (names and texts) there and starts the command, which names files of the directory.
  // UNAVAILABLE if the directory, a file or the process cannot be made.
  static absl::StatusOr<std::unique_ptr<Compilation>> Start(
      const std::vector<std::pair<std::string, std::string>>& files, const std::vector<std::string>& command);
  ~Compilation();
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  // Waits for the compiler. To be called once. INTERNAL if it failed; the message is its first complaint.
  absl::Status Wait();

  // Runs what was compiled ("./program") to its end. INTERNAL if it fails; the message is its first
  // complaint. UNAVAILABLE if it cannot be started, or says by status 2 that the machine lacks what it takes.
  absl::Status Run(const std::string& program);

  // Returns the path of a file in the directory.
  std::string Path(const std::string& file) const;

 private:
  Compilation() = default;

  std::string directory_;
  pid_t compiler_ = -1;  // -1: none is running, or it was waited for
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_COMPILATION_H_
