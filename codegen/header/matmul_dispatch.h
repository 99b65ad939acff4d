// SPDX-License-Identifier: Apache-2.0
// One function of a header that finds the kernel of a matmul by its types and sizes, PREFIX_matmul, and what
// goes with it.
#ifndef KIRSCH_CODEGEN_HEADER_MATMUL_DISPATCH_H_
#define KIRSCH_CODEGEN_HEADER_MATMUL_DISPATCH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "codegen/header/header_file.h"

namespace kirsch {

// A kernel that may be asked for: what it is called by errors, and its text.
struct DispatchedText {
  std::string name, text;
};

// InvalidArgument if none of the texts is a matmul that PREFIX_matmul may call (one without a batch, whose
// epilogue takes nothing from memory), or if two have a size in common: it names them.
absl::Status CheckMatmulDispatch(absl::Span<const DispatchedText> texts);

// The names of what is printed for these in a file called `file`.
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
