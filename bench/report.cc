#include "bench/report.h"

#include <algorithm>
#include <cmath>

#include "bench/statistics.h"
#include "nlohmann/json.hpp"

namespace kirsch {
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
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"caches", caches},
          {"kernel", machine.kernel},
          {"compiler", machine.compiler},
          {"hugepages", machine.hugepages},
          {"pinned", machine.pinned},
          {"ghz", machine.ghz},
          {"peak_gflops", machine.peak_gflops},
          {"peak_vector_bytes", machine.peak_vector_bytes},
          {"peak_gflops_256", machine.peak_gflops_256},
          {"peak_gflops_512", machine.peak_gflops_512}};
}

json ToJson(const BenchResult& result) {
  // JSON has no infinity; null stands for an output that is not a number.
  const json error = std::isfinite(result.max_error) ? json(result.max_error) : json(nullptr);
  return {{"spec", result.spec},
          {"name", result.name},
          {"peer", result.peer},
          {"method", result.method},
          {"gflops_median", result.gflops_median},
          {"gflops_spread", result.gflops_spread},
          {"seconds_median", result.seconds_median},
          {"fraction_of_peak", result.fraction_of_peak},
          {"max_error", error},
          {"correct", result.correct},
          {"samples", result.samples},
          {"preempted", result.preempted},
          {"disturbed", result.disturbed}};
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
    if (groups.empty() || groups.back().spec != result.spec) groups.push_back({result.spec, {}, 0});
    SpecResults& group = groups.back();
    group.results.push_back(result);
    if (result.correct && !result.ours())
      group.best_peer_gflops = std::max(group.best_peer_gflops, result.gflops_median);
  }
  for (SpecResults& group : groups)
    std::stable_sort(
        group.results.begin(), group.results.end(),
        [](const BenchResult& a, const BenchResult& b) { return a.gflops_median > b.gflops_median; });
  return groups;
}

BenchSummary Summarize(const BenchReport& report) {
  BenchSummary summary;
  std::vector<double> ratios;
  for (const SpecResults& group : GroupBySpec(report)) {
    for (const BenchResult& result : group.results) {
      if (!result.ours() || !result.correct || group.best_peer_gflops == 0) continue;
      const double ratio = result.gflops_median / group.best_peer_gflops;
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

json ToJson(const BenchReport& report) {
  json results = json::array(), missing = json::array(), failed = json::array();
  for (const BenchResult& result : report.results) results.push_back(ToJson(result));
  for (const MissingPeer& peer : report.missing)
    missing.push_back({{"peer", peer.peer}, {"reason", peer.reason}});
  for (const BenchFailure& failure : report.failed)
    failed.push_back({{"spec", failure.spec}, {"name", failure.name}, {"reason", failure.reason}});
  json machine = ToJson(report.machine);
  machine["threads"] = report.threads;
  return {{"machine", machine}, {"operands", report.cold ? "cold" : "warm"},
          {"results", results}, {"missing", missing},
          {"failed", failed},   {"summary", ToJson(Summarize(report))}};
}

}  // namespace kirsch
