#include "bench/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace kirsch {
namespace {

std::string FormatSeconds(double seconds) {
  if (seconds < 1e-6) return absl::StrFormat("%.4g ns", seconds * 1e9);
  if (seconds < 1e-3) return absl::StrFormat("%.4g us", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.4g ms", seconds * 1e3);
  return absl::StrFormat("%.4g s", seconds);
}

void AppendMachine(const BenchReport& report, std::string& out) {
  const Machine& machine = report.machine;
  absl::StrAppendFormat(&out, "%s, %.2f GHz, %d thread%s on CPU %s, operands %s\n", machine.cpu, machine.ghz,
                        report.threads, report.threads == 1 ? "" : "s", absl::StrJoin(machine.pinned, ","),
                        report.cold ? "cold" : "warm");
  absl::StrAppendFormat(&out, "FMA peak, measured: %.1f GFLOP/s (%d-bit vectors)\n", machine.peak_gflops,
                        machine.peak_vector_bytes * 8);
}

void AppendResult(const BenchResult& result, double best_peer, int name_width, std::string& out) {
  const std::string ratio = !result.correct  ? "WRONG"
                            : best_peer == 0 ? "-"
                                             : absl::StrFormat("%.3f", result.gflops_median / best_peer);
  absl::StrAppendFormat(&out, "  %-*s %9.2f %6.1f%% %7.1f%% %11s %7s %10.2e  %s%s\n", name_width, result.name,
                        result.gflops_median, 100 * result.fraction_of_peak, 100 * result.gflops_spread,
                        FormatSeconds(result.seconds_median), ratio, result.max_error, result.method,
                        result.disturbed ? "  (busy machine)" : "");
}

void AppendSummary(const BenchReport& report, std::string& out) {
  const BenchSummary summary = Summarize(report);
  if (summary.shapes == 0) return;
  absl::StrAppendFormat(&out,
                        "%s / best peer: geometric mean %.3f over %d shape%s, ahead on %d, worst %.3f (%s)\n",
                        kOurName, summary.geometric_mean, summary.shapes, summary.shapes == 1 ? "" : "s",
                        summary.ahead, summary.worst_ratio, summary.worst_spec);
}

}  // namespace

std::string FormatTable(const BenchReport& report) {
  std::string out;
  AppendMachine(report, out);
  size_t width = 0;
  for (const BenchResult& result : report.results) width = std::max(width, result.name.size());
  const int name_width = static_cast<int>(width);
  for (const SpecResults& group : GroupBySpec(report)) {
    absl::StrAppendFormat(&out, "\n%s\n  %-*s %9s %7s %8s %11s %7s %10s  %s\n", group.spec, name_width, "",
                          "GFLOP/s", "of peak", "spread", "time", "ratio", "max error", "method");
    for (const BenchResult& result : group.results)
      AppendResult(result, group.best_peer_gflops, name_width, out);
  }
  out += "\n";
  for (const BenchFailure& failure : report.failed)
    absl::StrAppend(&out, "failed: ", failure.spec, ": ", failure.name, ": ", failure.reason, "\n");
  for (const MissingPeer& peer : report.missing)
    absl::StrAppend(&out, "missing: ", peer.peer, ": ", peer.reason, "\n");
  AppendSummary(report, out);
  return out;
}

}  // namespace kirsch
