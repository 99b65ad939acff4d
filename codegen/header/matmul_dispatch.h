// SPDX-License-Identifier: Apache-2.0
// Prints one function for a whole file, FILE_matmul, which finds the kernel of a matmul by its types and
// sizes. A caller with many layers then needs no table of functions. For example, the caller of a file
// `model` asks for m = 7, k = 64, n = 128, and the leading dimensions of all three:
//   if (!model_matmul(model_f32_rhs_col, 7, 64, 128, 64, 64, 128, x, w, y, scratch, 0, 1)) return 1;
#ifndef KIRSCH_CODEGEN_HEADER_MATMUL_DISPATCH_H_
#define KIRSCH_CODEGEN_HEADER_MATMUL_DISPATCH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "codegen/header/header_file.h"

namespace kirsch {

// A kernel that may be asked for: its name, for errors, and its text.
struct DispatchedText {
  std::string name, text;
};

// Checks that each call has one kernel at most, and that there are any. InvalidArgument if none of the texts
// is a matmul that FILE_matmul may call: one without a batch, whose epilogue takes nothing from memory.
// InvalidArgument also if two texts would answer the same call; the error names them.
absl::Status CheckMatmulDispatch(absl::Span<const DispatchedText> texts);

// Returns the names of all that is printed for these texts in a file called `file`. No function of the file
// may have one of them.
std::vector<std::string> MatmulDispatchNames(const std::string& file, absl::Span<const DispatchedText> texts);

// The types, then, FILE being the file's name:
//   bool FILE_matmul(int type, size_t m, size_t k, size_t n, size_t lda, size_t ldb, size_t ldc,
//                    const void* lhs, const void* rhs, void* out, void* scratch, size_t thread, size_t
//                    n_threads)
//   size_t FILE_scratch_bytes(void)
// and, if an operand of some matmul is prepacked,
//   size_t FILE_matmul_packed_bytes(int type, size_t m, size_t k, size_t n)
//   bool FILE_matmul_pack(int type, size_t m, size_t k, size_t n, size_t ld, const void* operand, void*
//   packed)
// `linkage`: what public functions begin with. They call the file's functions, which are printed before.
std::string PrintMatmulDispatch(const HeaderFile& file, const std::string& linkage);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_MATMUL_DISPATCH_H_
