// SPDX-License-Identifier: Apache-2.0
// Draws charts as SVG: points and lines over two axes, and stacked bars. The text is the same for the same
// data.
//
// A chart is an <svg> element for a page (page/page.h), which styles it, in the light and in the dark.
// Document makes it a file of its own. Every text in a chart may hold anything: it is escaped.
//
// Example: two points in one series, over axes that LogAxis makes of their values:
//   XyChart chart;
//   chart.name = "Rates";
//   chart.series = {"measured"};
//   chart.x = LogAxis("operations per byte", {3, 250});  // from 1 to 1000
//   chart.y = LogAxis("GFLOP/s", {20, 90});              // from 10 to 100
//   chart.points = {{3, 20, 0, "a"}, {250, 90, 0, "b"}};
//   const std::string svg = Svg(chart);
#ifndef KIRSCH_PAGE_CHART_H_
#define KIRSCH_PAGE_CHART_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kirsch {

// Escapes text for HTML and SVG, as text and as the value of an attribute. Control characters, which no
// document may hold, become '?'; ends of lines and tabs stay.
// Example: a<b&c  becomes  a&lt;b&amp;c
std::string Escaped(std::string_view text);

// The range of values along one side of a chart. `low` is below `high`; values are placed in proportion
// between them, or in proportion of their logarithms.
struct Axis {
  std::string label;  // with the unit
  double low = 0, high = 1;
  bool logarithmic = false;  // both ends are above 0 then
};

// Makes a logarithmic axis from a power of ten to a power of ten, with all `values` above 0 between them. It
// is at least one power long; 1 to 10 if there are no such values. Values of 0, negative ones, and those that
// are not finite are ignored, as they have no place on the axis.
Axis LogAxis(std::string label, const std::vector<double>& values);

// A dot. It is drawn only if its place is within the axes.
struct ChartPoint {
  double x = 0, y = 0;
  int series = 0;
  std::string title;  // what is shown when it is pointed at
  bool large = false;
};

// A straight line between two points, in the units of the axes. Only the part within the axes is drawn, so a
// caller may give ends that are far outside.
struct ChartLine {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  std::string label;  // along it; empty: none
  bool dashed = false;
};

// Points and lines over two axes. Callers set the axes; they do not follow from the points.
struct XyChart {
  std::string name;  // for those who don't see it
  Axis x, y;
  std::vector<std::string> series;  // their names; colours are by place; empty: not in the legend
  std::vector<ChartPoint> points;
  std::vector<ChartLine> lines;
  int width = 460, height = 360;
};
std::string Svg(const XyChart& chart);

// A bar, with a line of text above it: its label and its note.
struct BarRow {
  std::string label;
  std::string note;            // behind the label
  std::vector<double> values;  // by series, one after the other
};
// Bars of one scale, one below the other: the longest takes the whole width. Each is made of the parts that
// its values say, in the colours of their series. The height follows from the number of bars.
struct StackedBars {
  std::string name;
  std::string unit;  // of the values, for what is shown when one is pointed at
  std::vector<std::string> series;
  std::vector<BarRow> rows;
  int width = 460;
};
std::string Svg(const StackedBars& bars);

// Makes an SVG file of a chart: its style, a title, and a white background. `svg` is what Svg returned.
std::string Document(std::string_view title, std::string_view svg);

}  // namespace kirsch

#endif  // KIRSCH_PAGE_CHART_H_
