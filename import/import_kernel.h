// SPDX-License-Identifier: Apache-2.0
// Turns functions of an MLIR module into kernels of the kernel language: those that no other one calls, each
// with its calls inlined.
//
// Pure functions; any module is safe to pass.
#ifndef KIRSCH_IMPORT_IMPORT_KERNEL_H_
#define KIRSCH_IMPORT_IMPORT_KERNEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "import/constant_tensor.h"
#include "import/mlir_module.h"

namespace kirsch {

// A constant of the program that is no single number. The kernel has a parameter for it.
struct KernelConstant {
  std::string name;  // of the parameter
  ConstantTensor tensor;
  bool integer = false;  // s32s; else floats
};

struct ImportedKernel {
  std::string name, text;  // the text ends with a line break
  std::vector<KernelConstant> constants;
  size_t operations = 0;  // of the program, calls inlined
};

// `source` is what errors call the module's text; `main` is the name of the kernel that the function `main`
// becomes, a C identifier. An error is InvalidArgument, one line: "<source>:<line>:<column>: expected ...",
// with the place of the operation that is not ours.
absl::StatusOr<std::vector<ImportedKernel>> ImportKernels(const MlirModule& module, std::string_view source,
                                                          const std::string& main);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_IMPORT_KERNEL_H_
