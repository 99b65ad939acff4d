// SPDX-License-Identifier: Apache-2.0
// How whoever asked for a synthesis follows it, and stops it. The pipeline knows no terminal and no signals:
// a command line shows what it is told on standard error and stops at Ctrl-C, a library is silent.
#ifndef KIRSCH_SYNTHESIS_OBSERVER_H_
#define KIRSCH_SYNTHESIS_OBSERVER_H_

#include <atomic>
#include <string_view>

namespace kirsch {

struct FamilySynthesis;

// Work that takes a while. Steps nest.
enum class StepKind {
  kSearch,        // ends with the best program so far when it is told to stop
  kVerification,  // can't be stopped
};

// All calls come from the thread that asked for the synthesis.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void Begin(StepKind kind) = 0;
  // What the innermost step is doing: "member 3 of 64, searching: 1.2 s, 4711 specs".
  virtual void Tell(std::string_view what) = 0;
  virtual void End(StepKind kind) = 0;

  // Set from any thread to stop the searches that are under way; null: they are never stopped.
  virtual const std::atomic<bool>* stop() const = 0;

  // A kernel of a library has been solved for one of its targets.
  virtual void Solved(const FamilySynthesis& synthesis) = 0;
};

// A step, as long as this lives. Without an observer nothing is told and nothing stops.
class Step {
 public:
  Step(Observer* observer, StepKind kind) : observer_(observer), kind_(kind) {
    if (observer_ != nullptr) observer_->Begin(kind_);
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step() {
    if (observer_ != nullptr) observer_->End(kind_);
  }

  void Tell(std::string_view what) const {
    if (observer_ != nullptr) observer_->Tell(what);
  }
  // For SearchOptions::cancel.
  const std::atomic<bool>* stop() const { return observer_ != nullptr ? observer_->stop() : nullptr; }

 private:
  Observer* const observer_;
  const StepKind kind_;
};

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_OBSERVER_H_
