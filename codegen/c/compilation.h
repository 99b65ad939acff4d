// SPDX-License-Identifier: Apache-2.0
// The system's C compiler at work beside the caller.
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

// The path of `compiler`, or of the first of cc, gcc, clang if empty. Where distributions have it by its
// version only, as clang-19, the newest. NOT_FOUND if there is none on the PATH.
absl::StatusOr<std::string> FindCompiler(const std::string& compiler);

// A compilation in a private temporary directory that goes away with this object.
class Compilation {
 public:
  // Writes `files` (names and texts) there and starts the command, which names files of the directory.
  static absl::StatusOr<std::unique_ptr<Compilation>> Start(
      const std::vector<std::pair<std::string, std::string>>& files, const std::vector<std::string>& command);
  ~Compilation();
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  // Waits for the compiler, once. An error is its first complaint.
  absl::Status Wait();

  // Runs what was compiled ("./program"). An error is its first complaint.
  absl::Status Run(const std::string& program);

  // Of a file in the directory.
  std::string Path(const std::string& file) const;

 private:
  Compilation() = default;

  std::string directory_;
  pid_t compiler_ = -1;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_COMPILATION_H_
