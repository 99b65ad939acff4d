// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/trials.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "bench/contenders/our_kernel.h"
#include "bench/contenders/worker.h"
#include "bench/harness/expected_result.h"
#include "bench/harness/peak.h"
#include "bench/machine/arena.h"
#include "bench/machine/machine.h"
#include "bench/results/statistics.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// With fewer undisturbed samples than this, the disturbed ones are used as well.
constexpr size_t kMinGoodTrials = 2;

// So short that the core can be looked at before and after every round.
constexpr MeasureOptions kGaugeSample = {3, 1e-4};

// A core that is left alone does at least this share of what it can do.
constexpr double kLeftAlone = 0.95;
// A clock of at least this share of the fastest counts as the same.
constexpr double kSameClock = 0.98;
constexpr int kMostTimesTheRounds = 3;

// The number of a method of the peak contender.
size_t MethodOf(std::string_view instruction, int vector_bytes) {
  const std::span<const PeakMethod> methods = PeakMethods();
  return static_cast<size_t>(std::find_if(methods.begin(), methods.end(),
                                          [&](const PeakMethod& method) {
                                            return method.instruction == instruction &&
                                                   method.vector_bytes == vector_bytes;
                                          }) -
                             methods.begin());
}

// The state of the core at one point: its clock, and whether somebody shares its arithmetic.
struct Gauge {
  double ghz = 0;
  double peak = 0;  // FMAs of 32 bytes a cycle
};

// A sample and the number of its round.
struct Taken {
  Sample sample;
  size_t round;
};

// One run of RunTrials. There are two workers: one for all kernels, and one that looks at the core.
class TrialRun {
 public:
  TrialRun(Workload workload, const std::vector<Kernel>& kernels, const TrialOptions& options)
      : kernels_(kernels), options_(options), arena_(PlacedBytes(workload)) {
    // One problem as many times as there are kernels: an item of ours is a problem with its kernel.
    if (arena_.ok()) Place(arena_.memory(), workload);
    workloads_.assign(kernels.size(), workload);
    taken_.resize(kernels.size());
    correct_.assign(kernels.size(), true);
  }

  absl::StatusOr<Trials> Run() {
    if (!arena_.ok()) return absl::ResourceExhaustedError("no memory for the operands");
    if (kernels_.empty()) return Trials();
    absl::Status status = Start();
    if (status.ok()) status = CheckResults();
    if (status.ok()) status = RunRounds();
    if (!status.ok()) return status;
    // The last look ends the last round, so there is one round less than looks.
    Trials trials;
    for (size_t round = 0; round + 1 < gauges_.size(); ++round) {
      trials.ghz.push_back(gauges_[round].ghz);
      trials.peak.push_back(PeakIn(round));
    }
    trials.best_peak = Peak();
    for (size_t i = 0; i < kernels_.size(); ++i) trials.of.push_back(TrialOf(i));
    return trials;
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }

  // Fills the inputs and starts both workers. Inputs are filled before the fork, so that both processes have
  // them in their page tables.
  absl::Status Start() {
    FillInputs(workloads_.front());
    FillOutputs(workloads_.front());
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<int> cpus, ChooseCpus(options_.threads));
    // The kernels have all CPUs; the core that is looked at is the first of them.
    const WorkerOptions ours{workloads_, cpus, {}, options_.cold};
    const WorkerOptions gauge{workloads_, {cpus.front()}, {}, false};
    const Worker::Factory make_ours = [this] {
      return MakeOurContender(kernels_, options_.threads, "kirsch", std::make_shared<OurScratch>());
    };
    absl::Status status = StartWorker(make_ours, ours, worker_);
    if (status.ok()) status = StartWorker([] { return MakePeakContender(1); }, gauge, gauge_);
    return status;
  }

  static absl::Status StartWorker(const Worker::Factory& factory, const WorkerOptions& options,
                                  Worker& worker) {
    KIRSCH_ASSIGN_OR_RETURN(worker, Worker::Start(factory, options));
    return worker.Load().status();
  }

  // Prepares a kernel in the worker. Kernels that take a packed operand have a method of their own.
  absl::Status Prepare(size_t kernel) {
    return worker_.Prepare(kernel, kernels_[kernel].packed_bytes > 0 ? kOursPacked : kOursPlain);
  }

  // Runs each kernel once and compares its result. A graph without loops cannot be compared, and counts as
  // right.
  absl::Status CheckResults() {
    const Workload& workload = workloads_.front();
    const bool comparable = workload.graph == nullptr || options_.loops != nullptr;
    KIRSCH_ASSIGN_OR_RETURN(ExpectedResult reference,
                            comparable ? ComputeReference(workload, options_.loops) : ExpectedResult());
    if (comparable && workload.graph != nullptr) reference.Widen(options_.tolerance);
    for (size_t i = 0; i < kernels_.size() && !stopped(); ++i) {
      KIRSCH_RETURN_IF_ERROR(Prepare(i));
      FillOutputs(workload);
      KIRSCH_RETURN_IF_ERROR(worker_.RunOnce().status());
      correct_[i] = !comparable || CheckOutput(reference, workload).correct;
    }
    return absl::OkStatus();
  }

  // Makes rounds until enough of them were left alone, thrice as many as asked for at most.
  absl::Status RunRounds() {
    KIRSCH_RETURN_IF_ERROR(Look());
    // Rounds that were disturbed count for nothing, but their number is limited.
    int left_alone = 0;
    const int most = kMostTimesTheRounds * options_.rounds;
    for (int round = 0; round < most && left_alone < options_.rounds; ++round) {
      for (size_t i = 0; i < kernels_.size() && !stopped(); ++i) KIRSCH_RETURN_IF_ERROR(Take(i));
      if (absl::Status status = Look(); !status.ok() || stopped()) return status;
      left_alone += IsLeftAlone(static_cast<size_t>(round)) ? 1 : 0;
    }
    return absl::OkStatus();
  }

  // Looks at the core: its clock, and how many FMAs it does in a cycle. A CPU without FMAs of 32 bytes runs
  // no kernel of ours.
  absl::Status Look() {
    // A multiplication and an addition for each of the eight lanes of 32 bytes.
    constexpr double kOperations = 2 * 8;
    Gauge gauge;
    double operations = 0;
    absl::Status status = Gauged(MethodOf("clock", 0), &gauge.ghz);
    if (status.ok()) status = Gauged(MethodOf("fma", 32), &operations);
    gauge.peak = operations / gauge.ghz / kOperations;
    gauges_.push_back(gauge);
    return status;
  }

  // Returns in `rate` the work a nanosecond of a peak method, by its fastest sample.
  absl::Status Gauged(size_t method, double* rate) {
    KIRSCH_RETURN_IF_ERROR(gauge_.Prepare(0, method));
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<Sample> samples, gauge_.Measure(kGaugeSample));
    // The fastest of the short samples counts, since noise only slows down.
    double seconds = samples.front().seconds;
    for (const Sample& sample : samples) seconds = std::min(seconds, sample.seconds);
    *rate = 1e-9 * PeakMethods()[method].work / seconds;
    return absl::OkStatus();
  }

  // The rate of a round is the worse of the looks before and after it.
  double PeakIn(size_t round) const { return std::min(gauges_[round].peak, gauges_[round + 1].peak); }

  // Returns the most that the core did in a cycle. Looks with a slow clock don't count: something was in the
  // way of measuring it, and cycles seem fewer than they were.
  double Peak() const {
    double ghz = 0, peak = 0;
    for (const Gauge& gauge : gauges_) ghz = std::max(ghz, gauge.ghz);
    for (const Gauge& gauge : gauges_)
      if (gauge.ghz >= kSameClock * ghz) peak = std::max(peak, gauge.peak);
    return peak;
  }

  // True if the core did nearly as much as it can do.
  bool IsLeftAlone(size_t round) const {
    return PeakIn(round) >= kLeftAlone * std::max(options_.peak, Peak());
  }

  // Takes one sample of a kernel, which belongs to the round that the last look began.
  absl::Status Take(size_t kernel) {
    KIRSCH_RETURN_IF_ERROR(Prepare(kernel));
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<Sample> taken, worker_.Measure({1, options_.min_seconds}));
    for (const Sample& sample : taken) taken_[kernel].push_back({sample, gauges_.size() - 1});
    return absl::OkStatus();
  }

  // Sorts the samples of a kernel into good ones and all, and decides which are used.
  Trial TrialOf(size_t kernel) const {
    Trial good, all;
    for (const Taken& taken : taken_[kernel]) {
      // A round that was stopped has no second look.
      const bool quiet = taken.round + 1 >= gauges_.size() || IsLeftAlone(taken.round);
      // Every sample goes to `all`, and to `good` if nothing disturbed it.
      for (Trial* trial : {&good, &all}) {
        if (trial == &good && (!quiet || Preempted(taken.sample, options_.threads))) continue;
        trial->seconds.push_back(taken.sample.seconds);
        // Cycles by the clock of the look before the round.
        trial->cycles.push_back(taken.sample.seconds * 1e9 * gauges_[taken.round].ghz);
      }
    }
    Trial trial = good.seconds.size() < std::min(kMinGoodTrials, all.seconds.size()) ? all : good;
    trial.disturbed = trial.seconds.size() > good.seconds.size();
    trial.correct = correct_[kernel];
    return trial;
  }

  const std::vector<Kernel>& kernels_;
  const TrialOptions& options_;
  const SharedArena arena_;
  std::vector<Workload> workloads_;
  Worker worker_, gauge_;
  std::vector<std::vector<Taken>> taken_;  // of each kernel
  std::vector<bool> correct_;
  std::vector<Gauge> gauges_;  // before each round, and after the last
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
