// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "bench/results/statistics.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Of an observation that is off by more than this many times its noise, only the amount counts, not the
// square.
constexpr double kHuber = 1.5;
// How much less is asked of predictions the further a program is from the optimum.
constexpr double kCare = 0.3;
constexpr double kStep = 0.02;  // of differences, in logarithms
constexpr int kMostSteps = 30;
constexpr double kLittle = 1e-3;  // a step that gains a smaller share of the loss is the last
// A key is known when the observations leave it so much less room than it had.
constexpr double kKnown = 0.5;
// What matters, in the loss: a residual of one standard deviation.
constexpr double kMatters = 1;
// Values that keys that count are tried at, beside the one they have.
constexpr double kFactors[] = {0.5, 0.71, 1.41, 2};

// A level is nowhere cheaper than one that is closer, or relaxed specs would be no bounds
// (search/solver/relaxation.h) and the search slow: what noise has turned round is made equal.
Target Ordered(Target target) {
  for (Level near : {Level::kL2, Level::kL3}) {
    const MemoryLevel& closer = target.at(near);
    MemoryLevel& level = target.memory[static_cast<size_t>(near) + 1];
    for (double MemoryLevel::* key :
         {&MemoryLevel::cycles_per_line, &MemoryLevel::shared_cycles_per_line,
          &MemoryLevel::unstreamed_cycles_per_line, &MemoryLevel::ramp_lines, &MemoryLevel::run_cycles,
          &MemoryLevel::single_stream_cycles_per_line, &MemoryLevel::short_run_cycles_per_line,
          &MemoryLevel::set_conflict_cycles_per_line, &MemoryLevel::unprefetched_cycles_per_line,
          &MemoryLevel::prefetched_cycles_per_line, &MemoryLevel::lhs_contention_cycles_per_line,
          &MemoryLevel::cycles_per_page, &MemoryLevel::write_factor})
      level.*key = std::max(level.*key, closer.*key);
    level.prefetch_lines = std::max(level.prefetch_lines, closer.prefetch_lines);
    level.streams = std::min(level.streams, closer.streams);
    level.prefetch_streams = std::min(level.prefetch_streams, closer.prefetch_streams);
    level.overlap = std::min(level.overlap, closer.overlap);
  }
  return target;
}

class Fitter {
 public:
  Fitter(const Target& start, const std::vector<CostKey>& keys, const std::vector<Observation>& observations,
         const FitOptions& options)
      : target_(start), keys_(keys), observations_(observations), options_(options) {
    for (const Observation& observation : observations)
      noise_.push_back(std::hypot(options.noise, observation.spread, kCare * observation.distance));
    for (const CostKey& key : keys) {
      first_.push_back(key.get(start));
      start_.push_back(Place(key, first_.back()));
      free_.push_back(!key.whole);
    }
    place_ = start_;
  }

  Fit Run() {
    Fit fit;
    fit.error_before = MedianError();
    Descend();
    for (int sweep = 0; sweep < 2 && MoveCounts(); ++sweep) Descend();
    // What the observations don't tell goes back, and the rest is fitted to that.
    std::vector<double> deviations = Deviations();
    for (size_t k = 0; k < keys_.size(); ++k) {
      if (keys_[k].whole || deviations[k] < kKnown * keys_[k].freedom) continue;
      free_[k] = CostsToGoBack(k);
      if (!free_[k]) Move(k, start_[k]);
    }
    Descend();
    deviations = Deviations();
    for (size_t k = 0; k < keys_.size(); ++k) fit.keys.push_back(EstimateKey(k, deviations[k]));
    fit.target = Ordered(target_);
    fit.error = MedianError();
    return fit;
  }

 private:
  // Keys live on a logarithmic scale that is linear near 0.
  static double Place(const CostKey& key, double value) { return std::log(value + key.grain); }
  static double Value(const CostKey& key, double place) {
    return std::clamp(std::exp(place) - key.grain, key.low, key.high);
  }

  void Move(size_t key, double place) {
    place_[key] = place;
    keys_[key].set(place == start_[key] ? first_[key] : Value(keys_[key], place), target_);
  }

  // Of some keys observations tell only how large they are at most, as something else takes longer: where the
  // fit left them, nothing depends on them, and where they came from, much does.
  bool CostsToGoBack(size_t key) {
    const double place = place_[key], loss = Loss(Residuals());
    Move(key, start_[key]);
    const double back = Loss(Residuals());
    Move(key, place);
    return back > loss + kMatters;
  }

  KeyEstimate EstimateKey(size_t k, double deviation) const {
    const CostKey& key = keys_[k];
    const double value = key.get(Ordered(target_));
    if (key.whole) return {value, value, value, place_[k] != start_[k]};
    if (!free_[k]) return {value, value, value, false};
    return {value, Value(key, place_[k] - 2 * deviation), Value(key, place_[k] + 2 * deviation), true};
  }

  // (log predicted - log measured) / noise.
  Eigen::VectorXd Residuals() const { return ComputeResiduals(target_); }

  Eigen::VectorXd ComputeResiduals(const Target& target) const {
    const CostModel model(Ordered(target));
    Eigen::VectorXd residuals(observations_.size());
    for (size_t i = 0; i < observations_.size(); ++i)
      residuals[static_cast<Eigen::Index>(i)] =
          std::log(observations_[i].predict(model) / observations_[i].cycles) / noise_[i];
    return residuals;
  }

  double Loss(const Eigen::VectorXd& residuals) const {
    double loss = 0;
    for (double r : residuals) {
      const double size = std::abs(r);
      loss += size <= kHuber ? r * r : 2 * kHuber * size - kHuber * kHuber;
    }
    for (size_t k = 0; k < keys_.size(); ++k) loss += std::pow((place_[k] - start_[k]) / keys_[k].freedom, 2);
    return loss;
  }

  std::vector<size_t> FreeKeys() const {
    std::vector<size_t> free;
    for (size_t k = 0; k < keys_.size(); ++k)
      if (free_[k]) free.push_back(k);
    return free;
  }

  // A column for each key, each by whichever worker comes to it.
  Eigen::MatrixXd Jacobian(const std::vector<size_t>& free, const Eigen::VectorXd& residuals) const {
    Eigen::MatrixXd jacobian(residuals.size(), static_cast<Eigen::Index>(free.size()));
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t j = next++; j < free.size(); j = next++)
        jacobian.col(static_cast<Eigen::Index>(j)) = Derivative(free[j], residuals);
    };
    std::vector<std::jthread> workers;
    for (int i = 0; i < options_.workers; ++i) workers.emplace_back(work);
    workers.clear();
    return jacobian;
  }

  Eigen::VectorXd Derivative(size_t k, const Eigen::VectorXd& residuals) const {
    const CostKey& key = keys_[k];
    // Away from the nearer end of the range, where the key could not move.
    const double step = Value(key, place_[k] + kStep) > Value(key, place_[k]) ? kStep : -kStep;
    Target moved = target_;
    key.set(Value(key, place_[k] + step), moved);
    return (ComputeResiduals(moved) - residuals) / step;
  }

  // Of the reweighted least squares: the weight of each observation.
  static Eigen::VectorXd Weights(const Eigen::VectorXd& residuals) {
    return residuals.unaryExpr([](double r) { return std::min(1.0, kHuber / std::max(std::abs(r), 1e-9)); });
  }

  // Second derivatives of the loss, halved, as Gauss and Newton approximate them.
  Eigen::MatrixXd Curvature(const std::vector<size_t>& free, const Eigen::MatrixXd& jacobian,
                            const Eigen::VectorXd& weights) const {
    Eigen::MatrixXd curvature = jacobian.transpose() * weights.asDiagonal() * jacobian;
    for (size_t j = 0; j < free.size(); ++j)
      curvature.diagonal()[static_cast<Eigen::Index>(j)] += std::pow(keys_[free[j]].freedom, -2);
    return curvature;
  }

  void Descend() {
    const std::vector<size_t> free = FreeKeys();
    if (free.empty() || observations_.empty()) return;
    double damping = 1e-2;
    Eigen::VectorXd residuals = Residuals();
    double loss = Loss(residuals);
    for (int step = 0; step < kMostSteps; ++step) {
      const double before = loss;
      if (!Step(free, &damping, &residuals, &loss) || before - loss < kLittle * before) return;
    }
  }

  // One step down, with as much damping as it takes. False: there is none.
  bool Step(const std::vector<size_t>& free, double* damping, Eigen::VectorXd* residuals, double* loss) {
    const Eigen::MatrixXd jacobian = Jacobian(free, *residuals);
    const Eigen::VectorXd weights = Weights(*residuals);
    const Eigen::MatrixXd curvature = Curvature(free, jacobian, weights);
    Eigen::VectorXd gradient = jacobian.transpose() * weights.asDiagonal() * *residuals;
    for (size_t j = 0; j < free.size(); ++j)
      gradient[static_cast<Eigen::Index>(j)] +=
          (place_[free[j]] - start_[free[j]]) * std::pow(keys_[free[j]].freedom, -2);
    const std::vector<double> from = place_;
    for (; *damping < 1e6; *damping *= 4) {
      Eigen::MatrixXd damped = curvature;
      damped.diagonal() *= 1 + *damping;
      const Eigen::VectorXd move = damped.ldlt().solve(-gradient);
      for (size_t j = 0; j < free.size(); ++j)
        MoveWithin(free[j], from[free[j]] + std::clamp(move[static_cast<Eigen::Index>(j)], -1.0, 1.0));
      const Eigen::VectorXd after = Residuals();
      if (const double there = Loss(after); there < *loss) {
        *loss = there;
        *residuals = after;
        *damping /= 8;
        return true;
      }
      for (size_t key : free) Move(key, from[key]);
    }
    return false;
  }

  // A place beyond the ends of the key's range would be one it never comes back from.
  void MoveWithin(size_t key, double place) { Move(key, Place(keys_[key], Value(keys_[key], place))); }

  // Keys that count: each to the best of a few values. True if one moved.
  bool MoveCounts() {
    bool moved = false;
    for (size_t k = 0; k < keys_.size(); ++k) {
      if (!keys_[k].whole) continue;
      double best = Loss(Residuals()) * (1 - kLittle);
      const double value = keys_[k].get(target_);
      double best_value = value;
      for (double factor : kFactors) {
        const double other = std::clamp(std::round(value * factor), keys_[k].low, keys_[k].high);
        MoveWithin(k, Place(keys_[k], other));
        const double loss = Loss(Residuals());
        if (loss >= best) continue;
        best = loss;
        best_value = other;
      }
      Move(k, Place(keys_[k], best_value));
      moved |= best_value != value;
    }
    return moved;
  }

  // Of each key, on the scale of places; what has no part in the fit keeps what it had.
  std::vector<double> Deviations() {
    std::vector<double> deviations;
    for (const CostKey& key : keys_) deviations.push_back(key.freedom);
    const std::vector<size_t> free = FreeKeys();
    if (free.empty() || observations_.empty()) return deviations;
    const Eigen::VectorXd residuals = Residuals(), weights = Weights(residuals);
    const Eigen::MatrixXd inverse =
        Curvature(free, Jacobian(free, residuals), weights)
            .ldlt()
            .solve(Eigen::MatrixXd::Identity(static_cast<Eigen::Index>(free.size()),
                                             static_cast<Eigen::Index>(free.size())));
    // Where the model is off by more than the noise, that is noise, too.
    const double scale = std::max(1.0, residuals.cwiseAbs2().cwiseProduct(weights).sum() / weights.sum());
    for (size_t j = 0; j < free.size(); ++j) {
      const auto diagonal = static_cast<Eigen::Index>(j);
      deviations[free[j]] = std::min(keys_[free[j]].freedom, std::sqrt(inverse(diagonal, diagonal) * scale));
    }
    return deviations;
  }

  double MedianError() const {
    std::vector<double> errors = ComputeErrors(CostModel(Ordered(target_)), observations_);
    for (double& error : errors) error = std::abs(error);
    return errors.empty() ? 0 : Median(errors);
  }

  Target target_;
  const std::vector<CostKey>& keys_;
  const std::vector<Observation>& observations_;
  const FitOptions& options_;
  std::vector<double> noise_;          // of each observation
  std::vector<double> first_;          // of each key the value it had; what doesn't move has just that
  std::vector<double> start_, place_;  // its place then, and now
  std::vector<bool> free_;             // keys that take part in the descent
};

}  // namespace

std::vector<double> ComputeErrors(const CostModel& model, const std::vector<Observation>& observations) {
  std::vector<double> errors;
  for (const Observation& observation : observations)
    errors.push_back(observation.predict(model) / observation.cycles - 1);
  return errors;
}

Fit FitKeys(const Target& start, const std::vector<CostKey>& keys,
            const std::vector<Observation>& observations, const FitOptions& options) {
  return Fitter(start, keys, observations, options).Run();
}

}  // namespace kirsch
