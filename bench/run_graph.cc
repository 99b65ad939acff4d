#include "bench/run_graph.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/arena.h"
#include "bench/element.h"
#include "bench/expected_result.h"

namespace kirsch {
namespace {

class GraphBenchmark {
 public:
  explicit GraphBenchmark(const GraphBenchRequest& request) : request_(request) {}

  absl::StatusOr<BenchReport> Run() {
    for (const GraphItem& item : request_.items)
      problems_.push_back({&item.graph, {}, nullptr, request_.threads});
    absl::Status status = FindPeers();
    if (status.ok()) status = Compile();
    if (!status.ok()) return status;
    size_t bytes = 0;
    for (const GraphProblem& problem : problems_) bytes = std::max(bytes, PlacedBytes(problem));
    const SharedArena arena(bytes);
    if (!arena.ok()) return absl::ResourceExhaustedError("bench: no memory for the operands");
    for (size_t item = 0; item < problems_.size(); ++item) {
      Place(arena.memory(), problems_[item]);
      plan_.measurements.push_back({request_.items[item].text, TypesOf(request_.items[item].graph),
                                    [this, item] { return Fill(item); }});
    }
    MakeOurs();
    absl::StatusOr<BenchReport> report = RunPlan(plan_, request_);
    if (!report.ok()) return report;
    report->failed.insert(report->failed.end(), failed_.begin(), failed_.end());
    if (!request_.maker)
      report->missing.insert(report->missing.begin(), {kOurName, "no kernels of graphs yet"});
    return report;
  }

 private:
  absl::Status FindPeers() {
    for (const std::string& name : request_.peers) {
      if (name == kPartsPeer) {
        plan_.peers.push_back({name, {[this] { return OurRunner(parts_, kPartsPeer); }}, {}});
        continue;
      }
      absl::StatusOr<Peer> peer = FindGraphPeer(name, field_);
      if (!peer.ok()) return peer.status();
      plan_.peers.push_back(*std::move(peer));
    }
    return absl::OkStatus();
  }

  // Each set of loops once, before the workers that load them.
  absl::Status Compile() {
    const bool cblas = std::any_of(request_.peers.begin(), request_.peers.end(), IsCblasPeer);
    const bool loops =
        std::find(request_.peers.begin(), request_.peers.end(), kLoopsPeer) != request_.peers.end();
    for (const GraphItem& item : request_.items) {
      if (request_.progress) request_.progress(absl::StrCat("compiling loops of ", item.text));
      const auto add = [&](LoopsKind kind, bool parallel, std::vector<CompiledLoops>& to) {
        absl::StatusOr<CompiledLoops> compiled = CompiledLoops::Compile(item.graph, kind, parallel);
        if (compiled.ok()) to.push_back(*std::move(compiled));
        return compiled.status();
      };
      absl::Status status = add(LoopsKind::kReference, false, references_);
      if (status.ok() && loops) status = add(LoopsKind::kLoops, request_.threads > 1, field_.plain);
      if (status.ok() && cblas) status = add(LoopsKind::kCblas, request_.threads > 1, field_.cblas);
      if (!status.ok())
        return absl::Status(status.code(),
                            absl::StrCat("bench: ", item.text, ": ", std::string(status.message())));
    }
    return absl::OkStatus();
  }

  using Kernels = std::vector<std::unique_ptr<GraphKernel>>;

  void MakeOurs() {
    if (std::find(request_.peers.begin(), request_.peers.end(), kPartsPeer) != request_.peers.end())
      parts_ = MakeKernels(request_.parts, kPartsPeer);
    if (!request_.maker) return;
    kernels_ = MakeKernels(request_.maker, kOurName);
    plan_.ours = [this] { return OurRunner(kernels_, kOurName); };
  }

  Kernels MakeKernels(const GraphKernelMaker& maker, const char* name) {
    Kernels kernels;
    for (const GraphItem& item : request_.items) {
      absl::StatusOr<std::unique_ptr<GraphKernel>> kernel = maker(item.graph, request_.threads);
      if (!kernel.ok()) failed_.push_back({item.text, name, std::string(kernel.status().message())});
      kernels.push_back(kernel.ok() ? *std::move(kernel) : nullptr);
    }
    return kernels;
  }

  std::unique_ptr<Runner> OurRunner(const Kernels& kernels, const char* name) const {
    return MakeRunner(MakeOurGraphContender(kernels, request_.threads, name), problems_);
  }

  // Those of the first contraction; f32 without one.
  static Problem TypesOf(const Graph& graph) {
    Problem types = {};
    for (const GraphNode& node : graph.nodes) {
      if (Info(node.op).kind != OperationKind::kContraction) continue;
      types.lhs_type = KirschTypeOf(graph.at(node.inputs[0]).type.dtype);
      types.rhs_type = KirschTypeOf(graph.at(node.inputs[1]).type.dtype);
      types.out_type = KirschTypeOf(node.type.dtype);
      break;
    }
    return types;
  }

  FilledSpec Fill(size_t item) {
    const GraphProblem& problem = problems_[item];
    FillInputs(problem);
    FilledSpec spec;
    spec.unit = IsInteger(plan_.measurements[item].types.out_type) ? "GOP/s" : "GFLOP/s";
    spec.operations = Flops(*problem.graph);
    spec.compulsory_bytes = CompulsoryBytes(problem);
    spec.fill_output = [&problem] { FillOutput(problem); };
    absl::StatusOr<ExpectedResult> reference = ComputeReference(problem, references_[item]);
    if (reference.ok()) reference->tolerance *= request_.tolerance;
    spec.check_output = [&problem, reference] {
      return reference.ok() ? CheckOutput(*reference, problem) : OutputCheck{0, false};
    };
    return spec;
  }

  const GraphBenchRequest& request_;
  std::vector<GraphProblem> problems_;
  GraphField field_{problems_, {}, {}};
  std::vector<CompiledLoops> references_;
  Kernels kernels_, parts_;
  std::vector<BenchFailure> failed_;
  BenchPlan plan_;
};

}  // namespace

absl::StatusOr<BenchReport> RunGraphBench(const GraphBenchRequest& request) {
  if (request.items.empty()) return absl::InvalidArgumentError("bench: nothing to measure, expected a spec");
  return GraphBenchmark(request).Run();
}

}  // namespace kirsch
