// SPDX-License-Identifier: Apache-2.0
// Tells whether a measurement was left alone: what other processes took of its CPU, and what the hypervisor
// took away.
//
// Linux counts both in /proc/stat. Nobody counts what neighbours do to shared caches and memory.
#ifndef KIRSCH_CALIBRATE_NOISE_MONITOR_H_
#define KIRSCH_CALIBRATE_NOISE_MONITOR_H_

#include <string>

namespace kirsch {

// The disturbances of a measurement, as shares of the time between two points, 0 to 1.
struct Disturbance {
  double stolen = 0;      // by the hypervisor
  double others = 0;      // by other processes
  double neighbours = 0;  // while somebody else used the same physical core; the session fills it in

  // True if a share is above what a measurement can bear.
  bool matters() const;
  std::string Describe() const;  // "12 % of the time stolen"; empty: nothing to tell
};

// Watches one CPU. Linux counts in ticks, mostly of 10 ms, so only measurements of half a second and more can
// be judged.
class NoiseMonitor {
 public:
  explicit NoiseMonitor(int cpu) : cpu_(cpu) { Begin(); }
  void Begin();
  // Returns what was taken since Begin. Processes that this one started and that have ended count as ours: a
  // measurement runs in such a process. No shares at all if the time was too short to tell.
  Disturbance End() const;

 private:
  // Counters at one point, in seconds.
  struct Ticks {
    double busy = 0, stolen = 0, all = 0;  // seconds
    double ours = 0;                       // of child processes that have ended, on any CPU
  };
  Ticks Read() const;

  int cpu_;
  Ticks begin_;
};

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_NOISE_MONITOR_H_
