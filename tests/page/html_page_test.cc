// SPDX-License-Identifier: Apache-2.0
// Charts and pages: well-formed, deterministic, and harmless whatever names are given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "page/chart.h"
#include "page/page.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&\x01";

XyChart SomeChart(const std::string& name) {
  XyChart chart;
  chart.name = name;
  chart.series = {name, "b"};
  chart.points = {{1, 10, 0, name, true}, {100, 1000, 1, "", false}, {1e9, 1e9, 1, "outside", false}};
  chart.lines = {{1, 1, 1e6, 1e6, name, false}, {1, 50, 1000, 50, name, true}};
  chart.x = LogAxis(name, {1, 100});
  chart.y = LogAxis(name, {10, 1000});
  return chart;
}

TEST(Chart, AxesReachFromPowerToPower) {
  const Axis axis = LogAxis("x", {3, 250, 0, -1});
  EXPECT_DOUBLE_EQ(axis.low, 1);
  EXPECT_DOUBLE_EQ(axis.high, 1000);
  EXPECT_TRUE(LogAxis("x", {}).logarithmic);
  EXPECT_DOUBLE_EQ(LogAxis("x", {10}).high, 100);
}

TEST(Chart, PointsOutsideAreCutOffAndLinesEndAtTheAxes) {
  const std::string svg = Svg(SomeChart("a"));
  EXPECT_THAT(svg, Not(HasSubstr("outside")));
  EXPECT_THAT(svg, HasSubstr("<circle class=\"c0\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(Chart, NamesAreEscaped) {
  const std::string svg = Svg(SomeChart(kHostile));
  const std::string bars = Svg(StackedBars{kHostile, kHostile, {kHostile}, {{kHostile, kHostile, {1}}}});
  for (const std::string& text : {svg, bars, Document(kHostile, svg)}) {
    EXPECT_THAT(text, Not(HasSubstr("<script")));
    EXPECT_THAT(text, Not(HasSubstr("<img")));
    EXPECT_THAT(text, Not(HasSubstr("\x01")));
    EXPECT_THAT(text, HasSubstr("&lt;script&gt;"));
  }
}

TEST(Chart, BarsOfNothingHaveNoWidth) {
  const std::string svg = Svg(StackedBars{"bars", "cycles", {"a", "b"}, {{"x", "", {0, 0}}}});
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("<rect")));
}

TEST(Page, NamesAreEscapedAndNothingIsFetched) {
  const std::string page = PageHtml(
      kHostile, IcicleHtml({{0, 0, 1, 0, kHostile, {{kHostile, kHostile}}}}) + TableHtml({{kHostile}}));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
  EXPECT_THAT(page, Not(HasSubstr("url(")));
  EXPECT_EQ(page, PageHtml(kHostile, IcicleHtml({{0, 0, 1, 0, kHostile, {{kHostile, kHostile}}}}) +
                                         TableHtml({{kHostile}})));
}

TEST(Page, BoxesOfNoWidthAreLeftOut) {
  const std::string html = IcicleHtml({{0, 0, 1, 0, "all", {}}, {1, 0, 0, 1, "nothing", {}}});
  EXPECT_THAT(html, HasSubstr("all"));
  EXPECT_THAT(html, Not(HasSubstr("nothing")));
}

}  // namespace
}  // namespace kirsch
