// A family of sizes on the command line: all members solved with one memo, and their regions.
#ifndef KIRSCH_TOOLS_FAMILY_H_
#define KIRSCH_TOOLS_FAMILY_H_

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/regions.h"
#include "spec/family.h"
#include "tools/solve.h"

namespace kirsch {

// More members are refused: each has a kernel of its own.
inline constexpr int64_t kMostMembers = 4096;

struct FamilySynthesis {
  SpecFamily family;
  std::vector<Synthesis> members;  // in the family's order
  std::vector<Region> regions;
};

// Time for searches one after another.
class SearchBudget {
 public:
  // Seconds from now on; 0: no limit.
  explicit SearchBudget(double seconds) : seconds_(seconds) {}

  // For the next search: what is left, as SolveArguments::time_budget.
  double Left() const;

  // From now on, every search returns its first program.
  void End() { ended_ = true; }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const double seconds_;
  bool ended_ = false;
};

// Solves every member of `family`, whatever spec, target and time budget `arguments` has. On a terminal,
// shows progress. An interrupted search ends the budget.
absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget);

// The same for a family alone: its target, memo and budget are those of `arguments`.
absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family);

// Regions for people, a line each under a line of titles: sizes, kernels, predicted GFLOP/s, decision.
std::string RegionTable(const FamilySynthesis& synthesis);

// The schedule of each region's largest member, under what the region is as '#' comments.
std::string RegionSchedules(const FamilySynthesis& synthesis);

// spec, target, version, search, members (their number), regions: [{<dim>: [low, high] for each that varies,
// kernels, decision, predicted_gflops: [least, most], schedule}], kernels: [{spec, cost_cycles,
// predicted_gflops}].
nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis);

// What was found, on standard error: a line and the table.
void PrintFamilySummary(const FamilySynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_FAMILY_H_
