#include "bench/trials.h"

#include <algorithm>
#include <utility>

#include "bench/arena.h"
#include "bench/machine.h"
#include "bench/our_kernel.h"
#include "bench/peak.h"
#include "bench/reference.h"
#include "bench/statistics.h"
#include "bench/worker.h"

namespace kirsch {
namespace {

// Fewer undisturbed samples than this say less than the disturbed ones.
constexpr size_t kMinGoodSamples = 2;

// Takes so little time that the clock may be looked at in every round.
constexpr MeasureOptions kClockSample = {1, 2e-4};

size_t ClockMethod() {
  const std::span<const PeakMethod> methods = PeakMethods();
  return static_cast<size_t>(std::find_if(methods.begin(), methods.end(),
                                          [](const PeakMethod& method) { return method.vector_bytes == 0; }) -
                             methods.begin());
}

// The samples of one kernel, the preempted ones apart.
struct Samples {
  Trial good, preempted;
};

void Add(const Sample& sample, double ghz, Trial& to) {
  to.seconds.push_back(sample.seconds);
  to.cycles.push_back(sample.seconds * 1e9 * ghz);
}

Trial Settled(Samples samples, bool correct) {
  Trial trial = std::move(samples.good);
  trial.correct = correct;
  trial.disturbed = trial.seconds.size() < kMinGoodSamples && !samples.preempted.seconds.empty();
  if (!trial.disturbed) return trial;
  const Trial& more = samples.preempted;
  trial.seconds.insert(trial.seconds.end(), more.seconds.begin(), more.seconds.end());
  trial.cycles.insert(trial.cycles.end(), more.cycles.begin(), more.cycles.end());
  return trial;
}

class TrialRun {
 public:
  TrialRun(Workload workload, const std::vector<Kernel>& kernels, const TrialOptions& options)
      : kernels_(kernels), options_(options), arena_(PlacedBytes(workload)) {
    // One problem as many times as there are kernels: an item of ours is a problem with its kernel.
    if (arena_.ok()) Place(arena_.memory(), workload);
    workloads_.assign(kernels.size(), workload);
    samples_.resize(kernels.size());
    correct_.assign(kernels.size(), true);
  }

  absl::StatusOr<Trials> Run() {
    if (!arena_.ok()) return absl::ResourceExhaustedError("no memory for the operands");
    if (kernels_.empty()) return Trials();
    absl::Status status = Start();
    if (status.ok()) status = CheckResults();
    for (int round = 0; round < options_.rounds && status.ok() && !stopped(); ++round) status = Round();
    if (!status.ok()) return status;
    Trials trials;
    trials.ghz = ghz_;
    for (size_t i = 0; i < kernels_.size(); ++i)
      trials.of.push_back(Settled(std::move(samples_[i]), correct_[i]));
    return trials;
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }

  // Inputs are filled before the fork, so that both processes have them in their page tables.
  absl::Status Start() {
    FillInputs(workloads_.front());
    FillOutput(workloads_.front());
    const absl::StatusOr<std::vector<int>> cpus = ChooseCpus(options_.threads);
    if (!cpus.ok()) return cpus.status();
    const WorkerOptions ours{workloads_, *cpus, {}, options_.cold};
    const WorkerOptions clock{workloads_, {cpus->front()}, {}, false};
    const Worker::Factory make_ours = [this] {
      return MakeOurContender(kernels_, options_.threads, "kirsch");
    };
    absl::Status status = StartWorker(make_ours, ours, worker_);
    if (status.ok()) status = StartWorker([] { return MakePeakContender(1); }, clock, clock_);
    if (status.ok()) status = clock_.Prepare(0, ClockMethod());
    return status;
  }

  static absl::Status StartWorker(const Worker::Factory& factory, const WorkerOptions& options,
                                  Worker& worker) {
    absl::StatusOr<Worker> started = Worker::Start(factory, options);
    if (!started.ok()) return started.status();
    worker = *std::move(started);
    return worker.Load().status();
  }

  // Kernels that take a packed operand have a method of their own.
  absl::Status Prepare(size_t kernel) {
    return worker_.Prepare(kernel, kernels_[kernel].packed_bytes > 0 ? kOursPacked : kOursPlain);
  }

  absl::Status CheckResults() {
    const Workload& workload = workloads_.front();
    const bool comparable = workload.graph == nullptr || options_.loops != nullptr;
    absl::StatusOr<Reference> reference =
        comparable ? ComputeReference(workload, options_.loops) : Reference();
    if (!reference.ok()) return reference.status();
    for (size_t i = 0; i < kernels_.size() && !stopped(); ++i) {
      if (absl::Status status = Prepare(i); !status.ok()) return status;
      FillOutput(workload);
      if (const absl::StatusOr<double> ran = worker_.RunOnce(); !ran.ok()) return ran.status();
      correct_[i] = !comparable || CheckOutput(*reference, workload).correct;
    }
    return absl::OkStatus();
  }

  absl::Status Round() {
    const absl::StatusOr<std::vector<Sample>> clock = clock_.Measure(kClockSample);
    if (!clock.ok()) return clock.status();
    double seconds = clock->front().seconds;
    for (const Sample& sample : *clock) seconds = std::min(seconds, sample.seconds);
    ghz_.push_back(1e-9 * PeakMethods()[ClockMethod()].work / seconds);
    for (size_t i = 0; i < kernels_.size() && !stopped(); ++i)
      if (absl::Status status = Take(i); !status.ok()) return status;
    return absl::OkStatus();
  }

  absl::Status Take(size_t kernel) {
    if (absl::Status status = Prepare(kernel); !status.ok()) return status;
    const absl::StatusOr<std::vector<Sample>> taken = worker_.Measure({1, options_.min_seconds});
    if (!taken.ok()) return taken.status();
    for (const Sample& sample : *taken)
      Add(sample, ghz_.back(),
          Preempted(sample, options_.threads) ? samples_[kernel].preempted : samples_[kernel].good);
    return absl::OkStatus();
  }

  const std::vector<Kernel>& kernels_;
  const TrialOptions& options_;
  const SharedArena arena_;
  std::vector<Workload> workloads_;
  Worker worker_, clock_;
  std::vector<Samples> samples_;
  std::vector<bool> correct_;
  std::vector<double> ghz_;
};

}  // namespace

double Trial::MedianSeconds() const { return Median(seconds); }
double Trial::MedianCycles() const { return Median(cycles); }
double Trial::QuietCycles() const { return Quantile(cycles, 0.25); }
double Trial::Spread() const { return kirsch::Spread(cycles); }

absl::StatusOr<Trials> RunTrials(Workload workload, const std::vector<Kernel>& kernels,
                                 const TrialOptions& options) {
  return TrialRun(std::move(workload), kernels, options).Run();
}

}  // namespace kirsch
