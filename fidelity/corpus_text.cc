// SPDX-License-Identifier: Apache-2.0
#include "fidelity/corpus_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "page/predictions.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr size_t kWorst = 3;  // of each kind

// A tau that cannot be told is a dash of the same width.
std::string Tau(const std::optional<double>& tau) {
  return tau ? absl::StrFormat("%6.3f", *tau) : std::string("     -");
}

// The first line of a text: kernels have several, and a table has room for one.
std::string Head(const std::string& text) { return text.substr(0, text.find('\n')); }

// The width of the first column.
size_t WidthOf(const std::vector<MeasuredSpec>& specs) {
  size_t width = 0;
  for (const MeasuredSpec& spec : specs) width = std::max(width, Head(spec.text).size());
  return width;
}

// A line of the table: the figures of one spec, and the model's choice as predicted and as measured.
void AppendSpec(const MeasuredSpec& spec, size_t width, std::string* out) {
  const Predictions predictions = spec.predictions();
  const MeasuredProgram& choice = spec.programs[Chosen(predictions)];
  absl::StrAppendFormat(out, "  %-*s  %3s %4d  %s  %5.1f%%  %12.0f %12.0f  %+6.1f%%  %5.1f%%\n",
                        static_cast<int>(width), Head(spec.text), std::string(Name(spec.level)),
                        spec.programs.size(), Tau(KendallTau(predictions)), 100 * LossOfChoice(predictions),
                        choice.predicted, choice.cycles, 100 * (choice.predicted / choice.cycles - 1),
                        100 * MeanAbsoluteError(predictions));
}

// A line for a group of specs; none for an empty group.
void AppendSummary(std::string_view name, size_t width, const std::vector<MeasuredSpec>& specs,
                   std::string* out) {
  if (specs.empty()) return;
  const Summary summary = Summarise(specs);
  absl::StrAppendFormat(out, "  %-*s  %5d  %s  %5.1f%%  %4.0f%% %4.0f%% %4.0f%%  %5.1f%%  %5.1f%%\n",
                        static_cast<int>(width), std::string(name), summary.specs, Tau(summary.kendall_tau),
                        100 * summary.tile_ape, 100 * summary.within_first_1, 100 * summary.within_first_5,
                        100 * summary.within_first_10, 100 * summary.mape, 100 * summary.mape_all);
}

// Groups by level, by operation and by split. A spec is in several of them.
void AppendSummaries(const std::vector<MeasuredSpec>& specs, uint64_t seed, std::string* out) {
  std::map<std::string, std::vector<MeasuredSpec>> by_level, by_operation;
  for (const MeasuredSpec& spec : specs) {
    by_level[std::string(Name(spec.level))].push_back(spec);
    by_operation[spec.operation].push_back(spec);
  }
  size_t width = std::string_view("dissimilar").size();
  for (const auto& [name, group] : by_operation) width = std::max(width, name.size());
  absl::StrAppendFormat(out, "\n  %-*s  specs     tau  tile-APE  in first 1, 5, 10  error  of all\n",
                        static_cast<int>(width), "");
  for (const auto& [name, group] : by_level) AppendSummary(name, width, group, out);
  for (const auto& [name, group] : by_operation) AppendSummary(name, width, group, out);
  const Splits splits = SplitSpecs(specs, seed);
  AppendSummary("random", width, splits.random, out);
  AppendSummary("dissimilar", width, splits.dissimilar, out);
  AppendSummary("all", width, specs, out);
}

// The share of the best speed that choices reach, by operation.
void AppendShares(const std::vector<MeasuredSpec>& specs, std::string* out) {
  const std::vector<ChoiceShares> all = SharesByOperation(specs);
  size_t width = 0;
  for (const ChoiceShares& shares : all) width = std::max(width, shares.operation.size());
  absl::StrAppendFormat(out, "\n  %-*s  specs  share of the best: mean, worst\n", static_cast<int>(width),
                        "");
  for (const ChoiceShares& shares : all)
    absl::StrAppendFormat(out, "  %-*s  %5d  %25.3f  %5.3f  %s\n", static_cast<int>(width), shares.operation,
                          shares.specs, shares.mean, shares.worst, Head(shares.worst_spec));
}

// The terms of a prediction, the largest first: "FMA 61%, move L3 30%, store 9%". Terms of less than 1 % are
// left out.
std::string TermsText(const MeasuredProgram& program) {
  std::vector<std::pair<double, std::string>> terms;
  for (const auto& [name, cycles] : program.terms)
    if (cycles >= 0.01 * program.predicted) terms.push_back({-cycles, name});
  std::sort(terms.begin(), terms.end());
  std::vector<std::string> texts;
  for (const auto& [cycles, name] : terms)
    texts.push_back(absl::StrFormat("%s %.0f%%", name, -100 * cycles / program.predicted));
  return Join(texts, ", ");
}

// A program with its schedule, indented.
void AppendProgram(std::string_view what, const MeasuredProgram& program, std::string* out) {
  absl::StrAppendFormat(out, "%s: %.0f cycles predicted, %.0f measured (spread %.1f%%); %s\n",
                        std::string(what), program.predicted, program.cycles, 100 * program.spread,
                        TermsText(program));
  for (size_t from = 0; from < program.schedule.size();) {
    const size_t end = std::min(program.schedule.find('\n', from), program.schedule.size());
    Append(out, "    ", program.schedule.substr(from, end - from), "\n");
    from = end + 1;
  }
}

// The specs where the choice loses most, each with the program that would have been best. Losses of
// kLeastDifference at most are left out.
void AppendWorstChoices(const std::vector<MeasuredSpec>& specs, std::string* out) {
  std::vector<std::pair<double, const MeasuredSpec*>> worst;
  for (const MeasuredSpec& spec : specs)
    if (const double loss = LossOfChoice(spec.predictions()); loss > kLeastDifference)
      worst.push_back({-loss, &spec});
  std::sort(worst.begin(), worst.end());
  worst.resize(std::min(worst.size(), kWorst));
  for (const auto& [loss, spec] : worst) {
    absl::StrAppendFormat(out, "\n%s: the choice loses %.1f%%\n", spec->text, -100 * loss);
    // By measured cycles; the choice is by predicted ones.
    const auto best = std::min_element(
        spec->programs.begin(), spec->programs.end(),
        [](const MeasuredProgram& a, const MeasuredProgram& b) { return a.cycles < b.cycles; });
    AppendProgram("  chosen", spec->programs[Chosen(spec->predictions())], out);
    AppendProgram("  best", *best, out);
  }
}

// How far off a prediction is: twice as much is as bad as half as much.
double Offness(const MeasuredProgram& program) {
  return std::abs(std::log(program.predicted / program.cycles));
}

// The programs that are furthest off, one of each spec at most.
void AppendFurthestOff(const std::vector<MeasuredSpec>& specs, std::string* out) {
  std::vector<std::pair<const MeasuredSpec*, const MeasuredProgram*>> worst;
  for (const MeasuredSpec& spec : specs)
    worst.push_back({&spec, &*std::max_element(spec.programs.begin(), spec.programs.end(),
                                               [](const MeasuredProgram& a, const MeasuredProgram& b) {
                                                 return Offness(a) < Offness(b);
                                               })});
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto& a, const auto& b) { return Offness(*a.second) > Offness(*b.second); });
  worst.resize(std::min(worst.size(), kWorst));
  for (const auto& [spec, program] : worst) {
    Append(out, "\n", spec->text, "\n");
    AppendProgram("  furthest off", *program, out);
  }
}

}  // namespace

std::string FormatTable(const Corpus& corpus, uint64_t seed) {
  std::string out;
  const size_t width = WidthOf(corpus.specs);
  absl::StrAppendFormat(&out,
                        "  %-*s  level  n     tau    loss     predicted     measured    error  of all\n",
                        static_cast<int>(width), "");
  for (const MeasuredSpec& spec : corpus.specs) AppendSpec(spec, width, &out);
  AppendSummaries(corpus.specs, seed, &out);
  AppendShares(corpus.specs, &out);
  AppendWorstChoices(corpus.specs, &out);
  AppendFurthestOff(corpus.specs, &out);
  for (const LeftOut& left_out : corpus.left_out)
    Append(&out, "\nleft out: ", Head(left_out.text), ": ", left_out.reason, "\n");
  for (const std::string& wrong : corpus.wrong) Append(&out, "\nWRONG: ", wrong, "\n");
  return out;
}

std::string ScatterSvg(const Corpus& corpus) {
  std::vector<PredictedProgram> predictions;
  for (const MeasuredSpec& spec : corpus.specs) {
    // The plot marks the choice of each spec.
    const size_t choice = Chosen(spec.predictions());
    for (size_t i = 0; i < spec.programs.size(); ++i)
      predictions.push_back(
          {spec.text, Index(spec.level), spec.programs[i].predicted, spec.programs[i].cycles, i == choice});
  }
  return PredictionsSvg({kLevelNames.begin(), kLevelNames.end()}, predictions);
}

}  // namespace kirsch
