// SPDX-License-Identifier: Apache-2.0
// Charts as SVG: points and lines over two axes, and stacked bars. The text is the same for the same data.
//
// A chart is an <svg> element for a page (page/page.h), which styles it, in the light and in the dark;
// Document makes it a file of its own. Every text in a chart may hold anything: it is escaped.
#ifndef KIRSCH_PAGE_CHART_H_
#define KIRSCH_PAGE_CHART_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kirsch {

// For text and for values of attributes, in HTML and in SVG. What no document may hold becomes '?'.
std::string Escaped(std::string_view text);

struct Axis {
  std::string label;  // with the unit
  double low = 0, high = 1;
  bool logarithmic = false;  // both ends are above 0 then
};

// From a power of ten to a power of ten, with all `values` above 0 between them; 1 to 10 if there are none.
Axis LogAxis(std::string label, const std::vector<double>& values);

struct ChartPoint {
  double x = 0, y = 0;
  int series = 0;
  std::string title;  // what is shown when it is pointed at
  bool large = false;
};

struct ChartLine {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  std::string label;  // along it; empty: none
  bool dashed = false;
};

// Points and lines outside of the axes are cut off.
struct XyChart {
  std::string name;  // for those who don't see it
  Axis x, y;
  std::vector<std::string> series;  // their names; colours are by place; empty: not in the legend
  std::vector<ChartPoint> points;
  std::vector<ChartLine> lines;
  int width = 460, height = 360;
};
std::string Svg(const XyChart& chart);

struct BarRow {
  std::string label;
  std::string note;            // behind the bar
  std::vector<double> values;  // by series, one after the other
};
struct StackedBars {
  std::string name;
  std::string unit;  // of the values, for what is shown when one is pointed at
  std::vector<std::string> series;
  std::vector<BarRow> rows;
  int width = 460;
};
std::string Svg(const StackedBars& bars);

// An SVG file with a title above the chart.
std::string Document(std::string_view title, std::string_view svg);

}  // namespace kirsch

#endif  // KIRSCH_PAGE_CHART_H_
