// SPDX-License-Identifier: Apache-2.0
// Compiles an emitted C header with the system's compiler and loads the result into this process, to run it.
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_HEADER_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_HEADER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/c/compilation.h"
#include "codegen/header/header_file.h"
#include "codegen/llvm/jit.h"
#include "codegen/loop/loop_program.h"

namespace kirsch {

// A compilation that runs beside the caller, in a private temporary directory. That goes away with this
// object, and the library is unloaded.
class HeaderBuild {
 public:
  // Starts compiling `header`, as PrintHeaderFile made it from `program` in `mode`, at -O2.
  static absl::StatusOr<std::unique_ptr<HeaderBuild>> Start(const std::string& header,
                                                            const LoopProgram& program, HeaderMode mode,
                                                            const std::string& compiler);

  // Starts compiling the self-test of `header`, as PrintHeaderFile made it under `name`, as a program.
  static absl::StatusOr<std::unique_ptr<HeaderBuild>> StartSelfTest(const std::string& header,
                                                                    const std::string& name,
                                                                    const std::vector<std::string>& features,
                                                                    HeaderMode mode,
                                                                    const std::string& compiler);
  ~HeaderBuild();
  HeaderBuild(const HeaderBuild&) = delete;
  HeaderBuild& operator=(const HeaderBuild&) = delete;

  // Waits for the compiler and loads the library. Returns a function that takes all tensors and calls the
  // header's; it is valid while this object lives. INTERNAL holds the compiler's first complaint.
  absl::StatusOr<GraphKernelFunction> Finish();

  // Returns the header's function that packs what is prepacked, valid as long; null if there is none. After
  // Finish().
  PackConstantsFunction pack() const { return reinterpret_cast<PackConstantsFunction>(pack_); }

  // Waits for the compiler and runs the program of StartSelfTest. INTERNAL holds the first complaint of the
  // compiler or of the self-test.
  absl::Status RunSelfTest();

  // Returns the bytes that the compiler made: a library, or a program. After Finish() or RunSelfTest().
  absl::StatusOr<std::string> MachineCode() const;

 private:
  HeaderBuild() = default;

  static absl::StatusOr<std::unique_ptr<HeaderBuild>> Start(const std::string& header,
                                                            const std::string& source,
                                                            const std::vector<std::string>& command);
  absl::Status WaitForCompiler();

  std::unique_ptr<Compilation> compilation_;
  void* library_ = nullptr;
  void* pack_ = nullptr;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_HEADER_H_
