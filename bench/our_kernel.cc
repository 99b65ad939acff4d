#include "bench/our_kernel.h"

#include <cstdlib>
#include <utility>

#include "bench/team.h"

namespace kirsch {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<void, Free>;

class OurContender : public Contender {
 public:
  OurContender(std::vector<OurKernel> kernels, int threads)
      : kernels_(std::move(kernels)), threads_(threads) {}

  absl::StatusOr<ContenderInfo> Load() override {
    if (absl::Status status = team_.Load(threads_); !status.ok()) return status;
    return ContenderInfo{"kirsch", "", {"kernel"}, {}};
  }

  absl::Status Prepare(const Problem& problem, size_t item, size_t) override {
    problem_ = &problem;
    kernel_ = kernels_[item];
    if (kernel_.kernel == nullptr) return absl::UnimplementedError("no kernel of ours that runs here");
    scratch_.clear();
    // Whole lines and never none: the kernel may look at the pointer.
    const size_t bytes = kernel_.scratch_bytes / 64 * 64 + 64;
    for (int thread = 0; thread < threads_; ++thread) {
      scratch_.emplace_back(std::aligned_alloc(64, bytes));
      if (scratch_.back() == nullptr) return absl::ResourceExhaustedError("no memory for scratch");
    }
    return absl::OkStatus();
  }

  void Run() override {
    const size_t threads = static_cast<size_t>(threads_);
    team_.Run([this, threads](size_t thread) {
      kernel_.kernel(problem_->lhs, problem_->rhs, problem_->out, scratch_[thread].get(), thread, threads);
    });
  }

 private:
  std::vector<OurKernel> kernels_;
  int threads_;
  Team team_;
  const Problem* problem_ = nullptr;
  OurKernel kernel_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<Contender> MakeOurContender(std::vector<OurKernel> kernels, int threads) {
  return std::make_unique<OurContender>(std::move(kernels), threads);
}

}  // namespace kirsch
