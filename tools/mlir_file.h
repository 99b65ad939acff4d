// SPDX-License-Identifier: Apache-2.0
// Reads files of MLIR as kernels. MLIR itself is in a plug-in, which is loaded when the first such file is
// read.
#ifndef KIRSCH_TOOLS_MLIR_FILE_H_
#define KIRSCH_TOOLS_MLIR_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "import/import_kernel.h"

namespace kirsch {

// True if the path ends in ".mlir".
bool IsMlirFile(std::string_view path);

// The kernels of the file, each in the kernel language. The function `main` is called after the file. Errors
// are one line, with the place in the file; NotFound if the plug-in is not there.
absl::StatusOr<std::vector<ImportedKernel>> ReadMlirFile(const std::string& path);

// The texts of all kernels, one after the other: a file of kernels.
std::string TextOf(const std::vector<ImportedKernel>& kernels);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_MLIR_FILE_H_
