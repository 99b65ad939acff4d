#include "bench/our_kernel.h"

#include <array>
#include <utility>

#include "bench/memory.h"
#include "bench/team.h"

namespace kirsch {
namespace {

class OurContender : public Contender {
 public:
  OurContender(std::vector<OurKernel> kernels, int threads)
      : kernels_(std::move(kernels)), threads_(threads) {}

  absl::StatusOr<ContenderInfo> Load() override {
    if (absl::Status status = team_.Load(threads_); !status.ok()) return status;
    return ContenderInfo{"kirsch", "", {"kernel", "kernel+packed"}, {}};
  }

  absl::Status Prepare(const Problem& problem, size_t item, size_t method) override {
    problem_ = &problem;
    kernel_ = kernels_[item];
    if (kernel_.kernel == nullptr) return absl::UnimplementedError("no kernel of ours that runs here");
    if ((kernel_.pack != nullptr) != (method == kPacked)) return absl::UnimplementedError("the other method");
    scratch_.clear();
    for (int thread = 0; thread < threads_; ++thread) {
      scratch_.push_back(AllocateAligned(kernel_.scratch_bytes));
      if (scratch_.back() == nullptr) return absl::ResourceExhaustedError("no memory for scratch");
    }
    inputs_ = {problem.lhs, problem.rhs};
    return kernel_.pack == nullptr ? absl::OkStatus() : Pack();
  }

  absl::Span<const char> Own() const override {
    if (kernel_.pack == nullptr) return {};
    return {static_cast<const char*>(packed_.get()), kernel_.packed_bytes};
  }

  void Run() override {
    const size_t threads = static_cast<size_t>(threads_);
    team_.Run([this, threads](size_t thread) {
      kernel_.kernel(inputs_[0], inputs_[1], problem_->out, scratch_[thread].get(), thread, threads);
    });
  }

 private:
  static constexpr size_t kPacked = 1;  // of the methods

  absl::Status Pack() {
    packed_ = AllocateAligned(kernel_.packed_bytes);
    if (packed_ == nullptr) return absl::ResourceExhaustedError("no memory for the packed operand");
    const void*& operand = inputs_[static_cast<size_t>(kernel_.packed_operand)];
    kernel_.pack(operand, packed_.get());
    operand = packed_.get();
    return absl::OkStatus();
  }

  std::vector<OurKernel> kernels_;
  int threads_;
  Team team_;
  const Problem* problem_ = nullptr;
  OurKernel kernel_;
  std::vector<AlignedMemory> scratch_;
  AlignedMemory packed_;
  std::array<const void*, 2> inputs_ = {};
};

}  // namespace

std::unique_ptr<Contender> MakeOurContender(std::vector<OurKernel> kernels, int threads) {
  return std::make_unique<OurContender>(std::move(kernels), threads);
}

}  // namespace kirsch
