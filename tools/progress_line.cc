// SPDX-License-Identifier: Apache-2.0
#include "tools/progress_line.h"

#include <unistd.h>

#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr std::chrono::seconds kPeriod(10);

// Never destroyed: the process may end while its thread waits.
ProgressReporter& Reporter() {
  static ProgressReporter& reporter = *new ProgressReporter(kPeriod, stderr);
  return reporter;
}

}  // namespace

// Wakes the thread, and waits until it has ended. The mutex is free by then, as the thread needs it to wake
// up.
ProgressReporter::~ProgressReporter() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProgressReporter::Begin() {
  const std::lock_guard lock(mutex_);
  ++lines_;
  // Programs that show no progress have no thread.
  if (!thread_.joinable()) thread_ = std::thread([this] { Print(); });
}

void ProgressReporter::Tell(std::string_view what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
}

void ProgressReporter::End() {
  const std::lock_guard lock(mutex_);
  if (--lines_ == 0) what_.clear();
}

// Sleeps between two lines. Times are multiples of the period since the start, so they don't drift.
void ProgressReporter::Print() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (int64_t count = 1; !ended_.wait_until(lock, start + count * period_, [this] { return end_; });
       ++count) {
    // Nobody does anything at the moment.
    if (what_.empty()) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(count * period_).count();
    std::fprintf(out_, "kirsch: %lld s: %s\n", static_cast<long long>(seconds), Printable(what_).c_str());
    std::fflush(out_);
  }
}

// A terminal is written to at once. Elsewhere a reporter of the process prints from time to time.
ProgressLine::ProgressLine(bool wanted) : wanted_(wanted), terminal_(wanted && isatty(STDERR_FILENO) != 0) {
  if (wanted_ && !terminal_) Reporter().Begin();
}

ProgressLine::~ProgressLine() {
  Erase();
  if (wanted_ && !terminal_) Reporter().End();
}

void ProgressLine::Show(std::string_view text) {
  if (!wanted_) return;
  if (!terminal_) return Reporter().Tell(text);
  // The control characters go to the line's start, and clear what is left of the former text.
  std::fprintf(stderr, "\r%.*s\033[K", static_cast<int>(text.size()), text.data());
  shown_ = true;
}

void ProgressLine::Erase() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace kirsch
