#include "bench/benchmark.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/limits.h"

namespace kirsch {
namespace {

class Benchmark {
 public:
  Benchmark(const BenchPlan& plan, const BenchOptions& options) : plan_(plan), options_(options) {}

  absl::StatusOr<BenchReport> Run(const std::vector<int>& cpus) {
    report_.machine = DescribeMachine(cpus);
    report_.threads = options_.threads;
    report_.cold = options_.cold;
    worker_.cpus = cpus;
    worker_.cold = options_.cold;
    if (absl::Status status = Enter(); !status.ok()) return status;
    for (size_t item = 0; item < plan_.measurements.size(); ++item) Measure(item);
    Finish();
    return std::move(report_);
  }

 private:
  void Progress(std::string_view line) const {
    if (options_.progress) options_.progress(line);
  }

  // Ours and the limits must be able to start; peers may be missing.
  absl::Status Enter() {
    if (plan_.ours) {
      Entrant ours;
      ours.peer = kOurName;
      ours.factory = plan_.ours;
      ours.options = worker_;
      if (absl::Status status = StartEntrant(ours); !status.ok()) return status;
      entrants_.push_back(std::move(ours));
    }
    if (absl::Status status = limits_.Start(report_.machine, worker_); !status.ok()) return status;
    for (const Peer& peer : plan_.peers) {
      Progress(absl::StrCat("loading ", peer.name));
      for (Entrant& entrant : EnterPeer(peer, worker_, report_.missing))
        entrants_.push_back(std::move(entrant));
    }
    return absl::OkStatus();
  }

  void Measure(size_t item) {
    const Measurement& measurement = plan_.measurements[item];
    Progress(
        absl::StrCat("measuring ", measurement.text, " (", item + 1, " of ", plan_.measurements.size(), ")"));
    FilledSpec spec = measurement.fill();
    spec.item = item;
    spec.text = measurement.text;
    spec.threads = options_.threads;
    limits_.Measure();
    MeasureSpec(spec, entrants_, report_);
  }

  // The limits are known when the last spec has been measured.
  void Finish() {
    limits_.Describe(report_.machine);
    for (BenchResult& result : report_.results) {
      result.peak_gflops = limits_.PeakGflops(plan_.measurements[result.item].types);
      AddShares(report_.machine, result);
    }
  }

  const BenchPlan& plan_;
  const BenchOptions& options_;
  WorkerOptions worker_;
  std::vector<Entrant> entrants_;  // ours first
  Limits limits_;
  BenchReport report_;
};

}  // namespace

absl::StatusOr<BenchReport> RunPlan(const BenchPlan& plan, const BenchOptions& options) {
  const absl::StatusOr<std::vector<int>> cpus = ChooseCpus(options.threads);
  if (!cpus.ok()) return cpus.status();
  return Benchmark(plan, options).Run(*cpus);
}

}  // namespace kirsch
