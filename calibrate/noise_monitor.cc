// SPDX-License-Identifier: Apache-2.0
#include "calibrate/noise_monitor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "absl/strings/str_format.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"

namespace kirsch {
namespace {

// Shares of the time above which a measurement counts as disturbed.
constexpr double kMostStolen = 0.03, kMostOthers = 0.06, kMostNeighbours = 0.5;
constexpr double kLeastSeconds = 0.2;  // below, a few ticks would be large shares

// CPU time of child processes that have ended and that were waited for.
double ChildrenSeconds() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

bool Disturbance::matters() const {
  return stolen > kMostStolen || others > kMostOthers || neighbours > kMostNeighbours;
}

std::string Disturbance::Describe() const {
  std::string text;
  // Only shares that matter are mentioned.
  const auto add = [&](double share, double most, const char* what) {
    if (share > most)
      Append(&text, text.empty() ? "" : ", ", absl::StrFormat("%.0f %% %s", 100 * share, what));
  };
  add(stolen, kMostStolen, "of the time stolen by the hypervisor");
  add(others, kMostOthers, "of the time taken by other processes");
  add(neighbours, kMostNeighbours, "of the time shared with a neighbour on the core");
  return text;
}

void NoiseMonitor::Begin() { begin_ = Read(); }

// Reads a line of /proc/stat: "cpu1 user nice system idle iowait irq softirq steal ...", in ticks. All zeros
// if there is none, so that no disturbance is reported on a system that has no such file.
NoiseMonitor::Ticks NoiseMonitor::Read() const {
  Ticks ticks;
  const absl::StatusOr<std::string> text = ReadFile("/proc/stat");
  if (!text.ok()) return ticks;
  std::istringstream lines(*text);
  const std::string name = Cat("cpu", cpu_);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string cpu;
    double user, nice, system, idle, iowait, irq, softirq, steal;
    if (!(words >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) || cpu != name)
      continue;
    const double second = static_cast<double>(sysconf(_SC_CLK_TCK));
    ticks.busy = (user + nice + system + irq + softirq) / second;
    ticks.stolen = steal / second;
    ticks.all = ticks.busy + ticks.stolen + (idle + iowait) / second;
  }
  ticks.ours = ChildrenSeconds();
  return ticks;
}

Disturbance NoiseMonitor::End() const {
  const Ticks now = Read();
  const double all = now.all - begin_.all;
  Disturbance disturbance;
  if (all < kLeastSeconds) return disturbance;
  disturbance.stolen = (now.stolen - begin_.stolen) / all;
  // The CPU's busy time without what our own processes took of it.
  disturbance.others = std::max(0.0, (now.busy - begin_.busy) - (now.ours - begin_.ours)) / all;
  return disturbance;
}

}  // namespace kirsch
