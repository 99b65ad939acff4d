// A contender with the problems that it may be asked for: what a worker's process runs.
#ifndef KIRSCH_BENCH_RUNNER_H_
#define KIRSCH_BENCH_RUNNER_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/contender.h"

namespace kirsch {

class Runner {
 public:
  virtual ~Runner() = default;

  // As of ContenderFor.
  virtual absl::StatusOr<ContenderInfo> Load() = 0;
  virtual absl::Status Prepare(size_t item, size_t method) = 0;
  virtual void Run() = 0;

  // What Run() reads and writes, to be evicted before a cold run. After Prepare().
  virtual std::vector<absl::Span<const char>> Memory() const = 0;
};

// `problems` are placed, and outlive the runner; an item is the place of one among them.
template <typename Problem>
std::unique_ptr<Runner> MakeRunner(std::unique_ptr<ContenderFor<Problem>> contender,
                                   const std::vector<Problem>& problems) {
  class ProblemRunner : public Runner {
   public:
    ProblemRunner(std::unique_ptr<ContenderFor<Problem>> contender, const std::vector<Problem>& problems)
        : contender_(std::move(contender)), problems_(problems) {}

    absl::StatusOr<ContenderInfo> Load() override { return contender_->Load(); }
    absl::Status Prepare(size_t item, size_t method) override {
      item_ = item;
      return contender_->Prepare(problems_[item], item, method);
    }
    void Run() override { contender_->Run(); }
    std::vector<absl::Span<const char>> Memory() const override {
      std::vector<absl::Span<const char>> memory = OperandMemory(problems_[item_]);
      memory.push_back(contender_->Own());
      return memory;
    }

   private:
    std::unique_ptr<ContenderFor<Problem>> contender_;
    const std::vector<Problem>& problems_;
    size_t item_ = 0;
  };
  return std::make_unique<ProblemRunner>(std::move(contender), problems);
}

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RUNNER_H_
