// A family of sizes on the command line: all members solved with one memo, their regions, their kernels in
// one header, all of them verified.
#ifndef KIRSCH_TOOLS_FAMILY_H_
#define KIRSCH_TOOLS_FAMILY_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/family_header.h"
#include "codegen/verify.h"
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

// Solves every member of `family`, whatever spec `arguments` has; the time budget is for all of them
// together. On a terminal, shows progress. Every member after an interrupted one gets its first program.
absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family);

// Regions for people, a line each under a line of titles: sizes, kernels, predicted GFLOP/s, decision.
std::string RegionTable(const FamilySynthesis& synthesis);

// The schedule of each region's largest member, under what the region is as '#' comments.
std::string RegionSchedules(const FamilySynthesis& synthesis);

// spec, target, version, search, members (their number), regions: [{<dim>: [low, high] for each that varies,
// kernels, decision, predicted_gflops: [least, most], schedule}], kernels: [{spec, cost_cycles,
// predicted_gflops}].
nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis);

// The members' loop programs.
std::vector<FamilyKernel> LowerMembers(const FamilySynthesis& synthesis);

FamilyHeaderOptions FamilyHeaderOptionsFor(const FamilySynthesis& synthesis, HeaderMode mode);

// What was found, on standard error: a line and the table.
void PrintFamilySummary(const FamilySynthesis& synthesis);

// Every member by interpreter and JIT; the header, compiled once, by its self-test, which goes through the
// dispatcher. One report for all: a rung is passed by those members for which it was climbed.
VerifyReport VerifyFamily(const FamilySynthesis& synthesis, HeaderMode mode);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_FAMILY_H_
