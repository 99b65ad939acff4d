// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/our_kernel.h"

#include <algorithm>
#include <utility>

#include "bench/machine/team.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Our kernels. A call goes through the same steps as that of a user: tensors, scratch memory, thread and
// phase.
class OurContender : public Contender {
 public:
  OurContender(const std::vector<Kernel>& kernels, int threads, const std::string& name,
               std::shared_ptr<OurScratch> scratch)
      : kernels_(kernels), threads_(threads), name_(name), scratch_(std::move(scratch)) {}

  absl::StatusOr<ContenderInfo> Load() override {
    KIRSCH_RETURN_IF_ERROR(team_.Load(threads_));
    return ContenderInfo{name_, "", {"kernel", "kernel+packed"}, {}};
  }

  absl::Status Prepare(const Workload& workload, size_t item, size_t method) override {
    kernel_ = &kernels_[item];
    if (!kernel_->run) return absl::UnimplementedError("no kernel of ours that runs here");
    // A kernel has one of the two methods, by whether it takes a packed operand.
    if ((kernel_->packed_bytes > 0) != (method == kOursPacked))
      return absl::UnimplementedError("the other method");
    scratch_->clear();
    // One piece for each thread, and a last one that all threads share.
    for (int i = 0; i <= threads_; ++i) {
      const int64_t bytes = i < threads_ ? kernel_->scratch_bytes : kernel_->shared_bytes;
      scratch_->push_back(AllocateAligned(static_cast<size_t>(bytes)));
      if (scratch_->back() == nullptr) return absl::ResourceExhaustedError("no memory for scratch");
    }
    tensors_.clear();
    for (const Workload::Operand& operand : workload.operands) tensors_.push_back(operand.values);
    return method == kOursPacked ? Pack() : absl::OkStatus();
  }

  // The packed operand; nothing for a kernel that packs none.
  std::vector<absl::Span<const char>> Own() const override {
    return {{static_cast<const char*>(packed_.get()), static_cast<size_t>(kernel_->packed_bytes)}};
  }

  // Runs the kernel. With one thread it does without the team, so that nothing is between the timer and the
  // kernel.
  void Run() override {
    const auto phases = static_cast<size_t>(kernel_->phases);
    // A kernel that shares no work runs on the calling thread alone.
    if (threads_ == 1 || !kernel_->shares_work) {
      for (size_t phase = 0; phase < phases; ++phase) RunShare(0, 1, phase);
      return;
    }
    team_.RunPhases(phases, [this](size_t thread, size_t phase) {
      RunShare(thread, static_cast<size_t>(threads_), phase);
    });
  }

 private:
  // Packs the constant operands, at no charge. The packed memory then takes their place among the tensors.
  absl::Status Pack() {
    packed_ = AllocateAligned(static_cast<size_t>(kernel_->packed_bytes));
    if (packed_ == nullptr) return absl::ResourceExhaustedError("no memory for what is packed");
    std::vector<void*> constants, others;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      // Tensors that are packed leave the list, all others stay in their order.
      const bool constant =
          std::find(kernel_->packed.begin(), kernel_->packed.end(), i) != kernel_->packed.end();
      (constant ? constants : others).push_back(tensors_[i]);
    }
    // The kernel's pack function takes the constant operands, and last the memory to write to.
    constants.push_back(packed_.get());
    kernel_->pack(constants);
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(kernel_->packed_place), packed_.get());
    tensors_ = std::move(others);
    return absl::OkStatus();
  }

  // The part of a phase that is one thread's.
  void RunShare(size_t thread, size_t n_threads, size_t phase) const {
    kernel_->run({tensors_, (*scratch_)[thread].get(), thread, n_threads, scratch_->back().get(), phase});
  }

  const std::vector<Kernel>& kernels_;
  const int threads_;
  const std::string name_;
  const std::shared_ptr<OurScratch> scratch_;
  Team team_;
  const Kernel* kernel_ = nullptr;
  std::vector<void*> tensors_;  // of a call
  AlignedMemory packed_;
};

}  // namespace

std::unique_ptr<Contender> MakeOurContender(const std::vector<Kernel>& kernels, int threads,
                                            const std::string& name, std::shared_ptr<OurScratch> scratch) {
  return std::make_unique<OurContender>(kernels, threads, name, std::move(scratch));
}

}  // namespace kirsch
