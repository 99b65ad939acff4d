// SPDX-License-Identifier: Apache-2.0
// The search without its wits: tries everything, bounds nothing. What the search must agree with.
#ifndef KIRSCH_TESTS_TESTING_BRUTE_FORCE_H_
#define KIRSCH_TESTS_TESTING_BRUTE_FORCE_H_

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch::testing {

// Lines of `level` that each of the threads that share `spec`'s work may fill while they read what it reads;
// kUnlimited for RAM.
Lines LinesOf(const Target& target, Level level, const Spec& spec);

// Lines its operands leave free at the level where a placed root starts.
Lines LinesLeftAtHome(const Spec& placed_root, const Target& target);

class BruteForce {
 public:
  explicit BruteForce(const CostModel& model) : model_(model) {}

  // The least cost of any program within `available` lines at the level being filled; kInfiniteCost if there
  // is no program. The only thing remembered is the answer to the very same question.
  Cost Best(const Spec& spec, Lines available);

  // Every question answered so far, with its answer.
  using Answers = absl::flat_hash_map<std::pair<Spec::Words, Lines>, Cost>;
  const Answers& answers() const { return answers_; }

 private:
  Cost CostWith(const Spec& spec, const Decision& decision, Lines available);

  const CostModel& model_;
  Answers answers_;
};

// The cost of a program, added up from its nodes.
Cost CostOf(const Impl& impl, const CostModel& model);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_BRUTE_FORCE_H_
