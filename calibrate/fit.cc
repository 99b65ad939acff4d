// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "bench/results/statistics.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Beyond this many times its noise, an observation counts by the amount that it is off, not by the square. So
// a few that no key explains do not decide the fit.
constexpr double kHuber = 1.5;
// How much less is asked of predictions the further a program is from the optimum. A program that is
// predicted to take ten times the optimum has a noise of kCare * log(10) = 0.7 in place of 0.03.
constexpr double kCare = 0.3;
constexpr double kStep = 0.02;  // of differences, in logarithms: 2 %
constexpr int kMostSteps = 30;
constexpr double kDamping = 1e-2;  // at first
constexpr double kLittle = 1e-3;   // a step that gains a smaller share of the loss is the last
// A key is known when the observations leave it less than this share of the room that it had.
constexpr double kKnown = 0.5;
// An increase of the loss that matters: that of a residual of one standard deviation.
constexpr double kMatters = 1;
// Values that integer keys are tried at, as multiples of the one they have.
constexpr double kFactors[] = {0.5, 0.71, 1.41, 2};

// One fit. `target_` always has the values that `place_` says; the model sees it through Ordered.
class Fitter {
 public:
  Fitter(const Target& start, const std::vector<CostKey>& keys, const std::vector<Observation>& observations,
         const FitOptions& options)
      : target_(start), keys_(keys), observations_(observations), options_(options) {
    for (const Observation& observation : observations)
      // The three sources of noise are independent, so their squares add up.
      noise_.push_back(std::hypot(options.noise, observation.spread, kCare * observation.distance));
    for (const CostKey& key : keys) {
      first_.push_back(key.get(start));
      start_.push_back(Place(key, first_.back()));
      free_.push_back(!key.whole);
    }
    place_ = start_;
    all_.resize(observations.size());
    std::iota(all_.begin(), all_.end(), size_t{0});
    depend_.assign(keys.size(), all_);
  }

  // Descends with all keys, then without those that the observations don't tell, and estimates what is left.
  Fit Run() {
    Fit fit;
    fit.error_before = MedianError();
    // What the fit begins with need not be what it is pulled towards.
    for (size_t k = 0; options_.begin != nullptr && k < keys_.size(); ++k)
      Move(k, Place(keys_[k], keys_[k].get(*options_.begin)));
    Descend();
    // Integer keys have no derivative. When one of them has moved, the others are fitted again.
    for (int sweep = 0; sweep < 2 && MoveCounts(); ++sweep) Descend();
    // Keys that the observations don't tell go back to where they began, and the others are fitted to that.
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
  // Keys live on a logarithmic scale that is linear near 0. A place is a point of that scale, a value one of
  // the target file.
  static double Place(const CostKey& key, double value) { return std::log(value + key.grain); }
  static double Value(const CostKey& key, double place) {
    return std::clamp(std::exp(place) - key.grain, key.low, key.high);
  }

  // Sets the key in the target. Where it began, it gets its first value again to the last bit.
  void Move(size_t key, double place) {
    place_[key] = place;
    keys_[key].set(place == start_[key] ? first_[key] : Value(keys_[key], place), target_);
  }

  // Tells whether the loss rises when the key goes back to where it began. Of some keys the observations tell
  // only how large they are at most: below that, something else takes longer. Nothing depends on them where
  // the fit left them, but much does where they came from.
  bool CostsToGoBack(size_t key) {
    const double place = place_[key], loss = Loss(Residuals());
    Move(key, start_[key]);
    const double back = Loss(Residuals());
    Move(key, place);
    return back > loss + kMatters;
  }

  // Integer keys have no interval, and count as fitted when they moved.
  KeyEstimate EstimateKey(size_t k, double deviation) const {
    const CostKey& key = keys_[k];
    const double value = key.get(Ordered(target_));
    if (key.whole) return {value, value, value, place_[k] != start_[k]};
    if (!free_[k]) return {value, value, value, false};
    return {value, Value(key, place_[k] - 2 * deviation), Value(key, place_[k] + 2 * deviation), true};
  }

  // (log predicted - log measured) / noise.
  Eigen::VectorXd Residuals() const {
    const CostModel model(Ordered(target_));
    Eigen::VectorXd residuals(observations_.size());
    for (size_t i : all_) residuals[static_cast<Eigen::Index>(i)] = Residual(i, model);
    return residuals;
  }

  double Residual(size_t observation, const CostModel& model) const {
    const Observation& one = observations_[observation];
    return std::log(one.predict(model) / one.cycles) / noise_[observation];
  }

  // The sum that is minimised, see fit.h. Both branches of Huber's loss agree at kHuber, with the same slope.
  double Loss(const Eigen::VectorXd& residuals) const {
    double loss = 0;
    for (double r : residuals) {
      const double size = std::abs(r);
      loss += size <= kHuber ? r * r : 2 * kHuber * size - kHuber * kHuber;
    }
    for (size_t k = 0; k < keys_.size(); ++k) loss += std::pow((place_[k] - start_[k]) / keys_[k].freedom, 2);
    return loss;
  }

  // Numbers of the keys that take part in the descent, a column of the Jacobian each.
  std::vector<size_t> FreeKeys() const {
    std::vector<size_t> free;
    for (size_t k = 0; k < keys_.size(); ++k)
      if (free_[k]) free.push_back(k);
    return free;
  }

  // Derivatives of all residuals: a column for each free key. Each worker takes the next column that nobody
  // has, and writes that column only. So the result does not depend on how many there are.
  //
  // Most keys matter to few observations, and for many steps to the same ones. Unless `whole`, derivatives
  // that were 0 in the last whole Jacobian are taken to be 0.
  Eigen::MatrixXd Jacobian(const std::vector<size_t>& free, const Eigen::VectorXd& residuals, bool whole) {
    Eigen::MatrixXd jacobian(residuals.size(), static_cast<Eigen::Index>(free.size()));
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t j = next++; j < free.size(); j = next++) {
        std::vector<size_t>& depend = depend_[free[j]];
        if (whole) depend = all_;
        const Eigen::VectorXd column = Derivative(free[j], residuals, depend);
        std::erase_if(depend, [&](size_t i) { return column[static_cast<Eigen::Index>(i)] == 0; });
        jacobian.col(static_cast<Eigen::Index>(j)) = column;
      }
    };
    std::vector<std::jthread> workers;
    for (int i = 0; i < options_.workers; ++i) workers.emplace_back(work);
    workers.clear();  // joins them
    return jacobian;
  }

  // One column, by a step of one key: derivatives of the residuals in `depend`, 0 elsewhere. The step is
  // taken on a copy of the target, as other workers read it.
  Eigen::VectorXd Derivative(size_t k, const Eigen::VectorXd& residuals,
                             const std::vector<size_t>& depend) const {
    Eigen::VectorXd column = Eigen::VectorXd::Zero(residuals.size());
    if (depend.empty()) return column;
    const CostKey& key = keys_[k];
    // Away from the nearer end of the range, where the key could not move.
    const double step = Value(key, place_[k] + kStep) > Value(key, place_[k]) ? kStep : -kStep;
    Target moved = target_;
    key.set(Value(key, place_[k] + step), moved);
    const CostModel model(Ordered(std::move(moved)));
    for (size_t i : depend) {
      const auto row = static_cast<Eigen::Index>(i);
      column[row] = (Residual(i, model) - residuals[row]) / step;
    }
    return column;
  }

  // The weight of each observation in the reweighted least squares, with which a square has the slope of
  // Huber's loss.
  static Eigen::VectorXd Weights(const Eigen::VectorXd& residuals) {
    return residuals.unaryExpr([](double r) { return std::min(1.0, kHuber / std::max(std::abs(r), 1e-9)); });
  }

  // Second derivatives of the loss, halved, as Gauss and Newton approximate them. The diagonal gets the pull
  // of each key towards where it began.
  Eigen::MatrixXd Curvature(const std::vector<size_t>& free, const Eigen::MatrixXd& jacobian,
                            const Eigen::VectorXd& weights) const {
    Eigen::MatrixXd curvature = jacobian.transpose() * weights.asDiagonal() * jacobian;
    for (size_t j = 0; j < free.size(); ++j)
      curvature.diagonal()[static_cast<Eigen::Index>(j)] += std::pow(keys_[free[j]].freedom, -2);
    return curvature;
  }

  // Goes down until a step with whole derivatives gains next to nothing, or there is none.
  void Descend() {
    const std::vector<size_t> free = FreeKeys();
    if (free.empty() || observations_.empty()) return;
    double damping = kDamping;
    Eigen::VectorXd residuals = Residuals();
    double loss = Loss(residuals);
    bool whole = false;
    for (int step = 0; step < kMostSteps; ++step) {
      const double before = loss;
      const bool gained = Step(Jacobian(free, residuals, whole), free, &damping, &residuals, &loss) &&
                          before - loss >= kLittle * before;
      if (!gained && whole) return;
      // Where no step led down, it may have been for a derivative that is no longer 0.
      if (!gained) damping = kDamping;
      whole = !gained;
    }
  }

  // Goes one step down, with as much damping as it takes. False if no step leads down; then no key has moved.
  bool Step(const Eigen::MatrixXd& jacobian, const std::vector<size_t>& free, double* damping,
            Eigen::VectorXd* residuals, double* loss) {
    const Eigen::VectorXd weights = Weights(*residuals);
    const Eigen::MatrixXd curvature = Curvature(free, jacobian, weights);
    // The gradient, halved like the curvature: of the observations, and of the pull to where keys began.
    Eigen::VectorXd gradient = jacobian.transpose() * weights.asDiagonal() * *residuals;
    for (size_t j = 0; j < free.size(); ++j)
      gradient[static_cast<Eigen::Index>(j)] +=
          (place_[free[j]] - start_[free[j]]) * std::pow(keys_[free[j]].freedom, -2);
    const std::vector<double> from = place_;
    // More damping makes a step shorter and turns it towards the gradient. A step that leads down lowers it
    // for the next.
    for (; *damping < 1e6; *damping *= 4) {
      Eigen::MatrixXd damped = curvature;
      damped.diagonal() *= 1 + *damping;
      const Eigen::VectorXd move = damped.ldlt().solve(-gradient);
      for (size_t j = 0; j < free.size(); ++j)
        // No key moves by more than a factor of e in one step, however far the solution is.
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

  // Moves a key, but not beyond the ends of its range, where its derivative would be 0 and it would never
  // come back.
  void MoveWithin(size_t key, double place) { Move(key, Place(keys_[key], Value(keys_[key], place))); }

  // Moves each integer key to the best of a few values. True if one moved.
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

  // Standard deviation of each key, on the scale of places. Keys that take no part in the fit keep their
  // freedom.
  std::vector<double> Deviations() {
    std::vector<double> deviations;
    for (const CostKey& key : keys_) deviations.push_back(key.freedom);
    const std::vector<size_t> free = FreeKeys();
    if (free.empty() || observations_.empty()) return deviations;
    const Eigen::VectorXd residuals = Residuals(), weights = Weights(residuals);
    const Eigen::MatrixXd inverse =
        Curvature(free, Jacobian(free, residuals, /*whole=*/false), weights)
            .ldlt()
            .solve(Eigen::MatrixXd::Identity(static_cast<Eigen::Index>(free.size()),
                                             static_cast<Eigen::Index>(free.size())));
    // Where the model is off by more than the noise, the difference counts as noise, too.
    const double scale = std::max(1.0, residuals.cwiseAbs2().cwiseProduct(weights).sum() / weights.sum());
    for (size_t j = 0; j < free.size(); ++j) {
      const auto diagonal = static_cast<Eigen::Index>(j);
      deviations[free[j]] = std::min(keys_[free[j]].freedom, std::sqrt(inverse(diagonal, diagonal) * scale));
    }
    return deviations;
  }

  // Median of |predicted / measured - 1| over all observations, 0 without any.
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
  std::vector<size_t> all_;            // observations
  // Of each key the observations with a derivative that was not 0 in the last whole Jacobian, nor since.
  std::vector<std::vector<size_t>> depend_;
};

}  // namespace

std::vector<double> ComputeErrors(const CostModel& model, const std::vector<Observation>& observations) {
  std::vector<double> errors;
  for (const Observation& observation : observations)
    errors.push_back(observation.predict(model) / observation.cycles - 1);
  return errors;
}

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
    // Fewer streams and less overlap make a level dearer, so for these three the order is the other way
    // round.
    level.prefetch_lines = std::max(level.prefetch_lines, closer.prefetch_lines);
    level.streams = std::min(level.streams, closer.streams);
    level.prefetch_streams = std::min(level.prefetch_streams, closer.prefetch_streams);
    level.overlap = std::min(level.overlap, closer.overlap);
  }
  return target;
}

Fit FitKeys(const Target& start, const std::vector<CostKey>& keys,
            const std::vector<Observation>& observations, const FitOptions& options) {
  return Fitter(start, keys, observations, options).Run();
}

}  // namespace kirsch
