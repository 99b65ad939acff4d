// SPDX-License-Identifier: Apache-2.0
// Lets a caller follow a synthesis, and stop it. The pipeline knows no terminal and no signals. The command
// line shows the texts on standard error and stops at Ctrl-C; the library says nothing.
#ifndef KIRSCH_SYNTHESIS_OBSERVER_H_
#define KIRSCH_SYNTHESIS_OBSERVER_H_

#include <atomic>
#include <string_view>

namespace kirsch {

struct FamilySynthesis;

// Kinds of work that take a while. Steps nest: a member of a family is a step, and its search is a step
// within that.
enum class StepKind {
  kSearch,        // ends with the best program so far when it is told to stop
  kVerification,  // can't be stopped
};

// Implemented by callers (tools/console.h). All calls come from the thread that asked for the synthesis.
class Observer {
 public:
  virtual ~Observer() = default;

  // Begin and End come in pairs; Step sees to that.
  virtual void Begin(StepKind kind) = 0;
  // What the innermost step is doing: "member 3 of 64, searching: 1.2 s, 4711 specs".
  virtual void Tell(std::string_view what) = 0;
  virtual void End(StepKind kind) = 0;

  // Set from any thread to stop the searches that are under way; null: they are never stopped.
  virtual const std::atomic<bool>* stop() const = 0;

  // Called once for each kernel of a library and each target, as soon as it is solved.
  virtual void Solved(const FamilySynthesis& synthesis) = 0;
};

// A step that lasts as long as this object. Without an observer nothing is told and nothing stops.
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
