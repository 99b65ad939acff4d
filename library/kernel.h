// SPDX-License-Identifier: Apache-2.0
// A solution's code in this process. Internal to library/.
#ifndef KIRSCH_LIBRARY_KERNEL_H_
#define KIRSCH_LIBRARY_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/kernel.h"
#include "codegen/llvm/jit.h"
#include "library/buffer_pool.h"
#include "library/kirsch.h"
#include "library/request.h"
#include "library/solved_kernel.h"
#include "library/thread_pool.h"

namespace kirsch {

// Thread-safe to call.
class CallableKernel {
 public:
  // FailedPrecondition: this CPU can't run it.
  static absl::StatusOr<std::unique_ptr<CallableKernel>> Compile(const SolvedKernel& solution);

  absl::Status Call(const kirsch_arguments& arguments) const;
  absl::Status CallPart(const kirsch_arguments& arguments, const kirsch_part& part) const;
  absl::Status Pack(absl::Span<void* const> operands, void* packed) const;

  // 0: it computes ranges of columns.
  int threads() const { return code_.front().program.block != 0 ? 0 : threads_; }
  size_t scratch_bytes() const { return static_cast<size_t>(function_.scratch_bytes()); }
  size_t shared_bytes() const { return static_cast<size_t>(function_.shared_bytes()); }
  size_t phases() const { return static_cast<size_t>(function_.phases()); }
  size_t packed_bytes() const;

 private:
  struct Code {
    const LoopProgram& program;
    std::unique_ptr<JitKernel> jit;
    std::function<void(const KernelCall&)> run;
  };
  // A call that has been checked: whose code, for which tensors in the code's order.
  struct Prepared {
    const Code* code = nullptr;
    int64_t columns = 0;  // of column-blocks: all there are
    std::vector<void*> tensors;
  };

  CallableKernel(KernelRequest request, HeaderFunction function, int threads)
      : request_(std::move(request)),
        sizes_(request_.sizes()),
        function_(std::move(function)),
        threads_(threads) {}

  const HeaderVariant& variant() const { return function_.variants.front(); }
  absl::Status CompileAll();
  absl::StatusOr<Prepared> Prepare(const kirsch_arguments& arguments) const;
  // The operands that code takes, in its order; `packed`: of constants.
  std::vector<void*> TensorsOf(const LoopProgram& program, int64_t member, absl::Span<void* const> operands,
                               const void* packed) const;
  // One thread's share of one phase. A kernel may have more phases and threads than this one of its programs.
  static void Run(const Prepared& call, const KernelCall& part);

  const KernelRequest request_;
  const std::vector<VaryingSize> sizes_;
  const HeaderFunction function_;
  const int threads_;
  std::vector<std::vector<CallOperand>> operands_;  // of each member
  std::vector<Code> code_;                          // of each of the variant's programs
  std::unique_ptr<ThreadPool> pool_;
  mutable BufferPool buffers_;
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_KERNEL_H_
