#include "tools/graph_bench.h"

#include <memory>
#include <utility>
#include <vector>

#include "codegen/host_cpu.h"
#include "codegen/jit.h"
#include "codegen/lower.h"
#include "memo/hash_memo.h"
#include "tools/graph_kernel.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

class JitGraphKernel : public GraphKernel {
 public:
  JitGraphKernel(std::unique_ptr<JitKernel> code, const Graph& graph, const LoopProgram& program)
      : code_(std::move(code)),
        packed_bytes_(program.packing ? static_cast<size_t>(program.packing->bytes) : 0),
        scratch_bytes_(static_cast<size_t>(program.scratch_bytes)),
        shared_bytes_(static_cast<size_t>(program.shared_bytes)),
        phases_(static_cast<size_t>(program.phases)),
        shares_work_(program.SharesWork()) {
    for (int i = 0; i < graph.num_inputs(); ++i)
      (graph.IsConstant(i) ? constants_ : inputs_).push_back(static_cast<size_t>(i));
  }

  size_t packed_bytes() const override { return packed_bytes_; }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  size_t shared_bytes() const override { return shared_bytes_; }
  size_t phases() const override { return phases_; }

  bool shares_work() const override { return shares_work_; }

  void Pack(const void* const* inputs, void* packed) const override {
    std::vector<void*> tensors;
    for (size_t input : constants_) tensors.push_back(const_cast<void*>(inputs[input]));
    tensors.push_back(packed);
    code_->PackConstants(tensors);
  }

  void Run(const Call& call) const override {
    std::array<void*, kMostTensors> tensors;
    size_t count = 0;
    for (size_t input : inputs_) tensors[count++] = const_cast<void*>(call.inputs[input]);
    if (packed_bytes_ > 0) tensors[count++] = const_cast<void*>(call.packed);
    tensors[count++] = call.out;
    code_->CallGraph({tensors.data(), count}, call.scratch, call.thread, call.n_threads, call.shared,
                     call.phase);
  }

 private:
  const std::unique_ptr<JitKernel> code_;
  std::vector<size_t> inputs_, constants_;  // parameters, by number
  const size_t packed_bytes_, scratch_bytes_, shared_bytes_, phases_;
  const bool shares_work_;
};

absl::StatusOr<std::unique_ptr<GraphKernel>> MakeKernel(const SolveArguments& arguments, const Graph& graph,
                                                        const std::shared_ptr<Memo>& memo) {
  absl::StatusOr<Target> target = LoadTarget(arguments.target);
  if (!target.ok()) return target.status();
  SearchBudget budget(arguments.time_budget);
  absl::StatusOr<GraphSynthesis> synthesis = SolveGraph(arguments, graph, "spec", *target, memo, budget);
  if (!synthesis.ok()) return synthesis.status();
  PrintSummary(*synthesis);
  const LoopProgram program = Lower(synthesis->result.plan, *target, graph.name);
  if (absl::Status runs = CanRun(program, *target); !runs.ok()) return runs;
  absl::StatusOr<std::unique_ptr<JitKernel>> code = JitCompile(program, *target);
  if (!code.ok()) return code.status();
  return std::make_unique<JitGraphKernel>(*std::move(code), graph, program);
}

}  // namespace

GraphKernelMaker GraphKernels(const SolveArguments& arguments) {
  return [&arguments, memo = std::make_shared<HashMemo>()](const Graph& graph, int) {
    return MakeKernel(arguments, graph, memo);
  };
}

}  // namespace kirsch
