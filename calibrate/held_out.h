// SPDX-License-Identifier: Apache-2.0
// Decides which of the fitted constants a calibration keeps.
//
// A fit can make predictions better and choices worse: it knows the programs it was fitted to, and the search
// looks for those it does not know. So a part of the suite's problems is held out of the fit. What each
// candidate chooses for them is timed. Constants stay as the base has them where the fitted ones do not
// choose better programs.
//
// What comes from slow levels is told worst on a machine that others share, so its constants go back first.
//
//   candidate               time of all   worst group    the third is taken: the first one that is
//   all fitted              1.02          RAM 1.24       no slower over all, and within 2 % in each group
//   the base's RAM          0.98          f32 1.05
//   the base's RAM and L3   0.98          f32 1.01
//   the base's memory       1.01          RAM 1.00
//   the base's vectors      0.99          RAM 1.20
//   the base                1             1
#ifndef KIRSCH_CALIBRATE_HELD_OUT_H_
#define KIRSCH_CALIBRATE_HELD_OUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/cost_key.h"
#include "calibrate/observation.h"
#include "spec/target.h"

namespace kirsch {

// Begins the names of the keys of caches and of RAM.
inline constexpr std::string_view kMemoryKeys = "memory.";

// A set of constants that may be kept: the fitted ones, except in some parts of the target file.
struct Candidate {
  Target target;
  std::vector<std::string_view> kept;  // prefixes of keys with the base's values: "memory."; "" is all
};

// Returns the candidates in the order of preference: all fitted; the base's RAM; its L3, too; all its memory;
// its vectors; the base itself. In none is a level cheaper than a closer one. `keys` are all keys in which
// `fitted` may differ from `base`.
std::vector<Candidate> FindCandidates(const Target& base, const Target& fitted,
                                      const std::vector<CostKey>& keys);

// True if the candidate has the base's value of `key`.
bool Keeps(const Candidate& candidate, std::string_view key);

// How long a candidate's choices for a group of problems take, in units of what the base's choices take: a
// geometric mean. Below 1 is better than the base.
struct GroupTime {
  std::string group;  // of problems: Experiment::group
  int problems = 0;
  double time = 1;
};

// The same for all held-out problems, and for each group of them.
struct HeldOutTimes {
  int problems = 0;
  double time = 1;                // of all problems
  double error = 0;               // median of |predicted / measured - 1| of the candidate's choices
  std::vector<GroupTime> groups;  // in the order in which the observations have them
};

// Computes a candidate's times. `observations` are programs of held-out problems, those of a problem one
// after the other. A model's choice of a problem is the program that it predicts to be the fastest of them.
HeldOutTimes TimesOf(const Target& candidate, const Target& base,
                     const std::vector<Observation>& observations);

// Returns the number of the first candidate that is no slower than the base over all problems, nor in any
// group by more than noise. The last one is taken if there is none, and the first one where nothing was held
// out.
size_t KeptCandidate(const std::vector<HeldOutTimes>& times);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_HELD_OUT_H_
