#include "fidelity/plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace kirsch {
namespace {

constexpr double kLeft = 70, kTop = 50, kSide = 560, kBottom = 50, kRight = 20;
constexpr double kDot = 2.2, kChoice = 4.5, kLegendEntry = 70;
constexpr std::array<const char*, kNumLevels> kColours = {"#bab0ac", "#4e79a7", "#59a14f", "#f28e2b",
                                                          "#b5123e"};

std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

class Scatter {
 public:
  explicit Scatter(const Corpus& corpus) : corpus_(corpus) {
    double least = 1e30, most = 1;
    for (const MeasuredSpec& spec : corpus.specs)
      for (const MeasuredProgram& program : spec.programs) {
        least = std::min({least, program.predicted, program.cycles});
        most = std::max({most, program.predicted, program.cycles});
      }
    first_ = std::floor(std::log10(std::max(1.0, std::min(least, most))));
    last_ = std::max(first_ + 1, std::ceil(std::log10(most)));
  }

  std::string Draw() {
    const double width = kLeft + kSide + kRight, height = kTop + kSide + kBottom;
    absl::StrAppendFormat(
        &svg_,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        width, height, width, height);
    DrawLegend();
    DrawAxes();
    for (const MeasuredSpec& spec : corpus_.specs) DrawSpec(spec);
    return svg_ + "</svg>\n";
  }

 private:
  double Share(double cycles) const { return (std::log10(cycles) - first_) / (last_ - first_); }
  double X(double cycles) const { return kLeft + kSide * Share(cycles); }
  double Y(double cycles) const { return kTop + kSide * (1 - Share(cycles)); }

  void Text(double x, double y, absl::string_view anchor, absl::string_view text) {
    absl::StrAppendFormat(&svg_, "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                          Escape(text));
  }

  void Line(double x1, double y1, double x2, double y2, absl::string_view style) {
    absl::StrAppendFormat(&svg_, "<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" %s/>\n", x1, y1, x2, y2,
                          style);
  }

  void Dot(double x, double y, double radius, Level level, absl::string_view title) {
    absl::StrAppendFormat(&svg_,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\" fill-opacity=\"0.6\">"
                          "<title>%s</title></circle>\n",
                          x, y, radius, kColours[static_cast<size_t>(level)], Escape(title));
  }

  void DrawLegend() {
    Text(kLeft, 18, "start", "Cycles, measured over predicted; operands in:");
    double x = kLeft + 260;
    for (Level level : {Level::kL1, Level::kL2, Level::kL3, Level::kRam}) {
      Dot(x, 14, kChoice, level, std::string(Name(level)));
      Text(x + 8, 18, "start", std::string(Name(level)));
      x += kLegendEntry;
    }
    Text(kLeft, 36, "start", "Large dots are what the model chooses; on the line a prediction is right.");
  }

  void DrawAxes() {
    for (double power = first_; power <= last_; ++power) {
      const double cycles = std::pow(10, power);
      Line(kLeft, Y(cycles), kLeft + kSide, Y(cycles), "stroke=\"#dddddd\"");
      Line(X(cycles), kTop, X(cycles), kTop + kSide, "stroke=\"#dddddd\"");
      Text(kLeft - 6, Y(cycles) + 4, "end", absl::StrFormat("%g", cycles));
      Text(X(cycles), kTop + kSide + 16, "middle", absl::StrFormat("%g", cycles));
    }
    Line(kLeft, kTop + kSide, kLeft + kSide, kTop, "stroke=\"black\" stroke-dasharray=\"6 4\"");
    Text(kLeft + kSide, kTop + kSide + 34, "end", "predicted");
  }

  void DrawSpec(const MeasuredSpec& spec) {
    const std::string name = spec.text.substr(0, spec.text.find('\n'));
    const size_t choice = Choice(spec.predictions());
    for (size_t i = 0; i < spec.programs.size(); ++i) {
      const MeasuredProgram& program = spec.programs[i];
      Dot(X(program.predicted), Y(program.cycles), i == choice ? kChoice : kDot, spec.level,
          absl::StrFormat("%s: %.0f predicted, %.0f measured", name, program.predicted, program.cycles));
    }
  }

  const Corpus& corpus_;
  double first_ = 0, last_ = 1;  // powers of ten at the ends of both axes
  std::string svg_;
};

}  // namespace

std::string ScatterSvg(const Corpus& corpus) { return Scatter(corpus).Draw(); }

}  // namespace kirsch
