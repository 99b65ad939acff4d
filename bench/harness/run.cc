// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/run.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "bench/contenders/our_kernel.h"
#include "bench/contenders/peers.h"
#include "bench/harness/machine_limits.h"
#include "bench/harness/roster.h"
#include "bench/harness/rounds.h"
#include "bench/machine/arena.h"
#include "bench/workload/workload.h"
#include "spec/check.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// One run. The order of steps matters: all memory is mapped before the first fork, so that all processes
// share it.
class Benchmark {
 public:
  explicit Benchmark(const BenchRequest& request) : request_(request) {}

  absl::StatusOr<BenchReport> Run() {
    absl::Status status = MakeWorkloads();
    if (status.ok()) status = FindPeers();
    if (status.ok()) status = CompileLoops();
    if (!status.ok()) return status;
    // One arena for all specs, which use it one after the other.
    size_t bytes = 0;
    for (const Workload& workload : workloads_) bytes = std::max(bytes, PlacedBytes(workload));
    const SharedArena arena(bytes);
    if (!arena.ok()) return absl::ResourceExhaustedError("bench: no memory for the operands");
    // Every spec's operands begin at the start of the arena, so they take the same pages.
    for (Workload& workload : workloads_) Place(arena.memory(), workload);
    // The caches of the machine decide how many sets of weights there are.
    KIRSCH_RETURN_IF_ERROR(Describe());
    // Another one for further sets of weights.
    const SharedArena more(MostRotatedBytes());
    if (!more.ok()) return absl::ResourceExhaustedError("bench: no memory for the sets of weights");
    if (request_.sets != 1)
      for (const Workload& workload : workloads_)
        rotated_.push_back(Rotated(workload, SetsOf(workload) - 1, more.memory()));
    // Our kernels are compiled in this process; the workers' forks inherit the code.
    status = MakeKernels();
    if (status.ok()) status = Enter();
    if (!status.ok()) return status;
    for (size_t item = 0; item < workloads_.size(); ++item) Measure(item);
    Finish();
    return std::move(report_);
  }

 private:
  bool graphs() const { return request_.entries.front().graph.has_value(); }

  void Progress(std::string_view line) const {
    if (request_.progress) request_.progress(line);
  }

  // One workload for each entry, in the same order: an item is a number of both.
  absl::Status MakeWorkloads() {
    for (const BenchEntry& entry : request_.entries) {
      KIRSCH_ASSIGN_OR_RETURN(Workload workload, MakeWorkload(entry.kernel(), request_.threads));
      workload.evicted = entry.evicted;
      workloads_.push_back(std::move(workload));
    }
    return absl::OkStatus();
  }

  absl::Status Describe() {
    KIRSCH_ASSIGN_OR_RETURN(report_, StartReport(request_));
    return absl::OkStatus();
  }

  // Returns the sets of weights that calls take in turn; 1 for an entry that has no weights.
  size_t SetsOf(const Workload& workload) const {
    const size_t bytes = RotatedBytes(workload, 1);
    if (request_.sets != kBeyondCaches || bytes == 0)
      return bytes == 0 ? 1 : static_cast<size_t>(request_.sets);
    int64_t cache = 0;
    for (const CacheInfo& info : report_.machine.caches) cache = std::max(cache, info.bytes);
    // The division rounds down: one set more fills the cache, and another one is beyond it.
    return std::min<size_t>(kMostSets, static_cast<size_t>(cache) / bytes + 2);
  }

  // The largest need of any entry; sets of different entries share the memory.
  size_t MostRotatedBytes() const {
    size_t most = 1;
    for (const Workload& workload : workloads_)
      if (const size_t sets = SetsOf(workload); sets > 1)
        most = std::max(most, RotatedBytes(workload, sets - 1));
    return most;
  }

  // Finds peers by their names. Whether they can be loaded shows later.
  absl::Status FindPeers() {
    for (const std::string& name : request_.peers) {
      // Peers that are kernels of ours need no library. Their kernels are made later, behind the same
      // reference.
      if (IsHeaderPeer(name) || (graphs() && name == kPartsPeer)) {
        peers_.push_back({name, {OursBy(made_[name], name)}});
        continue;
      }
      KIRSCH_ASSIGN_OR_RETURN(Peer peer, graphs() ? FindPeerOfGraphs(name, loops_) : FindPeer(name));
      peers_.push_back(std::move(peer));
    }
    return absl::OkStatus();
  }

  // Compiles each set of loops once, before the workers that load them. The reference is always needed,
  // others if a peer asks for them.
  absl::Status CompileLoops() {
    if (!graphs()) return absl::OkStatus();
    std::set<LoopsKind> kinds = {LoopsKind::kReference};
    for (const Peer& peer : peers_)
      if (peer.loops) kinds.insert(*peer.loops);
    // If peers are held to fewer instructions, so are the loops.
    const std::string flags = LoopsFlags(request_.features);
    for (const BenchEntry& entry : request_.entries) {
      Progress(Cat("compiling loops of ", entry.text));
      for (LoopsKind kind : kinds) {
        // The reference runs in this process, which must not load OpenMP.
        const bool parallel = kind != LoopsKind::kReference && request_.threads > 1;
        absl::StatusOr<CompiledLoops> compiled = CompiledLoops::Compile(*entry.graph, kind, parallel, flags);
        if (!compiled.ok())
          return absl::Status(compiled.status().code(),
                              Cat("bench: ", entry.text, ": ", std::string(compiled.status().message())));
        loops_[kind].push_back(*std::move(compiled));
      }
    }
    return absl::OkStatus();
  }

  // Makes our kernels, and those of peers that are kernels of ours made in another way.
  absl::Status MakeKernels() {
    KIRSCH_RETURN_IF_ERROR(Make(request_.ours, kOurName, kernels_));
    for (auto& [name, kernels] : made_) {
      const auto maker = request_.made.find(name);
      KIRSCH_CHECK(maker != request_.made.end());
      const absl::Status made = Make(maker->second, name, kernels);
      if (EndsTheRun(made)) return made;
      if (absl::IsNotFound(made)) Miss(name, made);  // what else goes wrong is in the report, entry by entry
    }
    return absl::OkStatus();
  }

  // Reports a peer that can't be made at all: one line, not one for each entry.
  void Miss(const std::string& name, const absl::Status& why) {
    std::erase_if(peers_, [&](const Peer& peer) { return peer.name == name; });
    std::erase_if(unmade_, [&](const BenchFailure& failure) { return failure.name == name; });
    report_.missing.push_back({name, std::string(why.message())});
  }

  // True if the peer was found to be missing just now.
  bool IsMissing(const Peer& peer) const {
    return !report_.missing.empty() && report_.missing.back().peer == peer.name;
  }

  static bool EndsTheRun(const absl::Status& status) {
    return absl::IsCancelled(status) || absl::IsInternal(status);
  }

  // Makes a kernel for each entry; an entry without one gets an empty kernel, which no contender runs.
  absl::Status Make(const KernelMaker& maker, const std::string& name, std::vector<Kernel>& kernels) {
    absl::Status first;
    size_t made = 0;
    for (const BenchEntry& entry : request_.entries) {
      absl::StatusOr<Kernel> kernel = maker(entry);
      // The user interrupted it, or a bug was found: no report is of use then.
      if (EndsTheRun(kernel.status())) return kernel.status();
      first.Update(kernel.status());
      made += kernel.ok() ? 1 : 0;
      if (!kernel.ok()) unmade_.push_back({entry.text, name, std::string(kernel.status().message())});
      kernels.push_back(kernel.ok() ? *std::move(kernel) : Kernel());
    }
    // Peers are worth measuring even on a kernel that this CPU can't run.
    return made > 0 || absl::IsFailedPrecondition(first) ? absl::OkStatus() : first;
  }

  // The factory of a contender of our kernels. All its processes are forks, so the kernels come along.
  Worker::Factory OursBy(const std::vector<Kernel>& kernels, const std::string& name) const {
    return [this, &kernels, name, scratch = std::make_shared<OurScratch>()] {
      return MakeOurContender(kernels, request_.threads, name, scratch);
    };
  }

  // Starts everyone. Ours and the limits must be able to start; peers may be missing.
  absl::Status Enter() {
    const WorkerOptions options{workloads_, report_.machine.pinned, {}, request_.cold, rotated_};
    // Ours is the first entrant, so its results come first.
    Entrant ours;
    ours.peer = kOurName;
    ours.factory = OursBy(kernels_, kOurName);
    ours.options = options;
    KIRSCH_RETURN_IF_ERROR(StartEntrant(ours));
    entrants_.push_back(std::move(ours));
    KIRSCH_RETURN_IF_ERROR(limits_.Start(report_.machine, options));
    for (const Peer& peer : peers_) {
      Progress(Cat("loading ", peer.name));
      std::vector<Entrant> entered = EnterPeer(peer, options, request_.features, report_);
      if (!CblasPath(peer.name).empty() && IsMissing(peer))  // what is named so is meant
        return absl::InvalidArgumentError(Cat("--against: ", report_.missing.back().reason));
      std::move(entered.begin(), entered.end(), std::back_inserter(entrants_));
    }
    return absl::OkStatus();
  }

  // Fills the operands, computes the reference, and measures the entry. The limits are measured again before
  // each one.
  void Measure(size_t item) {
    const Workload& workload = workloads_[item];
    const std::string& text = request_.entries[item].text;
    Progress(Cat("measuring ", text, " (", item + 1, " of ", workloads_.size(), ")"));
    // The workers see these values at once, since the memory is shared.
    FillInputs(workload);
    FillOutputs(workload);
    if (!rotated_.empty()) CopyWeights(workload, rotated_[item]);
    absl::StatusOr<ExpectedResult> reference =
        ComputeReference(workload, graphs() ? &loops_[LoopsKind::kReference][item] : nullptr);
    if (reference.ok() && graphs()) reference->Widen(request_.tolerance);
    limits_.Measure();
    MeasureSpec({item, text, workload, std::move(reference)}, entrants_, report_);
  }

  // Adds what is known only when the last spec has been measured: the limits, and each result's share of
  // them.
  void Finish() {
    limits_.Describe(report_.machine);
    for (BenchResult& result : report_.results) {
      // By the types of the entry's problem.
      result.peak_gflops = limits_.PeakGflops(workloads_[result.item].problem);
      if (!rotated_.empty()) result.sets = static_cast<int>(rotated_[result.item].size()) + 1;
      AddShares(report_.machine, result);
    }
    report_.failed.insert(report_.failed.end(), unmade_.begin(), unmade_.end());
  }

  const BenchRequest& request_;
  std::vector<Workload> workloads_;
  std::vector<std::vector<Workload>> rotated_;  // of each its other sets of weights; empty: there is one
  LoopsOfGraphs loops_;
  std::vector<Peer> peers_;
  std::vector<Kernel> kernels_;
  std::map<std::string, std::vector<Kernel>> made_;  // of peers that are kernels of ours
  std::vector<BenchFailure> unmade_;
  std::vector<Entrant> entrants_;  // ours first
  Limits limits_;
  BenchReport report_;
};

}  // namespace

absl::StatusOr<BenchReport> StartReport(const BenchRequest& request) {
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<int> cpus, ChooseCpus(request.threads));
  BenchReport report;
  report.machine = DescribeMachine(cpus);
  report.threads = request.threads;
  report.cold = request.cold;
  report.cold_operands = request.cold_operands;
  report.rotates = request.sets != 1;
  report.peers_isa = request.peers_isa;
  return report;
}

absl::StatusOr<BenchReport> RunBench(const BenchRequest& request) {
  if (request.entries.empty())
    return absl::InvalidArgumentError("bench: nothing to measure, expected a spec");
  return Benchmark(request).Run();
}

}  // namespace kirsch
