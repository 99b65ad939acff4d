#include "tools/graph_bench.h"

#include <memory>
#include <utility>
#include <vector>

#include "codegen/jit.h"
#include "codegen/lower_plan.h"
#include "memo/hash_memo.h"
#include "spec/host.h"
#include "tools/graph_kernel.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

class JitGraphKernel : public GraphKernel {
 public:
  JitGraphKernel(std::unique_ptr<JitKernel> code, const LoopProgram& program)
      : code_(std::move(code)),
        inputs_(program.tensors.size() - 1),
        scratch_bytes_(static_cast<size_t>(program.scratch_bytes)),
        shared_bytes_(static_cast<size_t>(program.shared_bytes)),
        phases_(static_cast<size_t>(program.phases)),
        shares_work_(program.SharesWork()) {}

  size_t scratch_bytes() const override { return scratch_bytes_; }
  size_t shared_bytes() const override { return shared_bytes_; }
  size_t phases() const override { return phases_; }

  bool shares_work() const override { return shares_work_; }

  void Run(const Call& call) const override {
    std::array<void*, kMostTensors> tensors;
    for (size_t i = 0; i < inputs_; ++i) tensors[i] = const_cast<void*>(call.inputs[i]);
    tensors[inputs_] = call.out;
    code_->CallGraph({tensors.data(), inputs_ + 1}, call.scratch, call.thread, call.n_threads, call.shared,
                     call.phase);
  }

 private:
  const std::unique_ptr<JitKernel> code_;
  const size_t inputs_, scratch_bytes_, shared_bytes_, phases_;
  const bool shares_work_;
};

absl::StatusOr<std::unique_ptr<GraphKernel>> MakeKernel(const SolveArguments& arguments, const Graph& graph,
                                                        const std::shared_ptr<Memo>& memo) {
  absl::StatusOr<Target> target = LoadTarget(arguments.target);
  if (!target.ok()) return target.status();
  if (const absl::Status supported = Supports(ReadHost(), *target); !supported.ok()) return supported;
  if (const absl::Status free = CheckNotPinned(arguments); !free.ok()) return free;
  SearchBudget budget(arguments.time_budget);
  absl::StatusOr<GraphSynthesis> synthesis = SolveGraph(arguments, graph, "spec", *target, memo, budget);
  if (!synthesis.ok()) return synthesis.status();
  PrintGraphSummary(*synthesis);
  const LoopProgram program = LowerPlan(synthesis->result.plan, *target, graph.name);
  absl::StatusOr<std::unique_ptr<JitKernel>> code = JitCompile(program, *target);
  if (!code.ok()) return code.status();
  return std::make_unique<JitGraphKernel>(*std::move(code), program);
}

}  // namespace

GraphKernelMaker GraphKernels(const SolveArguments& arguments) {
  return [&arguments, memo = std::make_shared<HashMemo>()](const Graph& graph, int) {
    return MakeKernel(arguments, graph, memo);
  };
}

}  // namespace kirsch
