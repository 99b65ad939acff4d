// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "bench/contenders/cblas_library.h"
#include "bench/contenders/contenders.h"
#include "bench/machine/memory.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// True if there is something that cblas_sgemm could do. Without it this peer would be the plain loops once
// more.
bool HasProductOfFloats(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&graph](const GraphNode& node) {
    return Info(node.op).kind == OperationKind::kContraction && !IsTransposedConvolution(node.op) &&
           graph.at(node.inputs[0]).type.dtype == Dtype::kF32 &&
           graph.at(node.inputs[1]).type.dtype == Dtype::kF32;
  });
}

// True if the graph has weights in blocks. They would have to be decoded first, in a time that is nobody's.
bool HasBlocks(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const GraphNode& node) { return IsOfBlocks(node.type.dtype); });
}

// Calls the compiled function of the loops. With libraries it passes their sgemm.
class LoopsContender : public Contender {
 public:
  // Without libraries it has loops only.
  LoopsContender(std::vector<std::string> libraries, const std::vector<CompiledLoops>& loops)
      : libraries_(std::move(libraries)), loops_(loops) {}

  absl::StatusOr<ContenderInfo> Load() override {
    if (libraries_.empty()) return ContenderInfo{"loops", "", {loops_.front().flags()}, {}};
    KIRSCH_ASSIGN_OR_RETURN(library_, OpenCblas(libraries_));
    ContenderInfo info = library_.info;
    info.methods = {"cblas_sgemm"};
    return info;
  }

  absl::Status Prepare(const Workload& workload, size_t item, size_t) override {
    if (library_.f32.gemm != nullptr && !HasProductOfFloats(workload.graph->graph))
      return absl::UnimplementedError("nothing for BLAS");
    if (HasBlocks(workload.graph->graph)) return absl::UnimplementedError("weights of blocks");
    // Here the worker's process loads OpenMP, if the loops are parallel.
    KIRSCH_ASSIGN_OR_RETURN(LoopsFn* const run, loops_[item].Load());
    graph_ = workload.graph.get();
    run_ = run;
    // Frees the scratch memory of the last item before it takes that of the next.
    scratch_.reset();
    scratch_ = AllocateAligned(loops_[item].scratch_bytes());
    return scratch_ == nullptr ? absl::ResourceExhaustedError("no memory for scratch") : absl::OkStatus();
  }

  void Run() override {
    run_(graph_->inputs.data(), graph_->results.data(), static_cast<char*>(scratch_.get()),
         reinterpret_cast<void*>(library_.f32.gemm));
  }

 private:
  std::vector<std::string> libraries_;
  const std::vector<CompiledLoops>& loops_;
  CblasLibrary library_;
  const KirschGraph* graph_ = nullptr;
  LoopsFn* run_ = nullptr;
  AlignedMemory scratch_;
};

}  // namespace

std::unique_ptr<Contender> MakeLoopsContender(const std::vector<CompiledLoops>& loops) {
  return std::make_unique<LoopsContender>(std::vector<std::string>(), loops);
}

std::unique_ptr<Contender> MakeCblasLoopsContender(std::vector<std::string> libraries,
                                                   const std::vector<CompiledLoops>& loops) {
  return std::make_unique<LoopsContender>(std::move(libraries), loops);
}

}  // namespace kirsch
