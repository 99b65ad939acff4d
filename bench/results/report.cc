// SPDX-License-Identifier: Apache-2.0
#include "bench/results/report.h"

#include <algorithm>
#include <cmath>

#include "absl/functional/function_ref.h"
#include "bench/results/statistics.h"
#include "nlohmann/json.hpp"
#include "spec/text/cat.h"

namespace kirsch {

std::string OperandsText(const BenchReport& report) {
  if (!report.cold) return report.rotates ? "warm, but weights rotating" : "warm";
  return report.cold_operands.empty() ? "cold" : Cat("warm, but ", report.cold_operands, " cold");
}

namespace {

using nlohmann::json;

json ToJson(const Machine& machine) {
  json caches = json::array();
  for (const CacheInfo& cache : machine.caches)
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"bytes", cache.bytes},
                      {"ways", cache.ways},
                      {"shared_by", cache.shared_by}});
  // A rate of 0 means that the CPU lacks the instruction.
  json peaks = json::array();
  for (const Peak& peak : machine.peaks)
    peaks.push_back({{"instruction", peak.instruction},
                     {"vector_bytes", peak.vector_bytes},
                     {"gflops", peak.gflops > 0 ? json(peak.gflops) : json(nullptr)}});
  // The peak of FMA is among the others, and has keys of its own besides.
  const Peak fma = machine.BestPeak("fma");
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"caches", caches},
          {"kernel", machine.kernel},
          {"compiler", machine.compiler},
          {"hugepages", machine.hugepages},
          {"pinned", machine.pinned},
          {"ghz", machine.ghz},
          {"peak_gflops", fma.gflops},
          {"peak_vector_bytes", fma.vector_bytes},
          {"peaks", peaks},
          {"read_gbytes_per_second", machine.read_gbytes},
          {"read_gbytes_per_second_one_thread", machine.read_gbytes_one}};
}

json ToJson(const BenchResult& result) {
  // JSON has no infinity; null stands for an output that is not a number.
  const auto error = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
  return {{"spec", result.spec},
          {"name", result.name},
          {"peer", result.peer},
          {"method", result.method},
          {"gflops_median", result.gflops_median},
          {"gflops_spread", result.gflops_spread},
          {"seconds_median", result.seconds_median},
          {"unit", result.unit},
          {"packed", result.packed},
          {"predicted_gflops", result.predicted_gflops > 0 ? json(result.predicted_gflops) : json(nullptr)},
          {"peak_gflops", result.peak_gflops},
          {"peak_share", result.peak_share},
          {"compulsory_bytes", result.compulsory_bytes},
          {"gbytes_per_second", result.gbytes_per_second},
          {"bandwidth_share", result.bandwidth_share},
          {"memory_bound", result.memory_bound},
          {"max_error", error(result.max_error)},
          {"error_share", error(result.error_share)},
          {"correct", result.correct},
          {"samples", result.samples},
          {"preempted", result.preempted},
          {"disturbed", result.disturbed},
          {"sets", result.sets}};
}

json ToJson(const BenchSummary& summary) {
  return {{"shapes", summary.shapes},
          {"ahead", summary.ahead},
          {"geometric_mean", summary.geometric_mean},
          {"worst_ratio", summary.worst_ratio},
          {"worst_spec", summary.worst_spec}};
}

}  // namespace

std::vector<SpecResults> GroupBySpec(const BenchReport& report) {
  std::vector<SpecResults> groups;
  for (const BenchResult& result : report.results) {
    // Results come spec by spec, so a new spec begins a new group.
    if (groups.empty() || groups.back().spec != result.spec) groups.push_back({result.spec, {}, 0, 0, false});
    SpecResults& group = groups.back();
    group.results.push_back(result);
    group.packed |= result.ours() && result.packed;
    // Only right results of peers can be the best.
    if (!result.correct || result.ours()) continue;
    // Peers with a packed operand count for the second summary only.
    group.best_packed_gflops = std::max(group.best_packed_gflops, result.gflops_median);
    if (!result.packed) group.best_peer_gflops = std::max(group.best_peer_gflops, result.gflops_median);
  }
  for (SpecResults& group : groups)
    std::stable_sort(
        group.results.begin(), group.results.end(),
        [](const BenchResult& a, const BenchResult& b) { return a.gflops_median > b.gflops_median; });
  return groups;
}

namespace {

// Compares ours with the rate that `rate` gives for each spec; 0: it has none. Ours with a packed operand
// counts only if `packed`.
BenchSummary SummarizeRatios(const BenchReport& report, absl::FunctionRef<double(const SpecResults&)> rate,
                             bool packed, bool theirs = false) {
  BenchSummary summary;
  std::vector<double> ratios;
  for (const SpecResults& group : GroupBySpec(report)) {
    const double best = rate(group);
    for (const BenchResult& result : group.results) {
      if (!result.ours() || !result.correct || best == 0 || (result.packed && !packed)) continue;
      // A ratio above 1 is in favour of whoever is asked for.
      const double ratio = theirs ? best / result.gflops_median : result.gflops_median / best;
      if (ratios.empty() || ratio < summary.worst_ratio) {
        summary.worst_ratio = ratio;
        summary.worst_spec = group.spec;
      }
      summary.ahead += ratio >= 1 ? 1 : 0;
      ratios.push_back(ratio);
    }
  }
  summary.shapes = static_cast<int>(ratios.size());
  summary.geometric_mean = GeometricMean(ratios);
  return summary;
}

}  // namespace

void AddShares(const Machine& machine, BenchResult& result) {
  // Shares of limits that were not measured stay 0.
  result.gbytes_per_second = 1e-9 * result.compulsory_bytes / result.seconds_median;
  if (machine.read_gbytes > 0) result.bandwidth_share = result.gbytes_per_second / machine.read_gbytes;
  if (result.peak_gflops > 0) result.peak_share = result.gflops_median / result.peak_gflops;
  // The larger share is that of the limit which is nearer.
  result.memory_bound = result.bandwidth_share > result.peak_share;
}

std::vector<std::string> PeersOf(const BenchReport& report) {
  std::vector<std::string> peers;
  for (const BenchResult& result : report.results)
    if (!result.ours() && std::find(peers.begin(), peers.end(), result.peer) == peers.end())
      peers.push_back(result.peer);
  return peers;
}

BenchSummary Summarize(const BenchReport& report, bool packed) {
  return SummarizeRatios(
      report,
      [packed](const SpecResults& group) {
        return packed ? group.best_packed_gflops : group.best_peer_gflops;
      },
      packed);
}

BenchSummary SummarizeAgainst(const BenchReport& report, const std::string& peer, bool theirs) {
  // The peer's own rate; 0 where it has no right result, which leaves the spec out.
  const auto rate = [&peer](const SpecResults& group) {
    for (const BenchResult& result : group.results)
      if (result.peer == peer && result.correct) return result.gflops_median;
    return 0.0;
  };
  return SummarizeRatios(report, rate, /*packed=*/true, theirs);
}

json ToJson(const BenchReport& report) {
  json results = json::array(), missing = json::array(), failed = json::array(), declined = json::array();
  for (const BenchResult& result : report.results) results.push_back(ToJson(result));
  for (const MissingPeer& peer : report.missing)
    missing.push_back({{"peer", peer.peer}, {"reason", peer.reason}});
  for (const BenchFailure& failure : report.failed)
    failed.push_back({{"spec", failure.spec}, {"name", failure.name}, {"reason", failure.reason}});
  for (const DeclinedSpec& spec : report.declined)
    declined.push_back({{"spec", spec.spec}, {"peer", spec.peer}});
  json machine = ToJson(report.machine);
  machine["threads"] = report.threads;
  // A summary for each peer; for headers the other way round as well.
  json against = json::object(), headers = json::object();
  for (const std::string& peer : PeersOf(report)) {
    against[peer] = ToJson(SummarizeAgainst(report, peer));
    if (IsHeaderPeer(peer)) headers[peer] = ToJson(SummarizeAgainst(report, peer, /*theirs=*/true));
  }
  return {{"declined", declined},
          {"machine", machine},
          {"operands", OperandsText(report)},
          {"results", results},
          {"summary_of_headers", headers},
          {"missing", missing},
          {"peers_isa", report.peers_isa},
          {"not_on_this_cpu", report.not_on_this_cpu},
          {"failed", failed},
          {"summary", ToJson(Summarize(report))},
          {"summary_against", against},
          {"summary_packed", ToJson(Summarize(report, true))}};
}

}  // namespace kirsch
