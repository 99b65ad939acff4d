// SPDX-License-Identifier: Apache-2.0
#include "page/chart.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "page/assets.h"

namespace kirsch {
namespace {

// Sizes are in the units of the view box, which are pixels if the chart is shown at its own size. Text has no
// width until a browser draws it, so the legend is laid out with a mean width per letter.
constexpr double kLetter = 6.2, kLine = 17;  // of the font: the mean width of a letter, and of lines
// The margins around the axes hold the numbers and labels of the axes. The legend is the margin at the top.
constexpr double kLeft = 58, kRight = 14, kBottom = 46;

std::string Text(double x, double y, std::string_view attributes, std::string_view text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, attributes, Escaped(text));
}

// The text that a browser shows when the element around it is pointed at; nothing for an empty text.
std::string Title(std::string_view text) {
  return text.empty() ? "" : absl::StrFormat("<title>%s</title>", Escaped(text));
}

// Draws the names of series with their colours, in as many lines as it takes. Sets `height` to what they
// take. Series without a name are left out, but keep their colour. There are eight colours: the ninth series
// has the first one again.
std::string Legend(const std::vector<std::string>& series, double width, double* height) {
  std::string svg;
  double x = kLeft, y = 14;
  for (size_t i = 0; i < series.size(); ++i) {
    if (series[i].empty()) continue;
    const double entry = 30 + kLetter * static_cast<double>(series[i].size());
    if (x > kLeft && x + entry > width) {
      x = kLeft;
      y += kLine;
    }
    absl::StrAppendFormat(&svg, "<rect class=\"c%d\" x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"11\"/>\n",
                          i % 8, x, y - 9);
    svg += Text(x + 16, y, "", series[i]);
    x += entry;
  }
  *height = series.empty() ? 4 : y + 12;
  return svg;
}

// Begins a chart. The first line of its text is the whole opening tag; Document relies on that. The width and
// height let it be shown alone; on a page, the style overrides them.
std::string Open(std::string_view name, double width, double height) {
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %g %g\" width=\"%g\" "
      "height=\"%g\" role=\"img\" aria-label=\"%s\">\n",
      width, height, width, height, Escaped(name));
}

// The text of a tick: 1200 as "1200", 3e9 as "3e9". Plain numbers would be too long beyond these bounds.
std::string Tick(double value) {
  const double size = std::abs(value);
  if (size == 0 || (size >= 1e-3 && size < 1e5)) return absl::StrFormat("%.6g", value);
  const double power = std::floor(std::log10(size));
  return absl::StrFormat("%.3ge%.0f", value / std::pow(10, power), power);
}

// Draws one XyChart. The data area reaches from kLeft to right() and from top_ down to bottom(); y grows
// downwards in SVG, so larger values have smaller coordinates.
class XyDrawing {
 public:
  explicit XyDrawing(const XyChart& chart) : chart_(chart) {}

  std::string Draw() {
    // The legend comes first: the data area begins below it, wherever it ends.
    const std::string legend = Legend(chart_.series, chart_.width, &top_);
    top_ += 8;
    std::string svg = Open(chart_.name, chart_.width, chart_.height) + legend;
    // Axes are drawn before the data, so that grid lines are behind it.
    DrawAxis(chart_.x, true, &svg);
    DrawAxis(chart_.y, false, &svg);
    for (const ChartLine& line : chart_.lines) DrawLine(line, &svg);
    for (const ChartPoint& point : chart_.points) DrawPoint(point, &svg);
    return svg + "</svg>\n";
  }

 private:
  double right() const { return chart_.width - kRight; }
  double bottom() const { return chart_.height - kBottom; }

  // Where a value is on an axis: 0 at the low end, 1 at the high end, less or more if it is outside.
  static double Share(const Axis& axis, double value) {
    if (!axis.logarithmic) return (value - axis.low) / (axis.high - axis.low);
    return (std::log10(value) - std::log10(axis.low)) / (std::log10(axis.high) - std::log10(axis.low));
  }
  double X(double x) const { return kLeft + (right() - kLeft) * Share(chart_.x, x); }
  double Y(double y) const { return bottom() + (top_ - bottom()) * Share(chart_.y, y); }

  // The values that get a grid line. Both loops allow a little more than the range, so that rounding does not
  // lose a tick at an end of the axis.
  static std::vector<double> Ticks(const Axis& axis) {
    std::vector<double> ticks;
    // Example: 1 to 1000 has ticks at 1, 10, 100 and 1000.
    if (axis.logarithmic) {
      for (double power = std::ceil(std::log10(axis.low) - 1e-9); std::pow(10, power) <= axis.high * 1.001;
           ++power)
        ticks.push_back(std::pow(10, power));
      return ticks;
    }
    // The step is 1, 2, 5 or 10 times a power of ten: the least that makes eight steps or fewer.
    // Example: 0 to 30. Steps of 1 and of 2 are too many; 30 / 5 is 6, so ticks are at 0, 5, ..., 30.
    double step = std::pow(10, std::floor(std::log10((axis.high - axis.low) / 8)));
    for (double factor : {2.0, 2.5, 2.0})
      if ((axis.high - axis.low) / step > 8) step *= factor;
    for (double at = std::ceil(axis.low / step); at * step <= axis.high + step / 1000; ++at)
      ticks.push_back(at * step);
    return ticks;
  }

  // Draws the grid lines, the numbers and the label of one axis; `across`: of the x axis.
  void DrawAxis(const Axis& axis, bool across, std::string* svg) const {
    for (double tick : Ticks(axis)) {
      const double x = across ? X(tick) : kLeft, y = across ? bottom() : Y(tick);
      absl::StrAppendFormat(svg, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                            x, across ? top_ : y, across ? x : right(), y);
      *svg += across ? Text(x, bottom() + kLine, "text-anchor=\"middle\" class=\"dim\"", Tick(tick))
                     : Text(kLeft - 6, y + 4, "text-anchor=\"end\" class=\"dim\"", Tick(tick));
    }
    const double middle = (top_ + bottom()) / 2;
    *svg += across ? Text((kLeft + right()) / 2, chart_.height - 8, "text-anchor=\"middle\"", axis.label)
                   : Text(14, middle,
                          absl::StrFormat("text-anchor=\"middle\" transform=\"rotate(-90 14 %.1f)\"", middle),
                          axis.label);
  }

  // Cuts a line off at the axes, as Liang and Barsky do. False: no part of it is within them. A line is a
  // point plus a parameter from 0 to 1 times a distance. Each side of the data area cuts that range of the
  // parameter: at its low end where the line enters, at its high end where it leaves.
  bool Clip(double* x1, double* y1, double* x2, double* y2) const {
    double from = 0, to = 1;
    const double dx = *x2 - *x1, dy = *y2 - *y1;
    // One side: the line is inside where p times the parameter is at most q. If p is 0, the line is parallel
    // to the side, and all of it is on the same side of it.
    const auto cut = [&](double p, double q) {
      if (p == 0) return q >= 0;
      (p < 0 ? from : to) = p < 0 ? std::max(from, q / p) : std::min(to, q / p);
      return from <= to;
    };
    if (!cut(-dx, *x1 - kLeft) || !cut(dx, right() - *x1) || !cut(-dy, *y1 - top_) ||
        !cut(dy, bottom() - *y1))
      return false;
    const double x = *x1, y = *y1;
    *x1 = x + from * dx, *y1 = y + from * dy, *x2 = x + to * dx, *y2 = y + to * dy;
    return true;
  }

  void DrawLine(const ChartLine& line, std::string* svg) {
    double x1 = X(line.x1), y1 = Y(line.y1), x2 = X(line.x2), y2 = Y(line.y2);
    if (!Clip(&x1, &y1, &x2, &y2)) return;
    absl::StrAppendFormat(svg, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                          line.dashed ? "roof dashed" : "roof", x1, y1, x2, y2);
    if (line.label.empty()) return;
    if (y1 == y2) {
      *svg += Text(right() - 4, y1 - 5, "text-anchor=\"end\"", line.label);
      return;
    }
    // A slanted line has its label along it. Four shares take turns, so that the labels of neighbouring
    // parallel lines are not at one height.
    const double share = 0.14 + 0.24 * (slanted_++ % 4);
    const double x = x1 + (x2 - x1) * share, y = y1 + (y2 - y1) * share;
    // SVG takes degrees, and turns clockwise. So does this angle, since y grows downwards.
    const double angle = std::atan2(y2 - y1, x2 - x1) * 180 / std::acos(-1.0);
    *svg += Text(x, y - 4,
                 absl::StrFormat("text-anchor=\"middle\" class=\"halo\" transform=\"rotate(%.1f %.1f %.1f)\"",
                                 angle, x, y),
                 line.label);
  }

  void DrawPoint(const ChartPoint& point, std::string* svg) const {
    const double x = X(point.x), y = Y(point.y);
    // Half a dot may reach over the edge, so a point on an axis is kept although its place is rounded. The
    // form of the condition also leaves out NaN.
    if (!(x >= kLeft - 1 && x <= right() + 1 && y >= top_ - 1 && y <= bottom() + 1)) return;
    absl::StrAppendFormat(svg, "<circle class=\"c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%g\">%s</circle>\n",
                          point.series % 8, x, y, point.large ? 5.5 : 2.6, Title(point.title));
  }

  const XyChart& chart_;
  double top_ = 0;
  int slanted_ = 0;  // lines with labels so far
};

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // The bytes of letters beyond ASCII are above 0x7f in UTF-8, so they stay what they are.
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return escaped;
}

Axis LogAxis(std::string label, const std::vector<double>& values) {
  double least = 0, most = 0;
  for (double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    least = least == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
  if (most == 0) return {std::move(label), 1, 10, true};
  // Where all values are one power of ten, both ends would be equal, so there is a power above it.
  const double low = std::floor(std::log10(least)), high = std::max(low + 1, std::ceil(std::log10(most)));
  return {std::move(label), std::pow(10, low), std::pow(10, high), true};
}

std::string Svg(const XyChart& chart) { return XyDrawing(chart).Draw(); }

std::string Svg(const StackedBars& bars) {
  constexpr double kBar = 18, kRow = 44;
  double top = 0, most = 0;
  // Names of series that some row has a part of. The others stay empty, and so out of the legend.
  std::vector<std::string> shown(bars.series.size());  // those that there is any of
  for (const BarRow& row : bars.rows)
    for (size_t i = 0; i < row.values.size(); ++i)
      if (row.values[i] > 0) shown[i] = bars.series[i];
  const std::string legend = Legend(shown, bars.width, &top);
  for (const BarRow& row : bars.rows) {
    double sum = 0;
    for (double value : row.values) sum += value;
    most = std::max(most, sum);
  }
  const double height = top + kRow * static_cast<double>(bars.rows.size()) + 6;
  std::string svg = Open(bars.name, bars.width, height) + legend;
  double y = top + 6;
  for (const BarRow& row : bars.rows) {
    // The text stands above the bar, and so never needs to fit beside it.
    svg += Text(2, y + 10, "", row.label + (row.note.empty() ? "" : ": " + row.note));
    double x = 2;
    for (size_t i = 0; i < row.values.size(); ++i) {
      // Without any value above 0, no part is drawn; there is no scale then.
      const double width = most > 0 ? row.values[i] / most * (bars.width - 4) : 0;
      if (width > 0)
        absl::StrAppendFormat(
            &svg, "<rect class=\"c%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%g\">%s</rect>\n", i % 8,
            x, y + 15, width, kBar,
            Title(absl::StrFormat("%s: %.0f %s", bars.series[i], row.values[i], bars.unit)));
      x += width;
    }
    y += kRow;
  }
  return svg + "</svg>\n";
}

std::string Document(std::string_view title, std::string_view svg) {
  // The style goes in as the first thing in the element.
  const size_t inside = svg.find('\n') + 1;
  return absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n%s<style>%s</style><title>%s</title>\n<rect "
      "width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s",
      svg.substr(0, inside), kChartStyle, Escaped(title), svg.substr(inside));
}

}  // namespace kirsch
