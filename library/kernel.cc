// SPDX-License-Identifier: Apache-2.0
#include "library/kernel.h"

#include <algorithm>
#include <utility>

#include "codegen/header/user_matrix.h"
#include "codegen/llvm/host_cpu.h"
#include "spec/check.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Returns the bytes that an operand's address is a multiple of. Blocks may lie anywhere.
size_t AlignmentOf(Dtype dtype) { return IsOfBlocks(dtype) ? 1 : static_cast<size_t>(Bytes(dtype)); }

// Each thread's part of a buffer begins on a line.
size_t RoundedUp(size_t bytes) {
  return (bytes + BufferPool::kAlignment - 1) / BufferPool::kAlignment * BufferPool::kAlignment;
}

// A null or misaligned pointer would fault inside of the code, so it is refused here.
absl::Status CheckAligned(const std::string& name, const void* pointer, size_t bytes) {
  if (pointer == nullptr) return absl::InvalidArgumentError(Cat(name, ": expected an address, got NULL"));
  if (reinterpret_cast<uintptr_t>(pointer) % bytes == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(name, ": expected an address that is a multiple of ", bytes));
}

// Memory of 0 bytes may be null.
absl::Status CheckMemory(const std::string& name, const void* pointer, size_t bytes) {
  return bytes == 0 ? absl::OkStatus() : CheckAligned(name, pointer, BufferPool::kAlignment);
}

// The caller gives a pointer for each operand, for constants, too.
absl::Status CheckCount(size_t given, size_t expected) {
  if (given == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("operands: expected ", expected, ", got ", given));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CallableKernel>> CallableKernel::Compile(const SolvedKernel& solution) {
  std::unique_ptr<CallableKernel> kernel(
      new CallableKernel(solution.request(), solution.Code(), solution.threads()));
  KIRSCH_RETURN_IF_ERROR(kernel->CompileAll());
  return kernel;
}

absl::Status CallableKernel::CompileAll() {
  // Code with instructions that this CPU lacks would end the process, so it is refused here.
  for (const LoopProgram& program : variant().programs) {
    KIRSCH_RETURN_IF_ERROR(CanRun(program, variant().target));
    KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<JitKernel> jit, JitCompile(program, variant().target));
    std::function<void(const KernelCall&)> run = jit->Caller();
    code_.push_back({program, std::move(jit), std::move(run)});
  }
  // The operands of each member, so that calls only have to look them up.
  for (int64_t member = 0; member < request_.count(); ++member)
    operands_.push_back(OperandsOf(request_, member));
  // A kernel for ranges of columns leaves threads to its callers; its own pool is of one.
  pool_ = std::make_unique<ThreadPool>(static_cast<size_t>(std::max(threads(), 1)));
  return absl::OkStatus();
}

// All programs of a family pack alike, so the first one tells the size.
size_t CallableKernel::packed_bytes() const {
  const std::optional<Packing>& packing = code_.front().program.packing;
  return packing ? static_cast<size_t>(packing->bytes) : 0;
}

std::vector<void*> CallableKernel::TensorsOf(const LoopProgram& program, int64_t member,
                                             absl::Span<void* const> operands, const void* packed) const {
  const std::vector<CallOperand>& known = operands_[static_cast<size_t>(member)];
  std::vector<void*> tensors;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!known[i].constant) tensors.push_back(operands[i]);
  // The packed constants come right before the outputs, which are the last.
  const auto outputs = std::ranges::count_if(known, &CallOperand::output);
  if (program.packing) tensors.insert(tensors.end() - outputs, const_cast<void*>(packed));
  KIRSCH_CHECK(tensors.size() == program.tensors.size());
  return tensors;
}

// Checks the arguments and looks up the code. It allocates lists of pointers, nothing else.
absl::StatusOr<CallableKernel::Prepared> CallableKernel::Prepare(const kirsch_arguments& arguments) const {
  // First the sizes, which tell the member; then its operands, as many as there are, each aligned.
  KIRSCH_ASSIGN_OR_RETURN(const int64_t member,
                          FindMember(sizes_, absl::MakeConstSpan(arguments.sizes, arguments.num_sizes)));
  const auto number = static_cast<size_t>(member);
  const std::vector<CallOperand>& known = operands_[number];
  KIRSCH_RETURN_IF_ERROR(CheckCount(arguments.num_operands, known.size()));
  const absl::Span<void* const> operands(arguments.operands, arguments.num_operands);
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].constant) continue;
    const auto bytes = AlignmentOf(known[i].dtype);
    KIRSCH_RETURN_IF_ERROR(CheckAligned(known[i].name, operands[i], bytes));
  }
  KIRSCH_RETURN_IF_ERROR(CheckMemory("packed", arguments.packed, packed_bytes()));
  // A program for several sizes takes these as its first arguments.
  const size_t program = variant().number_of(number);
  Prepared call{&code_[program], 0, {}};
  if (variant().shares()) {
    const std::vector<uint32_t> values = ValuesOf(sizes_, member);
    for (const SizeSum& sum : variant().sizes_of[program])
      call.tensors.push_back(reinterpret_cast<void*>(size_t{sum.Of(values)}));
  }
  const std::vector<void*> tensors = TensorsOf(call.code->program, member, operands, arguments.packed);
  call.tensors.insert(call.tensors.end(), tensors.begin(), tensors.end());
  // In blocks of columns, threads are columns: a whole call is all of them at once.
  if (call.code->program.block != 0) call.columns = SizesOfUser(function_.members[number])[MatmulDims::kN];
  return call;
}

// The call is shared by all threads; only `part` is a thread's own.
void CallableKernel::Run(const Prepared& call, const KernelCall& part) {
  const LoopProgram& program = call.code->program;
  if ((!program.SharesWork() && part.thread != 0) || (program.phases == 1 && part.phase != 0)) return;
  KernelCall own = part;
  own.tensors = call.tensors;
  // All checks are done: from here on the machine code reads and writes what it was given.
  call.code->run(own);
}

// All threads of the pool take part in each phase; a call that does all by itself does phase after phase.
absl::Status CallableKernel::Call(const kirsch_arguments& arguments) const {
  KIRSCH_ASSIGN_OR_RETURN(const Prepared call, Prepare(arguments));
  // A program that shares no work, and a pool of one thread, need nobody to be woken.
  const bool alone = !call.code->program.SharesWork() || pool_->threads() == 1;
  const size_t stride = RoundedUp(scratch_bytes());
  // One buffer has the memory of all threads. Each part begins on a line:
  //
  //   | scratch of thread 0 | scratch of thread 1 | ... | what all threads share |
  const BufferPool::Buffer buffer = buffers_.Take(pool_->threads() * stride + shared_bytes());
  const size_t n_threads = alone ? 1 : pool_->threads();
  // Each phase begins when all threads are done with the one before it: Run of the pool is the barrier.
  for (size_t phase = 0; phase < phases(); ++phase) {
    const auto work = [&](size_t thread) {
      KernelCall part;
      part.scratch = buffer.data() + thread * stride;
      part.shared = buffer.data() + pool_->threads() * stride;
      part.thread = thread;
      part.n_threads = call.columns > 0 ? static_cast<size_t>(call.columns) : n_threads;
      part.phase = phase;
      Run(call, part);
    };
    if (alone)
      work(0);
    else
      pool_->Run(work);
  }
  return absl::OkStatus();
}

absl::Status CallableKernel::CallPart(const kirsch_arguments& arguments, const kirsch_part& part) const {
  KIRSCH_ASSIGN_OR_RETURN(const Prepared call, Prepare(arguments));
  // Memory is the caller's here, so it has to be checked, too.
  KIRSCH_RETURN_IF_ERROR(CheckMemory("scratch", part.scratch, scratch_bytes()));
  KIRSCH_RETURN_IF_ERROR(CheckMemory("shared", part.shared, shared_bytes()));
  if (part.phase >= phases())
    return absl::InvalidArgumentError(Cat("phase: expected one below ", phases(), ", got ", part.phase));
  // Of blocks of columns, `thread` and `num_threads` are a range: its begin and its end.
  const size_t most = call.columns > 0 ? static_cast<size_t>(call.columns) : SIZE_MAX;
  const bool fits = call.columns > 0 ? part.thread <= part.num_threads : part.thread < part.num_threads;
  if (!fits || part.num_threads > most)
    return absl::InvalidArgumentError(
        call.columns > 0
            ? Cat("thread: expected columns from 0 to ", call.columns, ", got ", part.thread, " to ",
                  part.num_threads)
            : Cat("thread: expected one below num_threads, got ", part.thread, " of ", part.num_threads));
  KernelCall own;
  own.scratch = part.scratch;
  own.shared = part.shared;
  own.thread = part.thread;
  own.n_threads = part.num_threads;
  own.phase = part.phase;
  Run(call, own);
  return absl::OkStatus();
}

// Constants are the same for all members, so the operands of the first one tell which they are.
absl::Status CallableKernel::Pack(absl::Span<void* const> operands, void* packed) const {
  const std::vector<CallOperand>& known = operands_.front();
  KIRSCH_RETURN_IF_ERROR(CheckCount(operands.size(), known.size()));
  if (packed_bytes() == 0)
    return absl::InvalidArgumentError("pack: expected a kernel with a constant operand");
  KIRSCH_RETURN_IF_ERROR(CheckMemory("packed", packed, packed_bytes()));
  std::vector<void*> tensors;
  for (size_t i = 0; i < known.size(); ++i) {
    if (!known[i].constant) continue;
    const auto bytes = AlignmentOf(known[i].dtype);
    KIRSCH_RETURN_IF_ERROR(CheckAligned(known[i].name, operands[i], bytes));
    tensors.push_back(operands[i]);
  }
  // The packer takes the constants alone, then the memory to fill. All programs pack alike.
  tensors.push_back(packed);
  code_.front().jit->Packer()(tensors);
  return absl::OkStatus();
}

}  // namespace kirsch
