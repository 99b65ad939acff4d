// SPDX-License-Identifier: Apache-2.0
#include "tools/console.h"

#include <memory>
#include <vector>

#include "spec/check.h"
#include "tools/interrupt.h"
#include "tools/progress_line.h"
#include "tools/synthesis_report.h"

namespace kirsch {
namespace {

// Shows the innermost step. Steps nest, so each has a line and a guard of its own.
class ConsoleObserver : public Observer {
 public:
  void Begin(StepKind kind) override {
    steps_.push_back(std::make_unique<ShownStep>(kind == StepKind::kSearch));
  }
  // Only a step may tell something: the text is that of the innermost one.
  void Tell(std::string_view what) override {
    KIRSCH_CHECK(!steps_.empty());
    steps_.back()->line.Show(what);
  }
  void End(StepKind) override { steps_.pop_back(); }
  // Null outside of all steps, and during a verification.
  const std::atomic<bool>* stop() const override {
    return steps_.empty() ? nullptr : steps_.back()->guard.flag();
  }
  void Solved(const FamilySynthesis& synthesis) override { PrintSummary(synthesis); }

 private:
  // Ctrl-C stops searches only. The guard of a verification heeds no signals.
  struct ShownStep {
    explicit ShownStep(bool stops) : guard(stops) {}
    const InterruptGuard guard;
    ProgressLine line;
  };
  std::vector<std::unique_ptr<ShownStep>> steps_;  // the innermost last
};

}  // namespace

Observer& Console() {
  static ConsoleObserver& console = *new ConsoleObserver();
  return console;
}

}  // namespace kirsch
