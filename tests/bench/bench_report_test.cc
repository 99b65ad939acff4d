// SPDX-License-Identifier: Apache-2.0
// Reports: grouping, summary, JSON, table, plot.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "bench/results/baseline.h"
#include "bench/results/report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spec/text/file.h"

namespace kirsch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

BenchResult Result(const std::string& spec, const std::string& peer, const std::string& name, double gflops) {
  BenchResult result;
  result.spec = spec;
  result.peer = peer;
  result.name = name;
  result.method = "call";
  result.gflops_median = gflops;
  result.seconds_median = 1 / gflops;
  return result;
}

// Ours is ahead on "a" (2x) and behind on "b" (0.5x); on "c" only ours is right; on "d" there is no ours.
BenchReport Sample() {
  BenchReport report;
  report.machine.cpu = "Some <CPU> & co";
  report.machine.peaks = {{"fma", 32, 50}, {"fma", 64, 100}, {"vpdpbusd", 32, 0}, {"vpdpbusd", 64, 400}};
  report.machine.read_gbytes_one = report.machine.read_gbytes = 20;
  report.results = {Result("a", "kirsch", "kirsch", 80),  Result("a", "blas", "blas 1/x", 40),
                    Result("a", "eigen", "eigen 3", 20),  Result("b", "kirsch", "kirsch", 30),
                    Result("b", "blas", "blas 1/y", 60),  Result("b", "eigen", "eigen 3", 10),
                    Result("c", "kirsch", "kirsch", 5),   Result("c", "blas", "blas 1/x", 99),
                    Result("d", "blas", "blas 1/x", 12.5)};
  report.results[7].correct = false;
  report.results[7].max_error = INFINITY;
  report.results[2].disturbed = true;
  report.missing = {{"mkl", "not there"}};
  report.not_on_this_cpu = {"blas 1/z", "eigen 3/w"};
  report.results[0].predicted_gflops = 120;
  report.results[3].predicted_gflops = 90;
  report.failed = {{"d", "kirsch", "killed by signal 4"}};
  report.declined = {{"a", "libxsmm"}, {"b", "libxsmm"}, {"c", "mkl"}};
  for (BenchResult& result : report.results) {
    result.peak_gflops = 100;
    AddShares(report.machine, result);
  }
  return report;
}

TEST(Report, GroupsAreSortedAndWrongResultsCountForNothing) {
  const std::vector<SpecResults> groups = GroupBySpec(Sample());
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[1].results[0].name, "blas 1/y");
  EXPECT_EQ(groups[1].results[2].name, "eigen 3");
  EXPECT_EQ(groups[1].best_peer_gflops, 60);
  EXPECT_EQ(groups[2].best_peer_gflops, 0);
}

TEST(Report, SummaryComparesWithTheBestPeerOnly) {
  const BenchSummary summary = Summarize(Sample());
  EXPECT_EQ(summary.shapes, 2);
  EXPECT_EQ(summary.ahead, 1);
  EXPECT_DOUBLE_EQ(summary.geometric_mean, 1);
  EXPECT_DOUBLE_EQ(summary.worst_ratio, 0.5);
  EXPECT_EQ(summary.worst_spec, "b");
}

TEST(Report, AWrongKernelOfOursIsNeverAhead) {
  BenchReport report = Sample();
  report.results[0].correct = false;
  const BenchSummary summary = Summarize(report);
  EXPECT_EQ(summary.shapes, 1);
  EXPECT_EQ(summary.ahead, 0);
}

TEST(Report, JsonHoldsWhatOtherWorkReads) {
  const nlohmann::json json = nlohmann::json::parse(ToJson(Sample()).dump());
  EXPECT_EQ(json["machine"]["cpu"], "Some <CPU> & co");
  EXPECT_EQ(json["machine"]["peak_gflops"], 100);
  EXPECT_EQ(json["machine"]["threads"], 1);
  ASSERT_EQ(json["results"].size(), 9u);
  for (const char* key :
       {"spec", "name", "gflops_median", "gflops_spread", "seconds_median", "peak_share", "max_error"})
    EXPECT_TRUE(json["results"][0].contains(key)) << key;
  EXPECT_TRUE(json["results"][7]["max_error"].is_null());
  EXPECT_EQ(json["results"][7]["correct"], false);
  EXPECT_EQ(json["missing"][0]["peer"], "mkl");
  EXPECT_EQ(json["failed"][0]["reason"], "killed by signal 4");
  EXPECT_EQ(json["summary"]["worst_spec"], "b");
}

TEST(Report, TablePrintsLosersToo) {
  const std::string table = FormatTable(Sample());
  for (const char* text :
       {"eigen 3", "0.0%!", "!: busy machine", "0.500", "2.000", "WRONG", "missing: mkl: not there",
        "failed: d: kirsch: killed by signal 4", "100.0 GFLOP/s (512-bit vectors)", "vpdpbusd 400",
        "of bound", "not on this CPU: blas 1/z, eigen 3/w\n",
        "above the peak: a: 120.0 GFLOP/s predicted, but the measured peak is 100.0\n",
        "20.0 GB/s read by 1 thread", "not for libxsmm: a and 1 more", "not for mkl: c\n",
        "geometric mean 1.000 over 2 shapes, ahead on 1, worst 0.500 (b)"})
    EXPECT_THAT(table, HasSubstr(text));
  EXPECT_THAT(table, Not(HasSubstr("90.0 GFLOP/s predicted")));
  EXPECT_LT(table.find("blas 1/y"), table.find("kirsch", table.find("\nb\n"))) << "fastest first";
}

// One shape at the limit of memory, one at that of arithmetic: 10 GB/s of 20, 80 GFLOP/s of 100.
BenchReport TwoLimits() {
  BenchReport report;
  report.machine.read_gbytes = 20;
  report.results = {Result("vector", "kirsch", "kirsch", 10), Result("vector", "onednn", "onednn 2/isa", 8),
                    Result("vector", "onednn+packed", "onednn 2/isa", 20),
                    Result("cube", "kirsch", "kirsch", 80)};
  for (BenchResult& result : report.results) {
    result.seconds_median = 1;
    result.compulsory_bytes = result.spec == "vector" ? 1e9 * result.gflops_median : 1e9;
    result.peak_gflops = 100;
    result.unit = "GOP/s";
    AddShares(report.machine, result);
  }
  report.results[2].packed = true;
  return report;
}

// The lines of the table's block for the spec.
std::vector<std::string> Block(const std::string& table, const std::string& spec) {
  const std::vector<std::string> blocks = absl::StrSplit(table, "\n\n");
  for (const std::string& block : blocks)
    if (block.starts_with(spec + "\n")) return absl::StrSplit(block, '\n');
  return {};
}

TEST(Report, EachPeerHasASummaryOfItsOwn) {
  const BenchReport report = TwoLimits();
  EXPECT_EQ(PeersOf(report), (std::vector<std::string>{"onednn", "onednn+packed"}));
  EXPECT_EQ(SummarizeAgainst(report, "onednn").shapes, 1);
  EXPECT_EQ(SummarizeAgainst(report, "onednn").geometric_mean, 1.25);
  EXPECT_EQ(SummarizeAgainst(report, "onednn+packed").geometric_mean, 0.5);
  EXPECT_EQ(SummarizeAgainst(report, "mkl").shapes, 0);
  EXPECT_EQ(ToJson(report)["summary_against"]["onednn+packed"]["worst_ratio"], 0.5);
  EXPECT_THAT(FormatTable(report), HasSubstr("kirsch / onednn+packed: geometric mean 0.500 over 1 shape"));
  BenchReport wrong = report;
  wrong.results[1].correct = false;
  EXPECT_EQ(SummarizeAgainst(wrong, "onednn").shapes, 0);
}

TEST(Report, SharesAreOfTheLimits) {
  const BenchReport report = TwoLimits();
  EXPECT_DOUBLE_EQ(report.results[0].bandwidth_share, 0.5);
  EXPECT_DOUBLE_EQ(report.results[0].peak_share, 0.1);
  EXPECT_TRUE(report.results[0].memory_bound);
  EXPECT_DOUBLE_EQ(report.results[3].bandwidth_share, 0.05);
  EXPECT_FALSE(report.results[3].memory_bound);
}

TEST(Report, BytesPerSecondAreShownWhereMemoryIsTheLimit) {
  BenchReport report = TwoLimits();
  EXPECT_THAT(Block(FormatTable(report), "vector")[1], AllOf(HasSubstr("GOP/s"), HasSubstr("of mem")));
  EXPECT_THAT(Block(FormatTable(report), "vector")[3], AllOf(HasSubstr(" 10.0 "), HasSubstr(" 50% ")));
  EXPECT_THAT(Block(FormatTable(report), "cube")[1], Not(HasSubstr("of mem")));
  report.cold = true;
  EXPECT_THAT(Block(FormatTable(report), "cube")[1], HasSubstr("of mem"));
  EXPECT_DOUBLE_EQ(ToJson(report)["results"][0]["gbytes_per_second"].get<double>(), 10);
}

TEST(Report, APeerWithAPackedRhsIsNoPeerOfOneThatPacksIt) {
  const BenchReport report = TwoLimits();
  EXPECT_DOUBLE_EQ(Summarize(report).geometric_mean, 1.25);
  EXPECT_DOUBLE_EQ(Summarize(report, /*packed=*/true).geometric_mean, 0.5);
  EXPECT_THAT(FormatTable(report), AllOf(HasSubstr("best peer: geometric mean 1.250"),
                                         HasSubstr("packed ones too: geometric mean 0.500")));
}

TEST(Report, OursWithAPackedOperandIsBesideAllPeers) {
  BenchReport report = TwoLimits();
  report.results[0].packed = true;
  EXPECT_EQ(Summarize(report).shapes, 0);
  EXPECT_DOUBLE_EQ(Summarize(report, /*packed=*/true).geometric_mean, 0.5);
  EXPECT_THAT(Block(FormatTable(report), "vector")[3], HasSubstr(" 0.500 "));
}

TEST(Report, LinesAreNarrow) {
  BenchReport report = TwoLimits();
  report.cold = true;
  for (BenchResult& result : report.results) {
    result.name = "onednn 2.6.3/avx512_core_bf16";
    result.method = "matmul+packed";
    result.gflops_median = 12345.67;
    result.gbytes_per_second = 1234.5;
    result.disturbed = true;
    result.seconds_median = 0.1234567;
  }
  const std::vector<std::string> lines = absl::StrSplit(FormatTable(report), '\n');
  for (const std::string& line : lines) EXPECT_LE(line.size(), 110u) << line;
}

TEST(Report, AnEmptyReportIsPrintable) {
  EXPECT_THAT(FormatTable(BenchReport()), Not(HasSubstr("geometric mean")));
  EXPECT_THAT(PlotSvg(BenchReport()), HasSubstr("</svg>"));
  EXPECT_TRUE(ToJson(BenchReport())["results"].empty());
}

// Every tag closed in order, every attribute quoted, no stray '<' or '&'. Enough XML for what the plot
// writes.
std::string XmlFault(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '&') {
      const std::string entity = text.substr(at, text.find(';', at) - at);
      if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot")
        return "entity " + entity;
    }
    if (text[at] != '<') continue;
    const size_t end = text.find('>', at);
    if (end == std::string::npos) return "open tag";
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0 || tag.find('<') != std::string::npos) return tag;
    const std::string name = tag.substr(tag[0] == '/', tag.find(' ') - (tag[0] == '/'));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return "end of " + name;
      open.pop_back();
    } else if (tag.back() != '/' && tag.back() != '?') {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : "unclosed " + open.back();
}

TEST(Plot, IsWellFormed) {
  EXPECT_EQ(XmlFault(PlotSvg(Sample())), "");
  EXPECT_NE(XmlFault("<svg><g></svg>"), "");
  EXPECT_NE(XmlFault("<svg>a & b</svg>"), "");
}

TEST(Plot, HasABarPerRightResultAndThePeak) {
  const std::string svg = PlotSvg(Sample());
  size_t bars = 0;
  for (size_t at = svg.find(" GFLOP/s</title>"); at != std::string::npos;
       at = svg.find(" GFLOP/s</title>", at + 1))
    ++bars;
  EXPECT_EQ(bars, 8u);
  EXPECT_THAT(svg, HasSubstr("peak 100.0"));
  EXPECT_THAT(svg, HasSubstr("Some &lt;CPU&gt; &amp; co"));
}

// What an earlier run wrote, read again.
absl::StatusOr<Baseline> Written(const BenchReport& report) {
  const std::string file = ::testing::TempDir() + "/baseline.json";
  EXPECT_TRUE(WriteFile(file, ToJson(report).dump()).ok());
  return ReadBaseline(file);
}

TEST(Baseline, OnlyWhatIsBeyondBothSpreadsIsSlower) {
  BenchReport before = Sample();
  for (BenchResult& result : before.results) result.gflops_spread = 0.04;
  const absl::StatusOr<Baseline> baseline = Written(before);
  ASSERT_TRUE(baseline.ok()) << baseline.status();
  BenchReport now = before;
  now.results[0].gflops_median = 80 * 0.97;  // of a
  now.results[3].gflops_median = 30 * 0.95;  // of b
  now.results[6].correct = false;            // of c
  const absl::StatusOr<std::vector<RateChange>> changes = ChangesSince(*baseline, now);
  ASSERT_TRUE(changes.ok()) << changes.status();
  ASSERT_EQ(changes->size(), 2u);
  EXPECT_EQ(changes->front().spec, "a");
  EXPECT_FALSE(changes->front().slower);
  EXPECT_TRUE(changes->back().slower);
  EXPECT_NEAR(changes->back().ratio(), 0.95, 1e-12);
  EXPECT_THAT(FormatChanges(*changes, "old.json"),
              AllOf(HasSubstr("kirsch beside old.json:\n"),
                    HasSubstr("   0.950      30.00 ->     28.50  b  slower beyond both spreads\n"),
                    HasSubstr("now / before: geometric mean 0.960 over 2 shapes, slower 1\n")));
  EXPECT_EQ(ToJson(*changes, "old.json")["results"][1]["slower"], true);
}

TEST(Baseline, OfAnotherSettingIsRefused) {
  const absl::StatusOr<Baseline> baseline = Written(Sample());
  ASSERT_TRUE(baseline.ok()) << baseline.status();
  BenchReport cold = Sample(), rotates = Sample(), other = Sample(), none = Sample();
  const std::vector<std::string> specs = {"new", "b"};
  EXPECT_TRUE(CheckComparable(*baseline, Sample(), specs).ok());
  cold.cold = true;
  rotates.rotates = true;
  other.machine.cpu = "Another";
  for (BenchResult& result : none.results) result.spec += "x";
  EXPECT_THAT(
      std::string(CheckComparable(*baseline, cold, specs).message()),
      HasSubstr("baseline.json: expected a report of Some <CPU> & co, 1 thread, operands cold, got Some "
                "<CPU> & co, 1 thread, operands warm"));
  EXPECT_FALSE(CheckComparable(*baseline, rotates, specs).ok());
  EXPECT_FALSE(CheckComparable(*baseline, other, specs).ok());
  EXPECT_THAT(std::string(CheckComparable(*baseline, Sample(), {"new"}).message()),
              HasSubstr("expected a report with results of ours for the same specs, got none"));
  EXPECT_THAT(std::string(ChangesSince(*baseline, none).status().message()),
              HasSubstr("expected a report with results of ours for the same specs, got none"));
}

TEST(Baseline, ErrorsSayWhere) {
  const std::string file = ::testing::TempDir() + "/wrong.json";
  const auto error_of = [&](const std::string& text) {
    EXPECT_TRUE(WriteFile(file, text).ok());
    return std::string(ReadBaseline(file).status().message());
  };
  EXPECT_THAT(error_of("{"), HasSubstr("wrong.json:1:2: "));
  EXPECT_THAT(error_of("{\"machine\": 3}"),
              HasSubstr("wrong.json:1:13: expected the machine of a bench report, got 3"));
  EXPECT_FALSE(ReadBaseline("/nonexistent.json").ok());
}

}  // namespace
}  // namespace kirsch
