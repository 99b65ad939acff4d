#include "codegen/verify_graph.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/guarded_buffer.h"
#include "codegen/host_cpu.h"
#include "codegen/jit.h"
#include "codegen/lower.h"
#include "codegen/verify_fault.h"
#include "codegen/verify_header.h"
#include "spec/element.h"
#include "spec/graph_reference.h"

namespace kirsch {
namespace {

constexpr int64_t kSampledRows = 24;
constexpr int kScratchFill = 0xff;  // NaN

// A kernel, called as one of `n_threads` threads for one of its phases.
using RunGraph = std::function<void(absl::Span<void* const> tensors, void* scratch, size_t thread,
                                    size_t n_threads, void* shared, size_t phase)>;
// Packs its constants: these, then the packed buffer.
using PackGraph = std::function<void(absl::Span<void* const> tensors)>;

struct GraphCode {
  RunGraph run;
  PackGraph pack;
};

struct GraphTrial {
  bool wide = false;  // magnitudes up to 8, else up to 1; integers in all their range
  uint64_t seed = 1;
  Placement placement = Placement::kAtEnd;
  size_t shift = 0;  // elements
  size_t n_threads = 1;
};

void Fill(Dtype dtype, int64_t elements, const GraphTrial& trial, uint64_t seed, void* data) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  for (int64_t i = 0; i < elements; ++i) {
    double value = real(random) * (trial.wide ? 8 : 1);
    if (!IsFloating(dtype))
      value = std::nearbyint(real(random) * static_cast<double>(std::min<int64_t>(MostOf(dtype), 100)));
    StoreElement(dtype, !IsFloating(dtype) && LeastOf(dtype) == 0 ? std::abs(value) : value, data, i);
  }
}

// One graph's inputs, result and reference.
class GraphProblem {
 public:
  GraphProblem(const Plan& plan, const GraphTrial& trial) : plan_(plan), graph_(plan.graph), trial_(trial) {}

  absl::Status Create() {
    std::vector<const void*> inputs;
    for (int i = 0; i < graph_.num_inputs(); ++i) {
      if (absl::Status status = AddBuffer(graph_.at(i).type); !status.ok()) return status;
      Fill(graph_.at(i).type.dtype, graph_.at(i).type.elements(), trial_,
           trial_.seed * 100 + static_cast<uint64_t>(i), buffers_.back().data());
      buffers_.back().SetReadOnly(true);
      inputs.push_back(buffers_.back().data());
    }
    reference_ = std::make_unique<GraphReference>(graph_, std::move(inputs), WinogradConvolutions(plan_));
    return AddBuffer(result_type());
  }

  const TensorType& result_type() const { return graph_.at(graph_.result).type; }

  // Phase by phase, the last thread first, each with new scratch memory. OK, or how the kernel broke the
  // rules.
  absl::Status Run(const GraphCode& code, const LoopProgram& program) {
    if (program.packing)
      if (absl::Status status = Pack(code.pack, program.packing->bytes); !status.ok()) return status;
    memset(buffers_.back().data(), kScratchFill, buffers_.back().bytes());
    const absl::StatusOr<GuardedBuffer> shared = NewMemory(program.shared_bytes);
    if (!shared.ok()) return shared.status();
    for (int phase = 0; phase < program.phases; ++phase)
      for (size_t thread = trial_.n_threads; thread-- > 0;) {
        const absl::StatusOr<GuardedBuffer> scratch = NewMemory(program.scratch_bytes);
        if (!scratch.ok()) return scratch.status();
        const Call call{thread, static_cast<size_t>(phase), *scratch, *shared};
        if (absl::Status status = Run(code.run, call); !status.ok()) return status;
      }
    return buffers_.back().SlackIntact() ? absl::OkStatus()
                                         : absl::OutOfRangeError("wrote beside the result");
  }

  // Compares rows; `max_error` is relative to what is allowed.
  absl::Status Check(double* max_error) {
    const int64_t rows = GraphReference::Rows(result_type()),
                  length = GraphReference::RowLength(result_type());
    const double work = Flops(graph_);
    std::set<int64_t> compared = {0, rows - 1};
    std::mt19937_64 random(trial_.seed);
    const bool all = work <= kMostFlopsCompared || rows <= kSampledRows;
    for (int64_t i = 0; i < (all ? rows : kSampledRows); ++i)
      compared.insert(all ? i : static_cast<int64_t>(random() % static_cast<uint64_t>(rows)));
    for (int64_t row : compared)
      if (absl::Status status = CheckRow(row, length, max_error); !status.ok()) return status;
    return CheckWritten(rows * length);
  }

 private:
  static constexpr double kMostFlopsCompared = 2e7;

  struct Call {
    size_t thread, phase;
    const GuardedBuffer &scratch, &shared;
  };

  // The kernel finds what was packed, and nobody writes there any more.
  absl::Status Pack(const PackGraph& pack, int64_t bytes) {
    absl::StatusOr<GuardedBuffer> packed = NewMemory(bytes);
    if (!packed.ok()) return packed.status();
    packed_.emplace(*std::move(packed));
    std::vector<void*> tensors = Tensors(true);
    tensors.push_back(packed_->data());
    const std::optional<Fault> fault = CatchFault([&] { pack(tensors); });
    if (fault.has_value()) return FaultError(*fault, {});
    if (!packed_->SlackIntact()) return absl::OutOfRangeError("wrote beside the packed buffer");
    packed_->SetReadOnly(true);
    return absl::OkStatus();
  }

  // The parameters, as far as they are constants or not.
  std::vector<void*> Tensors(bool constants) const {
    std::vector<void*> tensors;
    for (int i = 0; i < graph_.num_inputs(); ++i)
      if (graph_.IsConstant(i) == constants) tensors.push_back(buffers_[static_cast<size_t>(i)].data());
    return tensors;
  }

  absl::Status Run(const RunGraph& run, const Call& call) const {
    std::vector<void*> tensors = Tensors(false);
    if (packed_) tensors.push_back(packed_->data());
    tensors.push_back(buffers_.back().data());
    const std::optional<Fault> fault = CatchFault([&] {
      run(tensors, call.scratch.data(), call.thread, trial_.n_threads, call.shared.data(), call.phase);
    });
    if (fault.has_value()) return FaultError(*fault, {{"scratch", &call.scratch}, {"shared", &call.shared}});
    if (!call.scratch.SlackIntact()) return absl::OutOfRangeError("wrote beside the scratch memory");
    if (!call.shared.SlackIntact()) return absl::OutOfRangeError("wrote beside the shared memory");
    return absl::OkStatus();
  }

  // Whole lines, filled.
  static absl::StatusOr<GuardedBuffer> NewMemory(int64_t bytes) {
    absl::StatusOr<GuardedBuffer> memory =
        GuardedBuffer::Create(static_cast<size_t>((bytes + 63) / 64 * 64), Placement::kAtEnd);
    if (memory.ok()) memset(memory->data(), kScratchFill, memory->bytes());
    return memory;
  }

  absl::Status AddBuffer(const TensorType& type) {
    const auto element = static_cast<size_t>(Bytes(type.dtype));
    absl::StatusOr<GuardedBuffer> buffer =
        GuardedBuffer::Create(static_cast<size_t>(type.bytes()), trial_.placement, trial_.shift * element);
    if (!buffer.ok()) return buffer.status();
    buffers_.push_back(*std::move(buffer));
    return absl::OkStatus();
  }

  // `own`: the memory of the call.
  absl::Status FaultError(const Fault& fault,
                          const std::vector<std::pair<std::string, const GuardedBuffer*>>& own) const {
    const char* const did = fault.write ? "wrote to " : "read from ";
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (buffers_[i].Owns(fault.address))
        return absl::OutOfRangeError(absl::StrCat(
            did, static_cast<const char*>(fault.address) - static_cast<const char*>(buffers_[i].data()),
            " bytes from ", i + 1 < buffers_.size() ? graph_.at(static_cast<int>(i)).text : "the result",
            "'s start, which has ", buffers_[i].bytes()));
    for (const auto& [name, memory] : own)
      if (memory->Owns(fault.address))
        return absl::OutOfRangeError(absl::StrCat(did, "beyond the ", name, " memory"));
    if (packed_ && packed_->Owns(fault.address))
      return absl::OutOfRangeError(absl::StrCat(did, "what is packed, or beyond it"));
    return absl::OutOfRangeError(
        absl::StrCat("died of signal ", fault.signal, " (", strsignal(fault.signal), ")"));
  }

  absl::Status CheckRow(int64_t row, int64_t length, double* max_error) {
    const std::vector<Uncertain> expected = reference_->ResultRow(row);
    for (int64_t i = 0; i < length; ++i) {
      const Uncertain& want = expected[static_cast<size_t>(i)];
      const double got = LoadElement(result_type().dtype, buffers_.back().data(), row * length + i);
      if (std::isnan(want.value) || !std::isfinite(want.error)) continue;  // anything goes
      const double off = got == want.value ? 0 : std::abs(got - want.value);
      if (!(off <= want.error))
        return absl::InternalError(absl::StrCat("element ", i, " of row ", row, ": expected ", want.value,
                                                " within ", want.error, ", got ", got));
      if (off > 0) *max_error = std::max(*max_error, off / want.error);
    }
    return absl::OkStatus();
  }

  // Scratch and result begin as NaN, and no input is one: neither is any result.
  absl::Status CheckWritten(int64_t elements) const {
    if (!IsFloating(result_type().dtype)) return absl::OkStatus();
    for (int64_t i = 0; i < elements; ++i)
      if (std::isnan(LoadElement(result_type().dtype, buffers_.back().data(), i)) && !MayBeNan())
        return absl::InternalError(absl::StrCat("element ", i, " was not written, or is no number"));
    return absl::OkStatus();
  }

  bool MayBeNan() const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [](const GraphNode& node) {
      return node.op == GraphOp::kSqrt || node.op == GraphOp::kDiv || node.op == GraphOp::kExp;
    });
  }

  const Plan& plan_;
  const Graph& graph_;
  const GraphTrial trial_;
  std::vector<GuardedBuffer> buffers_;  // the parameters, the result
  std::optional<GuardedBuffer> packed_;
  std::unique_ptr<GraphReference> reference_;
};

std::vector<GraphTrial> TrialsFor(const LoopProgram& program, uint64_t seed) {
  std::vector<GraphTrial> trials = {{false, seed, Placement::kAtEnd, 0, 1},
                                    {true, seed + 1, Placement::kAtStart, 1, 1}};
  if (program.SharesWork())
    for (size_t threads : {size_t{2}, static_cast<size_t>(program.tasks) + 1})
      trials.push_back({false, seed + threads, Placement::kAtEnd, 3, std::min<size_t>(threads, 64)});
  return trials;
}

class PlanVerifier {
 public:
  PlanVerifier(const Plan& plan, const Target& target, const HeaderFile& header, const VerifyOptions& options)
      : plan_(plan),
        target_(target),
        header_(header),
        options_(options),
        program_(Lower(plan, target, header.functions.front().name)) {
    cannot_run_ = WhyNotRun(program_.features, options.host_features);
  }

  VerifyReport Run() {
    report_.error_bound = 1;
    absl::StatusOr<std::unique_ptr<HeaderBuild>> build = StartHeader();
    if (options_.jit) Jitted();
    if (options_.header) Compiled(std::move(build));
    Judge(&report_);
    return std::move(report_);
  }

 private:
  void Report(const std::string& name, RungOutcome outcome, std::string text) {
    report_.rungs.push_back({name, outcome, std::move(text)});
  }

  void Jitted() {
    if (!cannot_run_.empty()) return Report("jit", RungOutcome::kSkipped, cannot_run_);
    const absl::StatusOr<std::unique_ptr<JitKernel>> jit = JitCompile(program_, target_);
    if (!jit.ok()) return Report("jit", RungOutcome::kFailed, std::string(jit.status().message()));
    Climb("jit", {[&](auto... arguments) { (*jit)->CallGraph(arguments...); },
                  [&](auto tensors) { (*jit)->PackConstants(tensors); }});
  }

  absl::StatusOr<std::unique_ptr<HeaderBuild>> StartHeader() const {
    if (!options_.header || !cannot_run_.empty()) return std::unique_ptr<HeaderBuild>();
    const absl::StatusOr<std::string> compiler = FindCompiler(options_.compiler);
    if (!compiler.ok()) return compiler.status();
    return HeaderBuild::Start(PrintHeaderFile(header_), program_, header_.mode, *compiler);
  }

  void Compiled(absl::StatusOr<std::unique_ptr<HeaderBuild>> build) {
    if (!cannot_run_.empty()) return Report("header", RungOutcome::kSkipped, cannot_run_);
    if (absl::IsNotFound(build.status()))
      return Report("header", RungOutcome::kSkipped, std::string(build.status().message()));
    if (!build.ok()) return Report("header", RungOutcome::kFailed, std::string(build.status().message()));
    const absl::StatusOr<GraphKernelFunction> function = (*build)->FinishGraph();
    if (!function.ok())
      return Report("header", RungOutcome::kFailed, std::string(function.status().message()));
    Climb("header",
          {[&](absl::Span<void* const> tensors, auto... call) { (*function)(tensors.data(), call...); },
           [&](absl::Span<void* const> tensors) { (*build)->pack_constants()(tensors.data()); }});
  }

  void Climb(const std::string& name, const GraphCode& code) {
    const std::vector<GraphTrial> trials = TrialsFor(program_, options_.seed);
    for (const GraphTrial& trial : trials) {
      GraphProblem problem(plan_, trial);
      absl::Status status = problem.Create();
      if (status.ok()) status = problem.Run(code, program_);
      if (status.ok()) status = problem.Check(&report_.max_error);
      if (!status.ok()) return Report(name, RungOutcome::kFailed, std::string(status.message()));
    }
    Report(name, RungOutcome::kPassed, absl::StrCat(trials.size(), " runs"));
  }

  const Plan& plan_;
  const Target& target_;
  const HeaderFile& header_;
  const VerifyOptions& options_;
  const LoopProgram program_;
  std::string cannot_run_;
  VerifyReport report_;
};

}  // namespace

VerifyReport VerifyPlan(const Plan& plan, const Target& target, const HeaderFile& header,
                        const VerifyOptions& options) {
  return PlanVerifier(plan, target, header, options).Run();
}

}  // namespace kirsch
