// SPDX-License-Identifier: Apache-2.0
// Progress for people, on standard error: on a terminal a line that is written over and in the end erased,
// else a line every ten seconds of what takes longer than that.
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

// Prints what is being done every so often, from the first time that it was told on, as long as somebody does
// something. Thread-safe.
class ProgressReporter {
 public:
  ProgressReporter(std::chrono::milliseconds period, std::FILE* out) : period_(period), out_(out) {}
  ~ProgressReporter();

  void Begin();  // what some line is for
  void Tell(std::string_view what);
  void End();

 private:
  void Print();  // until it is to end

  const std::chrono::milliseconds period_;
  std::FILE* const out_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::string what_;  // empty: nothing
  int lines_ = 0;     // that live
  bool end_ = false;
  std::thread thread_;
};

// Shows nothing if it is not wanted.
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
