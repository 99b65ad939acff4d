// SPDX-License-Identifier: Apache-2.0
// Holds what a benchmark found: numbers, who was missing, and who failed. Losers are in it like winners.
#ifndef KIRSCH_BENCH_RESULTS_REPORT_H_
#define KIRSCH_BENCH_RESULTS_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "bench/machine/machine.h"
#include "nlohmann/json_fwd.hpp"

namespace kirsch {

inline constexpr char kOurName[] = "kirsch";
inline constexpr std::string_view kHeaderPeers =
    "header:";  // and a C compiler, of our headers compiled by it

// "header:gcc" is one, "header:" alone is not.
inline bool IsHeaderPeer(std::string_view name) {
  return name.starts_with(kHeaderPeers) && name.size() > kHeaderPeers.size();
}

// One contender's result for one spec.
struct BenchResult {
  std::string spec;    // as it was asked for
  std::string name;    // "kirsch", or the peer with version and core type: "openblas 0.3.21/SkylakeX"
  std::string peer;    // "kirsch", or the peer as asked for: "openblas"; "onednn+packed" where `packed`
  std::string method;  // what was called: "cblas_sgemm"
  std::string unit = "GFLOP/s";  // of gflops_median: "GOP/s" for integers
  size_t item = 0;               // the spec's place in the request
  bool packed = false;           // an operand was packed beforehand, at no charge, so it is no peer of others
  double gflops_median = 0;
  double gflops_spread = 0;  // interquartile range over median
  double seconds_median = 0;
  double predicted_gflops = 0;  // of ours; 0: nothing was predicted
  double peak_gflops = 0;       // of the best instruction that the CPU has for these types
  double peak_share = 0;
  double compulsory_bytes = 0;   // of operands, each read or written once
  double gbytes_per_second = 0;  // these bytes by the median
  double bandwidth_share = 0;    // of the machine's measured one
  bool memory_bound = false;  // moving these bytes takes longer than computing, both at the measured limits
  double max_error = 0;
  double error_share = 0;  // see OutputCheck
  bool correct = true;     // wrong results are reported and count for nothing
  int samples = 0;         // that the estimators saw
  int preempted = 0;       // samples that something else disturbed
  bool disturbed = false;  // so many that they had to be used: the machine was busy
  int sets = 1;            // of weights, which calls took in turn

  bool ours() const { return peer == kOurName; }
};

// A peer that could not be loaded, and why.
struct MissingPeer {
  std::string peer, reason;
};

// A spec that none of the peer's methods takes, mostly because of its types.
struct DeclinedSpec {
  std::string spec, peer;
};

// A contender that died or reported an error at a spec.
struct BenchFailure {
  std::string spec, name, reason;
};

// All of a run.
struct BenchReport {
  Machine machine;
  int threads = 1;
  bool cold = false;
  std::string cold_operands;         // with commas between; empty: all
  bool rotates = false;              // calls take sets of weights in turn
  std::vector<BenchResult> results;  // spec by spec in the order asked for
  std::vector<MissingPeer> missing;
  std::string peers_isa;                     // that peers were held to; empty: to what the CPU has
  std::vector<std::string> not_on_this_cpu;  // peers' kernels, as in BenchResult::name, beyond that
  std::vector<BenchFailure> failed;
  std::vector<DeclinedSpec> declined;
};

// Says where the operands are: "warm", "cold", "warm, but rhs cold", or "warm, but weights rotating".
std::string OperandsText(const BenchReport& report);

// Fills in a result's shares of the machine's limits, from the rest of it and its `peak_gflops`.
void AddShares(const Machine& machine, BenchResult& result);

// How ours compares with a peer, over the specs that both computed rightly. Ratios above 1 are ours being
// faster.
//
//   ours 200, 90 GFLOP/s; peer 100, 100: ratios 2 and 0.9, geometric mean sqrt(2 * 0.9) = 1.34, ahead 1,
//   worst_ratio 0.9
struct BenchSummary {
  int shapes = 0;
  int ahead = 0;  // ratio >= 1
  double geometric_mean = 0;
  double worst_ratio = 0;
  std::string worst_spec;
};

// The results of one spec, the fastest first.
struct SpecResults {
  std::string spec;
  std::vector<BenchResult> results;
  double best_peer_gflops = 0;    // 0: no peer computed it
  double best_packed_gflops = 0;  // of the peers with a packed rhs as well
  bool packed = false;            // ours was given a packed operand

  // Returns the rate that ratios are to; 0 if there is none.
  double best() const { return packed ? best_packed_gflops : best_peer_gflops; }
};

// Groups results that follow each other and are of the same spec.
std::vector<SpecResults> GroupBySpec(const BenchReport& report);
// Compares ours with the best peer. With `packed` the peers that were given a packed rhs count as well; our
// own results with a packed operand count only then.
BenchSummary Summarize(const BenchReport& report, bool packed = false);

// Compares ours with one peer ("onednn+packed"). With `theirs` the ratio is the peer's to ours, as is asked
// of headers.
BenchSummary SummarizeAgainst(const BenchReport& report, const std::string& peer, bool theirs = false);

// Returns the peers with a result, in the order of the first result of each.
std::vector<std::string> PeersOf(const BenchReport& report);

nlohmann::json ToJson(const BenchReport& report);

// Prints the report for people: a block per spec with its contenders, the fastest first, each with its ratio
// to the best peer. Below the blocks are who is missing and why, and the summary. Ends with a newline.
std::string FormatTable(const BenchReport& report);

// Draws the report as an SVG document: GFLOP/s, one group of bars per spec, one colour per contender (ours
// first), and a line at the measured peak. Wrong results have no bar.
std::string PlotSvg(const BenchReport& report);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RESULTS_REPORT_H_
