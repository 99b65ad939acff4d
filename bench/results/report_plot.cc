// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "bench/results/report.h"

namespace kirsch {
namespace {

// All lengths are in pixels.
constexpr double kBar = 9, kGap = 14, kLeft = 60, kTop = 60, kHeight = 300, kBottom = 190, kRight = 90;
constexpr double kLegendEntry = 130, kMinWidth = 480;
constexpr std::array<const char*, 8> kColours = {"#b5123e", "#4e79a7", "#59a14f", "#f28e2b",
                                                 "#76b7b2", "#9c755f", "#b07aa1", "#bab0ac"};

// Text of users, such as specs, may have characters that XML gives a meaning.
std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// Returns the contenders in the order of their bars and colours: ours, then the peers as they first appear.
std::vector<std::string> Contenders(const BenchReport& report) {
  std::vector<std::string> peers;
  for (const BenchResult& result : report.results)
    if (std::find(peers.begin(), peers.end(), result.peer) == peers.end()) peers.push_back(result.peer);
  std::stable_partition(peers.begin(), peers.end(), [](const std::string& peer) { return peer == kOurName; });
  return peers;
}

// Returns the highest peak of the types that were measured.
double HighestPeak(const BenchReport& report) {
  double peak = 0;
  for (const BenchResult& result : report.results) peak = std::max(peak, result.peak_gflops);
  return peak;
}

// Draws one report. The constructor decides all sizes, Draw appends to the text.
class Plot {
 public:
  explicit Plot(const BenchReport& report)
      : report_(report), groups_(GroupBySpec(report)), contenders_(Contenders(report)) {
    double highest = peak_ = HighestPeak(report);
    for (const BenchResult& result : report.results) highest = std::max(highest, result.gflops_median);
    // The axis has at most eight steps of 1, 2 or 5 times a power of ten. It tries 1, 2, 5 and 10 times the
    // power below.
    step_ = std::pow(10, std::floor(std::log10(std::max(highest, 1e-3) / 8)));
    for (double factor : {2.0, 2.5, 2.0})
      if (highest / step_ > 8) step_ *= factor;
    top_value_ = step_ * std::max(1.0, std::ceil(highest / step_));
    group_width_ = kBar * static_cast<double>(contenders_.size()) + kGap;
    const double bars = group_width_ * static_cast<double>(groups_.size());
    // Wide enough for the bars and for the legend.
    width_ =
        kLeft + kRight + std::max({bars, kMinWidth, kLegendEntry * static_cast<double>(contenders_.size())});
  }

  // Draws from back to front: legend and axis, then bars, then the line of the peak over them.
  std::string Draw() {
    const double height = kTop + kHeight + kBottom;
    absl::StrAppendFormat(
        &svg_,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        width_, height, width_, height);
    Text(kLeft, 20, "start",
         absl::StrFormat("GFLOP/s, %d thread%s, operands %s: %s", report_.threads,
                         report_.threads == 1 ? "" : "s", OperandsText(report_), report_.machine.cpu));
    DrawLegend();
    DrawAxis();
    for (size_t i = 0; i < groups_.size(); ++i)
      DrawGroup(groups_[i], kLeft + kGap / 2 + group_width_ * static_cast<double>(i));
    DrawPeak();
    return svg_ + "</svg>\n";
  }

 private:
  // The place of a rate; y grows downwards.
  double Y(double gflops) const { return kTop + kHeight * (1 - gflops / top_value_); }

  void Text(double x, double y, absl::string_view anchor, absl::string_view text) {
    absl::StrAppendFormat(&svg_, "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                          Escape(text));
  }

  void Line(double y, absl::string_view style) {
    absl::StrAppendFormat(&svg_, "<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" %s/>\n", kLeft, y,
                          width_ - kRight, y, style);
  }

  // A bar with a title, which browsers show when the mouse is over it.
  void Bar(double x, double y, double height, size_t contender, absl::string_view title) {
    absl::StrAppendFormat(
        &svg_, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"><title>%s</title></rect>\n", x,
        y, kBar, height, kColours[contender % kColours.size()], Escape(title));
  }

  // A square and a name for each contender.
  void DrawLegend() {
    for (size_t i = 0; i < contenders_.size(); ++i) {
      const double x = kLeft + kLegendEntry * static_cast<double>(i);
      Bar(x, 32, kBar, i, contenders_[i]);
      Text(x + 1.5 * kBar, 40, "start", contenders_[i]);
    }
  }

  // A grey line and a number for each step.
  void DrawAxis() {
    const auto steps = static_cast<int>(std::lround(top_value_ / step_));
    for (int step = 0; step <= steps; ++step) {
      const double value = step * step_;
      Line(Y(value), "stroke=\"#dddddd\"");
      Text(kLeft - 6, Y(value) + 4, "end", absl::StrFormat("%g", value));
    }
  }

  // The bars of one spec, each at its contender's place, and the spec below.
  void DrawGroup(const SpecResults& group, double x) {
    for (const BenchResult& result : group.results) {
      if (!result.correct) continue;
      const size_t at = static_cast<size_t>(std::find(contenders_.begin(), contenders_.end(), result.peer) -
                                            contenders_.begin());
      const double y = Y(result.gflops_median);
      Bar(x + kBar * static_cast<double>(at), y, kTop + kHeight - y, at,
          absl::StrFormat("%s: %.1f %s", result.name, result.gflops_median, result.unit));
    }
    const double middle = x + (group_width_ - kGap) / 2 + 4, base = kTop + kHeight + 12;
    absl::StrAppendFormat(
        &svg_, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\" transform=\"rotate(-60 %g %g)\">%s</text>\n",
        middle, base, middle, base, Escape(group.spec));
  }

  // A dashed line across all groups, if there is a peak.
  void DrawPeak() {
    if (peak_ <= 0) return;
    Line(Y(peak_), "stroke=\"black\" stroke-dasharray=\"6 4\"");
    Text(width_ - kRight + 4, Y(peak_) + 4, "start", absl::StrFormat("peak %.1f", peak_));
  }

  const BenchReport& report_;
  std::vector<SpecResults> groups_;
  std::vector<std::string> contenders_;
  double peak_ = 0, step_ = 1, top_value_ = 1, group_width_ = 0, width_ = 0;
  std::string svg_;
};

}  // namespace

std::string PlotSvg(const BenchReport& report) { return Plot(report).Draw(); }

}  // namespace kirsch
