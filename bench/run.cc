#include "bench/run.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/limits.h"
#include "bench/our_kernel.h"
#include "bench/rounds.h"

namespace kirsch {
namespace {

constexpr size_t kPage = 4096;

// Memory that this process and all its children share; the first page holds the current problem.
class SharedArena {
 public:
  explicit SharedArena(size_t operand_bytes) : bytes_(kPage + operand_bytes) {
    memory_ =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  ~SharedArena() {
    if (ok()) munmap(memory_, bytes_);
  }

  bool ok() const { return memory_ != MAP_FAILED; }
  Problem* problem() const { return static_cast<Problem*>(memory_); }
  void* operands() const { return static_cast<char*>(memory_) + kPage; }

 private:
  size_t bytes_;
  void* memory_;
};

class Benchmark {
 public:
  Benchmark(const BenchRequest& request, std::vector<Problem> problems, std::vector<Peer> peers)
      : request_(request), problems_(std::move(problems)), peers_(std::move(peers)), arena_(LargestBytes()) {}

  absl::StatusOr<BenchReport> Run(const std::vector<int>& cpus) {
    if (!arena_.ok()) return absl::ResourceExhaustedError("bench: no memory for the operands");
    report_.machine = DescribeMachine(cpus);
    report_.threads = request_.threads;
    report_.cold = request_.cold;
    options_.cpus = cpus;
    options_.problem = arena_.problem();
    options_.cold = request_.cold;
    if (absl::Status status = Enter(); !status.ok()) return status;
    for (size_t item = 0; item < problems_.size(); ++item) Measure(item);
    Finish();
    return std::move(report_);
  }

 private:
  size_t LargestBytes() const {
    size_t bytes = 0;
    for (const Problem& problem : problems_) bytes = std::max(bytes, PlacedBytes(problem));
    return bytes;
  }

  void Progress(std::string_view line) const {
    if (request_.progress) request_.progress(line);
  }

  // Ours and the limits must be able to start; peers may be missing.
  absl::Status Enter() {
    std::vector<OurKernel> kernels;
    for (const BenchItem& item : request_.items) kernels.push_back(item.kernel);
    const int threads = request_.threads;
    Entrant ours;
    ours.peer = kOurName;
    ours.factory = [kernels, threads] { return MakeOurContender(kernels, threads); };
    ours.options = options_;
    if (absl::Status status = StartEntrant(ours); !status.ok()) return status;
    entrants_.push_back(std::move(ours));
    if (absl::Status status = limits_.Start(report_.machine, options_); !status.ok()) return status;
    for (const Peer& peer : peers_) {
      Progress(absl::StrCat("loading ", peer.name));
      for (Entrant& entrant : EnterPeer(peer, options_, report_.missing))
        entrants_.push_back(std::move(entrant));
    }
    return absl::OkStatus();
  }

  void Measure(size_t item) {
    const BenchItem& asked = request_.items[item];
    Progress(absl::StrCat("measuring ", asked.text, " (", item + 1, " of ", problems_.size(), ")"));
    Problem& problem = *arena_.problem();
    problem = problems_[item];
    Place(arena_.operands(), problem);
    FillInputs(problem);
    FillOutput(problem);
    const FilledSpec spec{item, asked.text, &problem, ComputeReference(problem)};
    limits_.Measure();
    MeasureSpec(spec, entrants_, report_);
  }

  // The limits are known when the last spec has been measured.
  void Finish() {
    limits_.Describe(report_.machine);
    for (BenchResult& result : report_.results) {
      const Problem& problem = problems_[result.item];
      result.peak_gflops = limits_.PeakGflops(problem);
      AddShares(report_.machine, result);
    }
  }

  const BenchRequest& request_;
  std::vector<Problem> problems_;
  std::vector<Peer> peers_;
  SharedArena arena_;  // before the processes that use it
  WorkerOptions options_;
  std::vector<Entrant> entrants_;  // ours first
  Limits limits_;
  BenchReport report_;
};

}  // namespace

absl::StatusOr<BenchReport> RunBench(const BenchRequest& request) {
  if (request.items.empty()) return absl::InvalidArgumentError("bench: nothing to measure, expected a spec");
  const absl::StatusOr<std::vector<int>> cpus = ChooseCpus(request.threads);
  if (!cpus.ok()) return cpus.status();
  std::vector<Peer> peers;
  for (const std::string& name : request.peers) {
    absl::StatusOr<Peer> peer = FindPeer(name);
    if (!peer.ok()) return peer.status();
    peers.push_back(*std::move(peer));
  }
  std::vector<Problem> problems;
  for (const BenchItem& item : request.items) {
    const absl::StatusOr<Problem> problem = MakeProblem(item.spec, request.threads);
    if (!problem.ok()) return problem.status();
    problems.push_back(*problem);
  }
  return Benchmark(request, std::move(problems), std::move(peers)).Run(*cpus);
}

}  // namespace kirsch
