// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/results/report.h"
#include "spec/text/cat.h"
#include "spec/text/quantity.h"

namespace kirsch {
namespace {

// Adds every instruction that was measured besides FMA, at its best width. Those that the CPU lacks are
// named.
void AppendOtherPeaks(const Machine& machine, std::string& out) {
  std::vector<std::string> names, present, absent;
  for (const Peak& peak : machine.peaks)
    if (peak.instruction != "fma" && (names.empty() || names.back() != peak.instruction))
      names.push_back(peak.instruction);
  for (const std::string& name : names) {
    const Peak best = machine.BestPeak(name);
    if (best.gflops == 0)
      absent.push_back(name);
    else
      present.push_back(absl::StrFormat("%s %.0f", name, best.gflops));
  }
  if (!present.empty()) Append(&out, "other peaks, GOP/s: ", absl::StrJoin(present, ", "), "\n");
  if (!absent.empty()) Append(&out, "not on this CPU: ", absl::StrJoin(absent, ", "), "\n");
}

// The card above the table.
void AppendMachine(const BenchReport& report, std::string& out) {
  const Machine& machine = report.machine;
  const Peak fma = machine.BestPeak("fma");
  absl::StrAppendFormat(&out, "%s, %.2f GHz, %d thread%s on CPU %s, operands %s\n", machine.cpu, machine.ghz,
                        report.threads, report.threads == 1 ? "" : "s", absl::StrJoin(machine.pinned, ","),
                        OperandsText(report));
  // The limits that shares in the table refer to.
  absl::StrAppendFormat(&out, "FMA peak, measured: %.1f GFLOP/s (%d-bit vectors)\n", fma.gflops,
                        fma.vector_bytes * 8);
  AppendOtherPeaks(machine, out);
  absl::StrAppendFormat(&out, "main memory, measured: %.1f GB/s read by 1 thread", machine.read_gbytes_one);
  if (report.threads > 1)
    absl::StrAppendFormat(&out, ", %.1f GB/s by %d", machine.read_gbytes, report.threads);
  out += "\n";
}

// The lines of one block of the table share this: how wide names are, whether there are columns for memory,
// and the rate that ratios are to.
struct TableColumns {
  int name_width;
  bool memory;
  double best_peer;
};

void AppendHeading(const TableColumns& block, const SpecResults& group, std::string& out) {
  absl::StrAppendFormat(&out, "\n%s\n  %-*s %8s %7s", group.spec, block.name_width, "",
                        group.results.front().unit, "of peak");
  if (block.memory) absl::StrAppendFormat(&out, " %6s %6s", "GB/s", "of mem");
  absl::StrAppendFormat(&out, " %7s %8s %6s %8s  %s\n", "spread", "time", "ratio", "of bound", "method");
}

// A line of the table. A wrong result has no ratio.
void AppendResult(const TableColumns& block, const BenchResult& result, std::string& out) {
  // The ratio is to the best peer; "-" if there is none.
  const std::string ratio = !result.correct ? "WRONG"
                            : block.best_peer == 0
                                ? "-"
                                : absl::StrFormat("%.3f", result.gflops_median / block.best_peer);
  absl::StrAppendFormat(&out, "  %-*s %8.2f %6.1f%%", block.name_width, result.name, result.gflops_median,
                        100 * result.peak_share);
  if (block.memory)
    absl::StrAppendFormat(&out, " %6.1f %5.0f%%", result.gbytes_per_second, 100 * result.bandwidth_share);
  absl::StrAppendFormat(&out, " %5.1f%%%s %8s %6s %8.2g  %s\n", 100 * result.gflops_spread,
                        result.disturbed ? "!" : " ", SecondsText(result.seconds_median), ratio,
                        result.error_share, result.method);
}

// A line that compares two, over all specs that both computed.
void AppendSummary(const BenchSummary& summary, std::string_view ours, std::string_view peers,
                   std::string& out) {
  if (summary.shapes == 0) return;
  absl::StrAppendFormat(&out, "%s / %s: geometric mean %.3f over %d shape%s, ahead on %d, worst %.3f (%s)\n",
                        ours, peers, summary.geometric_mean, summary.shapes, summary.shapes == 1 ? "" : "s",
                        summary.ahead, summary.worst_ratio, summary.worst_spec);
}

// Adds who has nothing for which specs; of several specs the first one and how many more.
void AppendDeclined(const BenchReport& report, std::string& out) {
  std::map<std::string, std::vector<std::string>> specs;
  for (const DeclinedSpec& declined : report.declined) specs[declined.peer].push_back(declined.spec);
  for (const auto& [peer, declined] : specs)
    Append(&out, "not for ", peer, ": ", declined.front(),
           declined.size() == 1 ? "" : Cat(" and ", declined.size() - 1, " more"), "\n");
}

// Adds predictions that can't come true, since the clock that they assume is not this machine's. A result
// above the peak is another matter: it carries out fewer operations than are counted, as Winograd's algorithm
// does.
void AppendAbovePeak(const BenchReport& report, std::string& out) {
  for (const BenchResult& result : report.results)
    if (result.gflops_median <= result.peak_gflops && result.predicted_gflops > result.peak_gflops)
      absl::StrAppendFormat(&out, "above the peak: %s: %.1f %s predicted, but the measured peak is %.1f\n",
                            result.spec, result.predicted_gflops, result.unit, result.peak_gflops);
}

// Explains the marks in the table, where there are any.
void AppendLegend(const BenchReport& report, std::string& out) {
  const auto any = [&report](bool BenchResult::* mark) {
    return std::any_of(report.results.begin(), report.results.end(),
                       [mark](const BenchResult& result) { return result.*mark; });
  };
  if (any(&BenchResult::disturbed)) out += "!: busy machine, do not believe that line\n";
  if (any(&BenchResult::packed))
    out +=
        "+packed: an operand was packed beforehand, at no charge; ratios are to the best peer with our "
        "task\n";
  if (!report.results.empty()) out += "of bound: the largest error, as a share of what it may be\n";
}

}  // namespace

std::string FormatTable(const BenchReport& report) {
  std::string out;
  AppendMachine(report, out);
  // All blocks have the same width of names, so that columns are below each other.
  size_t width = 0;
  for (const BenchResult& result : report.results) width = std::max(width, result.name.size());
  const int name_width = static_cast<int>(width);
  // Columns for memory are there where memory is the limit, or where operands are not in caches.
  for (const SpecResults& group : GroupBySpec(report)) {
    const TableColumns block{name_width, report.cold || report.rotates || group.results.front().memory_bound,
                             group.best()};
    AppendHeading(block, group, out);
    for (const BenchResult& result : group.results) AppendResult(block, result, out);
  }
  out += "\n";
  // Below the table: all that is not in it, and why.
  for (const BenchFailure& failure : report.failed)
    Append(&out, "failed: ", failure.spec, ": ", failure.name, ": ", failure.reason, "\n");
  for (const MissingPeer& peer : report.missing)
    Append(&out, "missing: ", peer.peer, ": ", peer.reason, "\n");
  if (!report.not_on_this_cpu.empty())
    Append(&out, report.peers_isa.empty() ? "not on this CPU: " : "beyond what peers were held to: ",
           absl::StrJoin(report.not_on_this_cpu, ", "), "\n");
  AppendDeclined(report, out);
  AppendAbovePeak(report, out);
  AppendLegend(report, out);
  AppendSummary(Summarize(report), kOurName, "best peer", out);
  if (std::any_of(report.results.begin(), report.results.end(),
                  [](const BenchResult& r) { return r.packed; }))
    AppendSummary(Summarize(report, true), kOurName, "best peer, packed ones too", out);
  const std::vector<std::string> peers = PeersOf(report);
  if (peers.size() > 1)
    for (const std::string& peer : peers) AppendSummary(SummarizeAgainst(report, peer), kOurName, peer, out);
  for (const std::string& peer : peers)
    if (IsHeaderPeer(peer))
      AppendSummary(SummarizeAgainst(report, peer, /*theirs=*/true), peer, kOurName, out);
  return out;
}

}  // namespace kirsch
