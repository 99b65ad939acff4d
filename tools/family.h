// A family of sizes on the command line: all members solved with one memo, and their regions.
#ifndef KIRSCH_TOOLS_FAMILY_H_
#define KIRSCH_TOOLS_FAMILY_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/family.h"
#include "tools/regions.h"
#include "tools/search_budget.h"
#include "tools/solve.h"

namespace kirsch {

struct FamilySynthesis {
  SpecFamily family;
  std::vector<Synthesis> members;  // in the family's order
  Regions regions;
};

// Solves every member of `family`, whatever spec, target and time budget `arguments` has. On a terminal,
// shows progress. An interrupted search ends the budget.
absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget);

// The same for a family alone: its target, memo and budget are those of `arguments`.
absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family);

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
