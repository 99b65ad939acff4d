// SPDX-License-Identifier: Apache-2.0
// Shows progress to people, on standard error. On a terminal it is a line that is written over, and erased in
// the end. Elsewhere, as in logs, it is a line every ten seconds, for work that takes longer than that.
#ifndef KIRSCH_TOOLS_PROGRESS_LINE_H_
#define KIRSCH_TOOLS_PROGRESS_LINE_H_

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace kirsch {

// Prints every `period` what is being done, as long as somebody does something. Its thread starts with the
// first Begin. Thread-safe.
//   kirsch: 10 s: member 3 of 64, searching: 1.2 s, 4711 specs
//   kirsch: 20 s: verifying member 12 of 64: jit, run 2 of 5, 8.6 GFLOP
class ProgressReporter {
 public:
  ProgressReporter(std::chrono::milliseconds period, std::FILE* out) : period_(period), out_(out) {}
  ~ProgressReporter();

  void Begin();  // one more line lives
  // Sets the text that is printed next.
  void Tell(std::string_view what);
  // One line less; after the last one nothing is printed.
  void End();

 private:
  void Print();  // on its thread, until `end_`

  const std::chrono::milliseconds period_;
  std::FILE* const out_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::string what_;  // is being done; empty: nothing
  int lines_ = 0;     // that live, begun and not ended
  bool end_ = false;
  std::thread thread_;
};

// The progress of one piece of work, which ends with this object. Shows nothing if it is not wanted.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted = true);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  bool shows() const { return wanted_; }
  void Show(std::string_view text);
  void Erase();

 private:
  const bool wanted_, terminal_;
  bool shown_ = false;
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_PROGRESS_LINE_H_
