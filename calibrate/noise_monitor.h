// SPDX-License-Identifier: Apache-2.0
// Whether a measurement was left alone: what others took of the CPU it ran on, and what the hypervisor took
// away, as Linux counts them. (What neighbours do to shared caches and memory nobody counts.)
#ifndef KIRSCH_CALIBRATE_NOISE_MONITOR_H_
#define KIRSCH_CALIBRATE_NOISE_MONITOR_H_

#include <string>

namespace kirsch {

// Shares of the time between two points, 0 to 1.
struct Disturbance {
  double stolen = 0;      // by the hypervisor
  double others = 0;      // by other processes
  double neighbours = 0;  // while somebody else computed on the same physical core, see TrialOptions::peak

  bool matters() const;
  std::string Describe() const;  // "12 % of the time stolen"; empty: nothing to tell
};

// Of one CPU. Ticks of 10 ms: half a second and more can be told about.
class NoiseMonitor {
 public:
  explicit NoiseMonitor(int cpu) : cpu_(cpu) { Begin(); }
  void Begin();
  // Since Begin; processes that this one started and that have ended were no disturbance.
  Disturbance End() const;

 private:
  struct Ticks {
    double busy = 0, stolen = 0, all = 0;  // seconds
    double ours = 0;
  };
  Ticks Read() const;

  int cpu_;
  Ticks begin_;
};

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_NOISE_MONITOR_H_
