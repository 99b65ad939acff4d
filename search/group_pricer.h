// What a group of a plan costs: the cheapest of its tiles, each stage with the program that the search finds
// for it.
#ifndef KIRSCH_SEARCH_GROUP_PRICER_H_
#define KIRSCH_SEARCH_GROUP_PRICER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "rewrites/graph_groups.h"
#include "rewrites/graph_uses.h"
#include "search/plan_search.h"
#include "spec/plan.h"

namespace kirsch {

enum class Workers : uint8_t {
  kOne,     // the plan is for one thread
  kShared,  // threads share the work
  kEach,    // each thread does all of it, for itself
};

// Groups that don't wait for each other, as one step of a plan.
struct PricedGroups {
  std::vector<Stage> ahead;
  std::vector<Group> groups;
  std::vector<Buffer> buffers;
  double cycles = 0;  // without what starting threads and waiting for them takes
};

// Not thread-safe. All arguments of the constructor outlive it.
class GroupPricer {
 public:
  GroupPricer(const GraphUses& uses, const CostModel& model, const PlanOptions& options);

  // The group of the operations from place `first` to `end`; nothing if they are none, or if it does not cost
  // less than `budget` cycles. Once a search was stopped, only in the first way there is. An error is the
  // search's.
  absl::StatusOr<std::optional<PricedGroups>> Price(size_t first, size_t end, Workers workers, double budget);

  // Why an operation can't even be a group alone, and its node; -1: all asked about can.
  const std::string& error() const { return error_; }
  int error_node() const { return error_node_; }
  // Of all searches.
  const SearchStats& stats() const { return stats_; }
  bool optimal() const { return optimal_; }

 private:
  Level HomeLevel() const;
  Level LevelOfBuffers(int64_t bytes, bool all = false) const;
  Level LevelOf(int value) const;
  std::vector<Level> LevelsOf(const Stage& stage) const;
  bool IsLocal(const Buffer& buffer) const;
  bool UsesL1(const GroupShape& shape) const;
  void PlaceValues(const GroupShape& shape);
  void PlaceStage(const Group& group, Stage* stage) const;
  void MakeRoom(Spec* spec) const;

  std::vector<GroupChoice> Choices(GroupChoice choice, const GroupShape& whole) const;
  absl::StatusOr<bool> PriceShape(int next_value, double budget, GroupShape* shape);
  Sharing SharingOf(const Group& group) const;
  double Cycles(Group* group) const;
  double Bound(const Group& group) const;

  double FetchCycles(const Group& group, const Stage& stage) const;
  absl::Status SolveContraction(Stage* stage);

  struct Reader;
  int PackableOperand(const GroupShape& shape, const Group& group, const Stage& stage) const;
  absl::Status PackAhead(int next_value, GroupShape* shape);
  absl::Status PackAhead(size_t operand, int value, std::vector<Reader> readers, GroupShape* shape);
  Stage PackStage(const Stage& reader, size_t operand, int value) const;

  const GraphUses& uses_;
  const Graph& graph_;
  const CostModel& model_;
  const Target& target_;
  const PlanOptions& options_;
  const Level home_;
  Workers workers_ = Workers::kOne;
  int threads_ = 1;              // that work at the same time
  Level fastest_ = Level::kL2;   // that values between stages may stay in
  std::map<int, Level> levels_;  // of the current group's buffers
  int64_t local_bytes_ = 0;      // of those that are tiles
  std::vector<std::pair<Spec, SearchResult>> solved_;
  SearchStats stats_;
  bool optimal_ = true;
  std::string error_;
  int error_node_ = -1;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GROUP_PRICER_H_
