// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/engines.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "codegen/llvm/host_cpu.h"
#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/verify_header.h"
#include "codegen/verify/verify_ladder.h"
#include "spec/meaning/interpreter.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Returns a kernel with the memory that the program needs. Its functions are the caller's to set.
Kernel KernelOf(const char* name, const Subject& subject) {
  const LoopProgram& program = subject.code;
  Kernel kernel;
  kernel.name = name;
  kernel.scratch_bytes = program.scratch_bytes;
  kernel.phases = program.phases;
  kernel.shared_bytes = program.shared_bytes;
  kernel.shares_work = program.SharesWork();
  if (!program.packing) return kernel;
  kernel.packed = subject.packed;
  kernel.packed_place =
      subject.program.named ? static_cast<size_t>(program.packing->place) : subject.packed.front();
  kernel.packed_bytes = program.packing->bytes;
  return kernel;
}

// Lets code that computes ranges of columns be called as any other: thread t of T gets the t-th of T equal
// ranges.
void TakeRanges(const Subject& subject, Kernel* kernel) {
  if (subject.code.block == 0) return;
  kernel->run = [columns = subject.columns, run = kernel->run](KernelCall call) {
    const size_t thread = call.thread, n_threads = call.n_threads;
    call.thread = columns * thread / n_threads;
    call.n_threads = columns * (thread + 1) / n_threads;
    run(call);
  };
}

// Returns a function that calls `run` with the tensors in the order of a function that takes these. A spec's
// problem has its operands in the order of their roles, a graph's problem as the function takes them.
std::function<void(const KernelCall&)> Reordered(const Subject& subject,
                                                 const std::vector<EntryTensor>& taken,
                                                 std::function<void(const KernelCall&)> run) {
  if (subject.program.named) return run;
  std::vector<size_t> order;
  for (const EntryTensor& tensor : taken) order.push_back(static_cast<size_t>(tensor.operand));
  if (std::ranges::is_sorted(order)) return run;
  return [run, order](KernelCall call) {
    std::vector<void*> tensors;
    for (const size_t operand : order) tensors.push_back(call.tensors[operand]);
    call.tensors = tensors;
    run(call);
  };
}

// Returns what is seen of the machine code, or nothing: an error here says nothing about the code.
std::optional<HotLoops> LoopsOf(const absl::StatusOr<std::string>& code) {
  if (!code.ok()) return std::nullopt;
  const absl::StatusOr<HotLoops> loops = FindHotLoops(*code);
  return loops.ok() ? std::optional<HotLoops>(*loops) : std::nullopt;
}

// The header's program may take its tensors in another order than the subject's code.
const LoopProgram& HeaderProgram(const Subject& subject) {
  return subject.header->functions.front().variants.front().programs.front();
}

// Starts the compiler and returns at once; FinishHeader waits for it.
absl::StatusOr<std::shared_ptr<HeaderBuild>> StartHeader(const Subject& subject,
                                                         const EngineOptions& options) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string compiler, FindCompiler(options.compiler));
  return HeaderBuild::Start(PrintHeaderFile(*subject.header), HeaderProgram(subject), subject.header->mode,
                            compiler);
}

absl::StatusOr<EngineKernel> FinishHeader(const Subject& subject, const EngineOptions& options,
                                          const absl::StatusOr<std::shared_ptr<HeaderBuild>>& build) {
  if (!build.ok()) return build.status();
  KIRSCH_ASSIGN_OR_RETURN(const GraphKernelFunction function, (*build)->Finish());
  EngineKernel engine{KernelOf(kHeaderRung, subject)};
  // The library stays loaded as long as the kernel lives.
  engine.kernel.code = *build;
  engine.kernel.run =
      Reordered(subject, HeaderProgram(subject).tensors, [run = function](const KernelCall& call) {
        run(call.tensors.data(), call.scratch, call.thread, call.n_threads, call.shared, call.phase);
      });
  if (subject.code.packing)
    engine.kernel.pack = [pack = (*build)->pack()](absl::Span<void* const> tensors) { pack(tensors.data()); };
  TakeRanges(subject, &engine.kernel);
  if (options.hot_loops) engine.loops = LoopsOf((*build)->MachineCode());
  return engine;
}

}  // namespace

Subject::Subject(const ProgramTree& tree, const Target& of, const std::string& name)
    : target(of), program(WriteProgram(tree, of)), code(Lower(program, of, name)) {
  if (const auto* const plan = std::get_if<Plan>(&tree)) {
    for (int i = 0; i < plan->graph.num_inputs(); ++i)
      if (plan->graph.IsConstant(i)) packed.push_back(static_cast<size_t>(i));
    return;
  }
  const Spec& spec = std::get<Impl>(tree).spec;
  if (code.packing) packed = {static_cast<size_t>(code.packing->constants.front().operand)};
  if (code.block > 0) columns = spec.size[static_cast<size_t>(BlockDim(spec))];
}

absl::StatusOr<EngineKernel> MakeJitKernel(const Subject& subject, const EngineOptions& options) {
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<JitKernel> made,
                          JitCompile(subject.code, subject.target, options.abi));
  const std::shared_ptr<const JitKernel> jit = std::move(made);
  EngineKernel engine{KernelOf(kJitRung, subject)};
  Kernel& kernel = engine.kernel;
  kernel.code = jit;
  // Code that takes sizes is reordered by CompiledEngine, which adds the sizes.
  kernel.run =
      !subject.code.sizes.empty() ? jit->Caller() : Reordered(subject, subject.code.tensors, jit->Caller());
  kernel.pack = jit->Packer();
  TakeRanges(subject, &kernel);
  // Objects for Windows are not taken apart.
  if (options.hot_loops && options.abi == Abi::kSystemV) engine.loops = LoopsOf(jit->object());
  return engine;
}

absl::StatusOr<Kernel> CompileForThisCpu(const Subject& subject) {
  KIRSCH_RETURN_IF_ERROR(CanRun(subject.code, subject.target));
  KIRSCH_ASSIGN_OR_RETURN(EngineKernel made, MakeJitKernel(subject, {}));
  return std::move(made.kernel);
}

absl::StatusOr<Kernel> CompileHeader(const Subject& subject, const std::string& compiler) {
  KIRSCH_RETURN_IF_ERROR(CanRun(subject.code, subject.target));
  const EngineOptions options{.compiler = compiler};
  absl::StatusOr<EngineKernel> made = FinishHeader(subject, options, StartHeader(subject, options));
  // An older compiler may not know the instructions.
  if (absl::IsInternal(made.status())) return absl::FailedPreconditionError(made.status().message());
  if (!made.ok()) return made.status();
  return std::move(made->kernel);
}

// All threads' work is done in the call of thread 0. A program for ranges of columns is interpreted as a
// whole, since ranges are the caller's business.
Engine InterpreterEngine(const Subject& subject) {
  return {kInterpreterRung, false, [&subject]() -> absl::StatusOr<EngineKernel> {
            EngineKernel engine;
            engine.kernel.name = kInterpreterRung;
            const auto wrong = std::make_shared<absl::Status>();
            engine.kernel.run = [&subject, wrong](const KernelCall& call) {
              if (call.thread != 0) return;
              // Memory that is not the caller's is the interpreter's own.
              std::vector<void*> callers(call.tensors.begin(), call.tensors.end());
              callers.resize(subject.program.buffers.size());
              const int threads = subject.code.block == 0 ? static_cast<int>(call.n_threads) : 1;
              *wrong = Interpret(subject.program, callers, threads, subject.sizes);
            };
            engine.kernel.complaint = [wrong] { return *wrong; };
            return engine;
          }};
}

Engine JitEngine(const Subject& subject, const EngineOptions& options) {
  return {kJitRung, true, [&subject, options] { return MakeJitKernel(subject, options); }};
}

Engine CompiledEngine(const Subject& subject, const absl::StatusOr<EngineKernel>& compiled) {
  return {kJitRung, true, [&subject, &compiled]() -> absl::StatusOr<EngineKernel> {
            if (!compiled.ok() || subject.code.sizes.empty()) return compiled;
            EngineKernel engine = *compiled;
            const auto with_size = [sizes = subject.sizes, run = engine.kernel.run](KernelCall call) {
              std::vector<void*> arguments;
              for (int64_t size : sizes) arguments.push_back(reinterpret_cast<void*>(size));
              arguments.insert(arguments.end(), call.tensors.begin(), call.tensors.end());
              call.tensors = arguments;
              run(call);
            };
            engine.kernel.run = Reordered(subject, subject.code.tensors, with_size);
            return engine;
          }};
}

Engine HeaderEngine(const Subject& subject, const EngineOptions& options, bool start) {
  absl::StatusOr<std::shared_ptr<HeaderBuild>> build = absl::NotFoundError("it was not compiled");
  if (start) build = StartHeader(subject, options);
  return {kHeaderRung, true, [&subject, options, build] { return FinishHeader(subject, options, build); }};
}

}  // namespace kirsch
