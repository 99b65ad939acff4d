// SPDX-License-Identifier: Apache-2.0
// Which of the fitted constants a calibration keeps.
//
// A fit can make predictions better and choices worse: it knows the programs it was fitted to, and the search
// looks for those it does not know. So a part of the suite's problems is held out of the fit. What each
// candidate chooses for them is timed, and constants stay as the base has them where the fitted ones do not
// choose better programs.
#ifndef KIRSCH_CALIBRATE_HELD_OUT_H_
#define KIRSCH_CALIBRATE_HELD_OUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/cost_key.h"
#include "calibrate/observation.h"
#include "spec/target.h"

namespace kirsch {

// What the names of keys of caches and of RAM begin with.
inline constexpr std::string_view kMemoryKeys = "memory.";

// Constants that may be kept: the fitted ones, but for those of some parts of the target file.
struct Candidate {
  Target target;
  std::vector<std::string_view> kept;  // prefixes of the keys that are as in the base: "memory."; "" is all
};

// All fitted; the base's memory; the base's rest; the base itself, which comes last. `keys` are those that
// differ.
std::vector<Candidate> FindCandidates(const Target& base, const Target& fitted,
                                      const std::vector<CostKey>& keys);

bool Keeps(const Candidate& candidate, std::string_view key);

// How long a candidate's choices take, in units of what the base's choices take: geometric means.
struct GroupTime {
  std::string group;  // of problems: Experiment::group
  int problems = 0;
  double time = 1;
};

struct HeldOutTimes {
  int problems = 0;
  double time = 1;                // of all problems
  double error = 0;               // median of |predicted / measured - 1| of the candidate's choices
  std::vector<GroupTime> groups;  // in the order in which the observations have them
};

// `observations` are programs of held-out problems, some of each. A model's choice of a problem is the
// program that it predicts to be the fastest of them.
HeldOutTimes TimesOf(const Target& candidate, const Target& base,
                     const std::vector<Observation>& observations);

// The first candidate that makes no group of problems slower and all of them together no slower. The last one
// is taken if there is none, and so is the first one where nothing was held out.
size_t KeptCandidate(const std::vector<HeldOutTimes>& times);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_HELD_OUT_H_
