// SPDX-License-Identifier: Apache-2.0
#include "fidelity/corpus.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "search/sampling/random.h"

namespace kirsch {
namespace {

using Json = nlohmann::ordered_json;

// A figure that cannot be told is null.
Json ToJson(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// The figures of a split. A split without specs has none, so all of them are null.
Json ToJson(const std::vector<MeasuredSpec>& specs) {
  const Summary summary = Summarise(specs);
  const auto mean = [&](double value) { return specs.empty() ? Json(nullptr) : Json(value); };
  return {
      {"kendall_tau", ToJson(summary.kendall_tau)},       {"tile_ape", mean(summary.tile_ape)},
      {"within_first_1", mean(summary.within_first_1)},   {"within_first_5", mean(summary.within_first_5)},
      {"within_first_10", mean(summary.within_first_10)}, {"mape", mean(summary.mape)}};
}

Json ToJson(const ChoiceShares& shares) {
  return {{"operation", shares.operation},
          {"specs", shares.specs},
          {"mean_share", shares.mean},
          {"worst_share", shares.worst},
          {"worst_spec", shares.worst_spec}};
}

// All that is needed to fit a model to the program, or to price it again.
Json ToJson(const MeasuredProgram& program) {
  return {{"schedule", program.schedule}, {"predicted_cycles", program.predicted},
          {"cycles", program.cycles},     {"seconds", program.seconds},
          {"spread", program.spread},     {"terms", program.terms},
          {"facts", program.facts}};
}

// A spec with its own figures. `tested`: names of the splits that test a model on it.
Json ToJson(const MeasuredSpec& spec, const std::vector<std::string>& tested) {
  const Predictions predictions = spec.predictions();
  Json json = {{"spec", spec.text},
               {"level", Name(spec.level)},
               {"operation", spec.operation},
               {"ghz", spec.ghz},
               {"tested", tested},
               {"kendall_tau", ToJson(KendallTau(predictions))},
               {"loss", LossOfChoice(predictions)},
               {"mape", ErrorOfChoice(predictions)},
               {"programs", Json::array()}};
  for (const MeasuredProgram& program : spec.programs) json["programs"].push_back(ToJson(program));
  return json;
}

// Tells which of so many specs the random split tests. Both the splits and the JSON ask, with the same seed.
std::vector<bool> DrawTested(size_t specs, uint64_t seed) {
  Random random(seed);
  std::vector<size_t> places(specs);
  for (size_t i = 0; i < specs; ++i) places[i] = i;
  std::vector<bool> tested(specs);
  while (places.size() > specs / 2) tested[TakeOne(&places, &random)] = true;
  return tested;
}

}  // namespace

Predictions MeasuredSpec::predictions() const {
  Predictions predictions;
  for (const MeasuredProgram& program : programs)
    predictions.push_back({program.predicted, program.cycles, program.spread});
  return predictions;
}

Summary Summarise(const std::vector<MeasuredSpec>& specs) {
  Summary summary;
  std::vector<Predictions> times;  // in seconds: the clock need not be the same for all specs
  // Specs whose programs all take the same time have no tau, so it is the mean over the others.
  double tau = 0;
  int with_tau = 0;
  for (const MeasuredSpec& spec : specs) {
    const Predictions predictions = spec.predictions();
    if (const std::optional<double> of_spec = KendallTau(predictions)) tau += *of_spec, ++with_tau;
    summary.within_first_1 += BestWithinFirst(predictions, 1);
    summary.within_first_5 += BestWithinFirst(predictions, 5);
    summary.within_first_10 += BestWithinFirst(predictions, 10);
    summary.mape += ErrorOfChoice(predictions);
    summary.mape_all += MeanAbsoluteError(predictions);
    times.push_back(predictions);
    // Predictions stay in cycles: TileApe only compares them with each other.
    for (size_t i = 0; i < predictions.size(); ++i) times.back()[i].measured = spec.programs[i].seconds;
  }
  summary.specs = specs.size();
  summary.tile_ape = TileApe(times);
  if (with_tau > 0) summary.kendall_tau = tau / with_tau;
  // Sums become means; without specs they stay 0.
  const double count = std::max(1.0, static_cast<double>(specs.size()));
  for (double* mean : {&summary.within_first_1, &summary.within_first_5, &summary.within_first_10,
                       &summary.mape, &summary.mape_all})
    *mean /= count;
  return summary;
}

std::vector<ChoiceShares> SharesByOperation(const std::vector<MeasuredSpec>& specs) {
  std::map<std::string, ChoiceShares> by_operation;
  ChoiceShares all{"all"};
  for (const MeasuredSpec& spec : specs) {
    const double share = ShareOfChoice(spec.predictions());
    ChoiceShares& own = by_operation.try_emplace(spec.operation, ChoiceShares{spec.operation}).first->second;
    // Each spec goes to its operation and to the sum of all.
    for (ChoiceShares* shares : {&own, &all}) {
      if (shares->specs == 0 || share < shares->worst) shares->worst = share, shares->worst_spec = spec.text;
      shares->mean = (shares->mean * static_cast<double>(shares->specs) + share) /
                     static_cast<double>(shares->specs + 1);
      ++shares->specs;
    }
  }
  std::vector<ChoiceShares> list;
  for (auto& [name, shares] : by_operation) list.push_back(std::move(shares));
  if (!list.empty()) list.push_back(std::move(all));
  return list;
}

Splits SplitSpecs(const std::vector<MeasuredSpec>& specs, uint64_t seed) {
  Splits splits;
  const std::vector<bool> tested = DrawTested(specs.size(), seed);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (tested[i]) splits.random.push_back(specs[i]);
    if (!specs[i].IsF32Matmul()) splits.dissimilar.push_back(specs[i]);
  }
  return splits;
}

nlohmann::ordered_json ToJson(const Corpus& corpus, uint64_t seed) {
  const Splits splits = SplitSpecs(corpus.specs, seed);
  Json json = {{"threads", corpus.threads}, {"cold", corpus.residency == Residency::kCold}};
  json["choices"] = Json::array();
  for (const ChoiceShares& shares : SharesByOperation(corpus.specs))
    json["choices"].push_back(ToJson(shares));
  json["splits"] = {{"random", ToJson(splits.random)}, {"dissimilar", ToJson(splits.dissimilar)}};
  json["specs"] = Json::array();
  const std::vector<bool> drawn = DrawTested(corpus.specs.size(), seed);
  for (size_t i = 0; i < corpus.specs.size(); ++i) {
    std::vector<std::string> tested;
    if (drawn[i]) tested.push_back("random");
    if (!corpus.specs[i].IsF32Matmul()) tested.push_back("dissimilar");
    json["specs"].push_back(ToJson(corpus.specs[i], tested));
  }
  return json;
}

}  // namespace kirsch
