#include "bench/graph_kernel.h"

#include "bench/memory.h"
#include "bench/team.h"

namespace kirsch {
namespace {

class OurGraphContender : public GraphContender {
 public:
  OurGraphContender(const std::vector<std::unique_ptr<GraphKernel>>& kernels, int threads, const char* name)
      : kernels_(kernels), threads_(threads), name_(name) {}

  absl::StatusOr<ContenderInfo> Load() override {
    if (absl::Status status = team_.Load(threads_); !status.ok()) return status;
    return ContenderInfo{name_, "", {"kernel", "kernel+packed"}, {}};
  }

  absl::Status Prepare(const GraphProblem& problem, size_t item, size_t method) override {
    problem_ = &problem;
    kernel_ = kernels_[item].get();
    if (kernel_ == nullptr) return absl::UnimplementedError("no kernel of ours");
    if ((kernel_->packed_bytes() > 0) != (method == kPacked))
      return absl::UnimplementedError("the other method");
    scratch_.clear();
    for (int i = 0; i <= threads_; ++i) {
      scratch_.push_back(AllocateAligned(i < threads_ ? kernel_->scratch_bytes() : kernel_->shared_bytes()));
      if (scratch_.back() == nullptr) return absl::ResourceExhaustedError("no memory for scratch");
    }
    if (method != kPacked) return absl::OkStatus();
    packed_ = AllocateAligned(kernel_->packed_bytes());
    if (packed_ == nullptr) return absl::ResourceExhaustedError("no memory for packed constants");
    kernel_->Pack(problem.inputs.data(), packed_.get());
    return absl::OkStatus();
  }

  absl::Span<const char> Own() const override {
    return {static_cast<const char*>(packed_.get()), kernel_->packed_bytes()};
  }

  void Run() override {
    if (!kernel_->shares_work()) return RunShare(0, 1, 0);
    const size_t threads = static_cast<size_t>(threads_);
    team_.RunPhases(kernel_->phases(),
                    [this, threads](size_t thread, size_t phase) { RunShare(thread, threads, phase); });
  }

 private:
  static constexpr size_t kPacked = 1;  // of the methods

  void RunShare(size_t thread, size_t n_threads, size_t phase) const {
    kernel_->Run({problem_->inputs.data(), packed_.get(), problem_->out, scratch_[thread].get(),
                  scratch_.back().get(), thread, n_threads, phase});
  }

  const std::vector<std::unique_ptr<GraphKernel>>& kernels_;
  int threads_;
  const char* name_;
  Team team_;
  const GraphProblem* problem_ = nullptr;
  const GraphKernel* kernel_ = nullptr;
  std::vector<AlignedMemory> scratch_;  // of each thread, then what they share
  AlignedMemory packed_;
};

}  // namespace

std::unique_ptr<GraphContender> MakeOurGraphContender(
    const std::vector<std::unique_ptr<GraphKernel>>& kernels, int threads, const char* name) {
  return std::make_unique<OurGraphContender>(kernels, threads, name);
}

}  // namespace kirsch
