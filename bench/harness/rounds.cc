// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/rounds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "bench/results/statistics.h"
#include "spec/text/cat.h"
#include "spec/text/quantity.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr double kLongCallSeconds = 20e-3;       // one call makes a sample many times over
constexpr double kVeryLongCallSeconds = 100e-3;  // every call counts
constexpr double kHopeless = 1.5;                // times slower than the peer's best so far: no second look
constexpr double kClose = 1.04;                  // screening cannot tell them apart: both go to the rounds
constexpr size_t kFinalistsPerPeer = 2;
constexpr size_t kMinGoodSamples = 3;
constexpr char kPackedSuffix[] = "+packed";  // of methods, see bench/workload/peer.h

// One entrant by one of its methods, on one spec.
struct Candidate {
  Entrant* entrant = nullptr;
  size_t method = 0;
  double screened_seconds = std::numeric_limits<double>::infinity();
  OutputCheck check;
  std::vector<Sample> samples;

  const std::string& method_name() const { return entrant->info.methods[method]; }
  bool packed() const { return absl::EndsWith(method_name(), kPackedSuffix); }
  // The name under which results compete. A peer with a packed operand has another task than one without, so
  // it competes apart. Ours always has the task of the spec.
  std::string peer() const {
    return packed() && entrant->peer != kOurName ? Cat(entrant->peer, kPackedSuffix) : entrant->peer;
  }
};

// Calls that take long are repeated less often.
int RoundsFor(double call_seconds) {
  if (call_seconds > kVeryLongCallSeconds) return 4;
  return call_seconds > kLongCallSeconds ? 6 : 8;
}

// The measurement of one spec, in four steps.
class SpecMeasurement {
 public:
  SpecMeasurement(const FilledSpec& spec, std::vector<Entrant>& entrants, BenchReport& report)
      : spec_(spec), entrants_(entrants), report_(report) {}

  void Run() {
    for (Entrant& entrant : entrants_) ScreenEntrant(entrant);
    ChooseFinalists();
    RunRounds();
    Report();
  }

 private:
  // Reports an error, unless it says that the method is not for this problem.
  void Failed(Entrant& entrant, const absl::Status& status) {
    if (status.code() == absl::StatusCode::kUnimplemented) return;
    answered_.insert(entrant.peer);
    report_.failed.push_back({spec_.text, entrant.name(), std::string(status.message())});
    if (!entrant.worker.alive()) ++entrant.deaths;
  }

  // Tries all methods of an entrant. One that dies at a method does not try the others.
  void ScreenEntrant(Entrant& entrant) {
    if (!entrant.worker.alive() && !StartEntrant(entrant).ok()) return;
    for (size_t method = 0; method < entrant.info.methods.size() && entrant.worker.alive(); ++method) {
      Candidate candidate;
      candidate.entrant = &entrant;
      candidate.method = method;
      if (absl::Status status = Screen(candidate); !status.ok()) {
        Failed(entrant, status);
        continue;
      }
      answered_.insert(entrant.peer);
      if (candidate.check.correct) {
        double& best = best_seconds_.try_emplace(candidate.peer(), candidate.screened_seconds).first->second;
        best = std::min(best, candidate.screened_seconds);
      }
      candidates_.push_back(std::move(candidate));
    }
  }

  // Makes one call, which shows whether the result is right, and takes a few samples, which show how fast it
  // is.
  absl::Status Screen(Candidate& candidate) {
    Worker& worker = candidate.entrant->worker;
    KIRSCH_RETURN_IF_ERROR(worker.Prepare(spec_.item, candidate.method));
    FillOutputs(spec_.workload);
    KIRSCH_ASSIGN_OR_RETURN(const double first, worker.RunOnce());
    // A result without a reference counts as wrong, never as right.
    candidate.check =
        spec_.reference.ok() ? CheckOutput(*spec_.reference, spec_.workload) : OutputCheck{0, 0, false};
    // The first call counts as well; of all samples the fastest is taken.
    candidate.screened_seconds = first;
    const auto best = best_seconds_.find(candidate.peer());
    const bool is_long = first > kLongCallSeconds;
    // A long call that was far slower than the peer's best is not repeated.
    if (is_long && best != best_seconds_.end() && first > kHopeless * best->second) return absl::OkStatus();
    MeasureOptions options;
    // A long call is measured once here, as it makes a sample many times over.
    options.samples = is_long ? 1 : 3;
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<Sample> samples, worker.Measure(options));
    for (const Sample& sample : samples)
      candidate.screened_seconds = std::min(candidate.screened_seconds, sample.seconds);
    return absl::OkStatus();
  }

  // Keeps the best few of each peer. Wrong ones are kept only if the peer has no right one.
  void ChooseFinalists() {
    // Right ones first, then by time.
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(!a.check.correct, a.screened_seconds) <
             std::pair(!b.check.correct, b.screened_seconds);
    });
    // A second one of a peer goes on only if it is right like the first, and close to it.
    std::map<std::string, std::vector<const Candidate*>> chosen;
    std::vector<Candidate> finalists;
    for (const Candidate& candidate : candidates_) {
      std::vector<const Candidate*>& of_peer = chosen[candidate.peer()];
      if (!of_peer.empty() &&
          (of_peer.size() == kFinalistsPerPeer || candidate.check.correct != of_peer.front()->check.correct ||
           candidate.screened_seconds > kClose * of_peer.front()->screened_seconds))
        continue;
      of_peer.push_back(&candidate);
      finalists.push_back(candidate);
    }
    candidates_ = std::move(finalists);
  }

  // As many rounds as the fastest finalist's call allows; a finalist whose process died is left out.
  void RunRounds() {
    // The number of rounds follows from the fastest candidate, and is the same for all.
    double fastest = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : candidates_) fastest = std::min(fastest, candidate.screened_seconds);
    for (int round = 0; round < RoundsFor(fastest); ++round)
      for (Candidate& candidate : candidates_)
        if (candidate.entrant->worker.alive()) RunRound(candidate);
  }

  void RunRound(Candidate& candidate) {
    Worker& worker = candidate.entrant->worker;
    // Two finalists of one process have to be prepared in turn.
    if (prepared_[candidate.entrant] != &candidate) {
      if (absl::Status status = worker.Prepare(spec_.item, candidate.method); !status.ok())
        return Failed(*candidate.entrant, status);
      prepared_[candidate.entrant] = &candidate;
    }
    MeasureOptions options;
    options.samples = candidate.screened_seconds > kLongCallSeconds ? 1 : 3;
    const absl::StatusOr<std::vector<Sample>> samples = worker.Measure(options);
    if (!samples.ok()) return Failed(*candidate.entrant, samples.status());
    candidate.samples.insert(candidate.samples.end(), samples->begin(), samples->end());
  }

  BenchResult ResultOf(const Candidate& candidate) const {
    // Samples that something else disturbed are dropped, if enough others are left.
    std::vector<double> all, good;
    for (const Sample& sample : candidate.samples) {
      all.push_back(sample.seconds);
      if (!Preempted(sample, spec_.workload.problem.threads)) good.push_back(sample.seconds);
    }
    // On a machine that is never quiet the preempted samples are all there is.
    const bool disturbed = good.size() < std::min(kMinGoodSamples, all.size());
    const std::vector<double>& used = disturbed ? all : good;
    BenchResult result;
    // The estimators: the median of what is used, and the interquartile range over it.
    result.disturbed = disturbed;
    // Who was measured, and how it was asked.
    result.spec = spec_.text;
    result.name = candidate.entrant->name();
    result.peer = candidate.peer();
    result.method = candidate.method_name();
    result.packed = candidate.packed();
    result.item = spec_.item;
    result.unit = RateUnit(IsInteger(spec_.workload.problem.lhs_type));
    result.compulsory_bytes = spec_.workload.compulsory_bytes;
    result.seconds_median = Median(used);
    result.gflops_median = 1e-9 * spec_.workload.operations / result.seconds_median;
    result.gflops_spread = Spread(used);
    result.max_error = candidate.check.max_error;
    result.error_share = candidate.check.error_share;
    result.correct = candidate.check.correct;
    result.samples = static_cast<int>(used.size());
    result.preempted = static_cast<int>(all.size() - good.size());
    return result;
  }

  // Reports each peer at its best, in the order in which peers were asked for, and which peers declined the
  // problem.
  void Report() {
    // The better of a peer's finalists. Those without samples died in the rounds.
    std::map<std::string, BenchResult> best;
    for (const Candidate& candidate : candidates_) {
      if (candidate.samples.empty()) continue;
      BenchResult result = ResultOf(candidate);
      const auto [at, added] = best.try_emplace(result.peer, result);
      if (!added && result.gflops_median > at->second.gflops_median) at->second = std::move(result);
    }
    for (const Entrant& entrant : entrants_)
      // A peer may have two results, one of them with a packed operand.
      for (const std::string& peer : {entrant.peer, Cat(entrant.peer, kPackedSuffix)})
        if (auto node = best.extract(peer)) report_.results.push_back(std::move(node.mapped()));
    for (const Entrant& entrant : entrants_)
      // A peer that is alive and did not answer at all has no method for this problem.
      if (entrant.worker.alive() && answered_.insert(entrant.peer).second)
        report_.declined.push_back({spec_.text, entrant.peer});
  }

  const FilledSpec& spec_;
  std::vector<Entrant>& entrants_;
  BenchReport& report_;
  std::vector<Candidate> candidates_;
  std::map<std::string, double> best_seconds_;           // of each peer, screened and right
  std::set<std::string> answered_;                       // the peers with a method that takes the spec
  std::map<const Entrant*, const Candidate*> prepared_;  // what each process is ready to run
};

}  // namespace

void MeasureSpec(const FilledSpec& spec, std::vector<Entrant>& entrants, BenchReport& report) {
  SpecMeasurement(spec, entrants, report).Run();
}

std::vector<double> MeasureRates(Entrant& entrant, int threads) {
  std::vector<double> rates;
  for (size_t method = 0; method < entrant.info.methods.size(); ++method) {
    rates.push_back(0);
    if (!entrant.worker.Prepare(/*item=*/0, method).ok()) continue;
    const absl::StatusOr<std::vector<Sample>> samples = entrant.worker.Measure(MeasureOptions());
    if (!samples.ok()) continue;
    std::vector<double> all, good;
    for (const Sample& sample : *samples) {
      all.push_back(sample.seconds);
      if (!Preempted(sample, threads)) good.push_back(sample.seconds);
    }
    // Preempted samples count only where there are no others.
    rates.back() = 1 / Median(good.empty() ? all : good);
  }
  return rates;
}

}  // namespace kirsch
