// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/machine_limits.h"

#include <algorithm>

#include "bench/harness/bandwidth.h"
#include "bench/harness/peak.h"
#include "bench/harness/rounds.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Keeps the higher rate of each method.
void Raise(std::vector<double>& highest, const std::vector<double>& rates) {
  highest.resize(rates.size());
  for (size_t i = 0; i < rates.size(); ++i) highest[i] = std::max(highest[i], rates[i]);
}

}  // namespace

absl::Status Limits::Start(const Machine& machine, const WorkerOptions& options) {
  threads_ = static_cast<int>(options.cpus.size());
  buffer_bytes_ = BandwidthBufferBytes(machine.caches);
  peak_.factory = [threads = threads_] { return MakePeakContender(threads); };
  bandwidth_.factory = [threads = threads_, bytes = buffer_bytes_] {
    return MakeBandwidthContender(threads, bytes);
  };
  // Both run on the CPUs of the run, so that they share its threads' conditions.
  for (Entrant* entrant : {&peak_, &bandwidth_}) {
    entrant->options = options;
    entrant->options.cold = false;  // they look at no workload
    entrant->options.rotated = {};
    KIRSCH_RETURN_IF_ERROR(StartEntrant(*entrant));
  }
  return absl::OkStatus();
}

void Limits::Measure() {
  Raise(peak_rates_, MeasureRates(peak_, threads_));
  Raise(bandwidth_rates_, MeasureRates(bandwidth_, threads_));
}

void Limits::Describe(Machine& machine) const {
  for (size_t i = 0; i < peak_rates_.size(); ++i) {
    const PeakMethod& method = PeakMethods()[i];
    // The method of the clock has cycles for its work, the others have operations.
    if (method.vector_bytes == 0)
      machine.ghz = 1e-9 * peak_rates_[i] * method.work;
    else
      machine.peaks.push_back(
          {method.instruction, method.vector_bytes, 1e-9 * peak_rates_[i] * method.work * threads_});
  }
  // The best method counts: once of those with one thread, once of those with all.
  const std::vector<BandwidthMethod> methods = BandwidthMethods(threads_);
  for (size_t i = 0; i < bandwidth_rates_.size(); ++i) {
    const double rate =
        1e-9 * bandwidth_rates_[i] * static_cast<double>(BandwidthBytesPerRun(methods[i], buffer_bytes_));
    if (methods[i].threads == 1) machine.read_gbytes_one = std::max(machine.read_gbytes_one, rate);
    if (methods[i].threads == threads_) machine.read_gbytes = std::max(machine.read_gbytes, rate);
  }
}

// Rates are calls a second of all threads at the same time, so work is that of all threads.
double Limits::PeakGflops(const Problem& problem) const {
  double best = 0;
  for (size_t i = 0; i < peak_rates_.size(); ++i) {
    const PeakMethod& method = PeakMethods()[i];
    if (method.vector_bytes > 0 && method.computes(problem))
      best = std::max(best, 1e-9 * peak_rates_[i] * method.work * threads_);
  }
  return best;
}

}  // namespace kirsch
