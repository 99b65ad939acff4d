// SPDX-License-Identifier: Apache-2.0
// Holds a solution's code in this process, and calls it. Internal to library/.
//
//   kirsch_call  ->  Prepare: which member, whose code, aligned pointers?  ->  each phase, in every thread
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

// Compiled code for all members of a request. It needs the solution no longer. Thread-safe to call: scratch
// memory is taken from a pool for each call, and a thread pool that is at work leaves a second call to its
// own thread.
class CallableKernel {
 public:
  // Compiles the code of all members. FailedPrecondition: this CPU can't run it.
  static absl::StatusOr<std::unique_ptr<CallableKernel>> Compile(const SolvedKernel& solution);

  // Runs a whole call in the kernel's own threads. InvalidArgument, before anything is touched, if a number
  // of sizes or operands is wrong or a pointer is not aligned.
  absl::Status Call(const kirsch_arguments& arguments) const;
  // Runs one thread's share of a phase, in memory that the caller gives. The errors are those of Call, and of
  // a part that there is not.
  absl::Status CallPart(const kirsch_arguments& arguments, const kirsch_part& part) const;
  // Packs the constants of the operands. All members of a family share the result.
  absl::Status Pack(absl::Span<void* const> operands, void* packed) const;

  // Threads that the kernel was made for; 0: it computes ranges of columns.
  int threads() const { return code_.front().program.block != 0 ? 0 : threads_; }
  // Bytes of each thread's scratch memory, and of what all threads share: the most that any member needs.
  size_t scratch_bytes() const { return static_cast<size_t>(function_.scratch_bytes()); }
  size_t shared_bytes() const { return static_cast<size_t>(function_.shared_bytes()); }
  size_t phases() const { return static_cast<size_t>(function_.phases()); }
  size_t packed_bytes() const;

 private:
  // A loop program and its machine code. One may serve many members of a family. `run` calls into `jit`.
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

  // CompileAll fills in the rest: a constructor could not return its errors.
  CallableKernel(KernelRequest request, HeaderFunction function, int threads)
      : request_(std::move(request)),
        sizes_(request_.sizes()),
        function_(std::move(function)),
        threads_(threads) {}

  const HeaderVariant& variant() const { return function_.variants.front(); }
  absl::Status CompileAll();
  absl::StatusOr<Prepared> Prepare(const kirsch_arguments& arguments) const;
  // Returns the operands that the code takes, in its order. Constants are not among them: `packed` stands for
  // all of these.
  //
  //   request (x, w, out), w constant  ->  code (x, packed, out)
  std::vector<void*> TensorsOf(const LoopProgram& program, int64_t member, absl::Span<void* const> operands,
                               const void* packed) const;
  // Runs one thread's share of one phase. A kernel may have more phases and threads than this one of its
  // programs: then there is nothing to do.
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
