// SPDX-License-Identifier: Apache-2.0
#include "synthesis/shared_programs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "search/families/spec_regions.h"
#include "search/families/symbolic_schedule.h"
#include "spec/program/impl_program.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The dim of the spec for a dim of the request. They differ where the spec is solved as its transpose: then
// rows are columns.
int DimOfSpec(int asked, bool swapped) {
  if (!swapped || asked == MatmulDims::kK) return asked;
  return asked == MatmulDims::kM ? MatmulDims::kN : MatmulDims::kM;
}

// The spec without what may differ between members that share a program: its sizes along `dims`, and the
// levels that its operands are in.
Spec FormOf(const Spec& root, const std::vector<size_t>& dims) {
  Spec form = root;
  for (size_t dim : dims) form = Resized(form, dim, 1);
  for (int operand = 0; operand < form.op_info().num_operands; ++operand)
    form.tensor(operand).level = Level::kRam;
  return form;
}

// Solves a family of specs whose members may share programs. Sizes that programs don't take make separate
// problems: for each combination of them, a line or a plane of members is solved.
//
// A line has the members along one size, a plane those along two. FindSpecRegions solves some members, and
// finds few programs that serve the rest nearly as well.
class SizeSolver {
 public:
  // `sizes`: one or two that programs may take. All that is pointed to outlives this. Fills in `synthesis`.
  SizeSolver(const SolveArguments& arguments, const std::vector<size_t>& sizes, const CostModel& model,
             const std::shared_ptr<Memo>& memo, const SolveOneSpec& solve, FamilySynthesis* synthesis)
      : arguments_(arguments),
        sizes_(sizes),
        model_(model),
        memo_(memo),
        solve_(solve),
        synthesis_(*synthesis),
        family_(*synthesis->request.family.specs()) {}

  absl::Status Solve() {
    solved_.resize(static_cast<size_t>(family_.count()));
    synthesis_.members.resize(solved_.size());
    synthesis_.own.resize(solved_.size());
    synthesis_.bounds.resize(solved_.size());
    for (int64_t member = 0; member < family_.count(); ++member)
      roots_.push_back(PlacedRequest(arguments_, family_.member(member), model_.target()).placed_root);
    // Each box has the members that differ in the shared sizes alone.
    const bool planes = sizes_.size() > 1;
    for (const Members& members : BoxesAlong(synthesis_.regions.sizes, sizes_))
      KIRSCH_RETURN_IF_ERROR(planes ? SolvePlane(members) : SolveLine(members, sizes_.front()));
    for (const Synthesis& member : synthesis_.members) synthesis_.regions.gflops.push_back(member.gflops());
    synthesis_.SetLosses();
    return absl::OkStatus();
  }

 private:
  using Members = std::vector<int64_t>;

  bool IsSampled(size_t size) const { return synthesis_.regions.sizes[size].sampled; }
  size_t CountOf(size_t size) const { return synthesis_.regions.sizes[size].values.size(); }
  bool IsSwapped(int64_t member) const { return family_.member(member).swapped; }
  const Spec& RootOf(int64_t member) const { return roots_[static_cast<size_t>(member)]; }

  // One row or column of a plane: `count` members, `step` apart, from number `first` on.
  static Members LineOf(const Members& plane, size_t first, size_t count, size_t step) {
    Members line;
    for (size_t i = 0; i < count; ++i) line.push_back(plane[first + i * step]);
    return line;
  }

  // Finds where the members of a plane can share programs along both sizes: the first row and column of that
  // box, which goes on to the end of the plane. Nothing: they can't.
  //
  // Members must be stated alike. Matrices with a side of 1 are not: they have another canonical form
  // (spec/canonical.h). So they stay outside the box, in lines of their own.
  //
  //           0   column
  //       0   +---+--------+
  //           |   lines    |   rows before the box: a line each, along the second size
  //     row   +---+--------+
  //           | l |        |   columns before the box: a line each, along the first size
  //           | i |  box   |
  //           | n |        |
  //           +---+--------+
  std::optional<std::pair<size_t, size_t>> FindBox(const Members& plane, size_t rows, size_t columns) const {
    const int64_t last = plane.back();
    const std::vector<size_t> dims = PlaneDims(last);
    const Spec most = RootOf(last), form = FormOf(most, dims);
    // The last member has both sides at their largest, so it is the one to compare with.
    const auto is_alike = [&](size_t row, size_t column) {
      const int64_t member = plane[row * columns + column];
      return IsSwapped(member) == IsSwapped(last) && FormOf(RootOf(member), dims) == form;
    };
    size_t row = 0, column = 0;
    while (!is_alike(row, columns - 1)) ++row;
    while (!is_alike(rows - 1, column)) ++column;
    // A box of a single row or column is a line.
    if (row + 1 == rows || column + 1 == columns) return std::nullopt;
    for (size_t r = row; r < rows; ++r)
      for (size_t c = column; c < columns; ++c)
        if (!is_alike(r, c)) return std::nullopt;
    // Members before the box get programs for their line only. So none between them may be left out.
    if (!LooksAtAll(sizes_[0], row) || !LooksAtAll(sizes_[1], column)) return std::nullopt;
    // A kernel takes the strides of one size, so the other size must have no symbolic stride.
    const Spec least = RootOf(plane[row * columns + column]);
    uint8_t strides = 0;  // bits of operands, as SymbolicStrides has them
    for (const size_t dim : dims) {
      const auto along = SymbolicStrides(Resized(most, dim, least.size[dim]), most, dim);
      if (!along || (*along != 0 && strides != 0)) return std::nullopt;
      strides |= *along;
    }
    return std::pair(row, column);
  }

  // True if the first `count` values of the size leave out none of the sizes between them.
  bool LooksAtAll(size_t size, size_t count) const {
    const VaryingSize& looked_at = synthesis_.regions.sizes[size];
    return looked_at.values[count] - looked_at.values.front() == count;
  }

  // The dims of the spec for the two sizes, in the order that SizeRule takes them: N and then M, or M and
  // then K.
  std::vector<size_t> PlaneDims(int64_t member) const {
    std::vector<size_t> dims;
    for (size_t size : sizes_) dims.push_back(SpecDim(size, member));
    std::sort(dims.begin(), dims.end());
    const bool reduces = dims.back() == MatmulDims::kK;
    return reduces ? dims : std::vector<size_t>(dims.rbegin(), dims.rend());
  }
  // The number of the size that varies along a dim of the request.
  size_t NumberOf(int asked) const {
    const std::vector<int> varying = family_.varying();
    return static_cast<size_t>(std::find(varying.begin(), varying.end(), asked) - varying.begin());
  }
  // The dim of the member's spec that a size varies along.
  size_t SpecDim(size_t size, int64_t member) const {
    return static_cast<size_t>(DimOfSpec(family_.varying()[size], IsSwapped(member)));
  }

  // Solves a plane: first the lines beside its box, and then the box (see FindBox).
  absl::Status SolvePlane(const Members& plane) {
    const size_t columns = CountOf(sizes_[1]), rows = plane.size() / columns;
    const std::vector<size_t> dims = PlaneDims(plane.back());
    const auto box = FindBox(plane, rows, columns);
    // Without a box all members are in lines: along the size that is sampled, as only a program for a range
    // serves what is between samples; else along the rows of the spec. If both are sampled, there is no way.
    const bool rows_first = SpecDim(sizes_[0], plane.back()) == MatmulDims::kM;
    const bool first_sampled = IsSampled(sizes_[0]), second_sampled = IsSampled(sizes_[1]);
    if (!box && first_sampled && second_sampled) return CheckEachLookedAt(synthesis_.regions.sizes);
    const bool along_first = first_sampled == second_sampled ? rows_first : first_sampled;
    const auto [row, column] = box           ? *box
                               : along_first ? std::pair(size_t{0}, columns)
                                             : std::pair(rows, columns);
    for (size_t r = 0; r < row; ++r)
      KIRSCH_RETURN_IF_ERROR(SolveLine(LineOf(plane, r * columns, columns, 1), sizes_[1]));
    for (size_t c = 0; c < column && row < rows; ++c)
      KIRSCH_RETURN_IF_ERROR(SolveLine(LineOf(plane, row * columns + c, rows - row, columns), sizes_[0]));
    if (!box) return absl::OkStatus();
    Members members;  // the last of the dims varies fastest
    const bool in_order = SpecDim(sizes_[0], plane.back()) == dims.front();
    const size_t in_row = columns - column, in_column = rows - row;
    for (size_t i = 0; i < in_row * in_column; ++i)
      members.push_back(in_order ? plane[(row + i / in_row) * columns + column + i % in_row]
                                 : plane[(row + i % in_column) * columns + column + i / in_column]);
    return SolveBox(members, dims, rows_first ? in_column : in_row);
  }

  // Solves a box of members. Programs for both sizes are the first choice. But they may serve hardly more
  // than one value of each size, as vectors may have no length that is known at run time only. Then lines
  // along the rows of the spec may need fewer programs, and the fewer regions win. `rows`: members in each
  // line.
  absl::Status SolveBox(const Members& box, const std::vector<size_t>& dims, size_t rows) {
    constexpr size_t kFewInEach = 4;  // members of a region, in the mean
    KIRSCH_ASSIGN_OR_RETURN(SizeFamily both, FindPart(box, dims));
    // Lines don't serve what is between samples. And with several members in each region, programs are few.
    const bool each_looked_at = CheckEachLookedAt(synthesis_.regions.sizes).ok();
    if (!each_looked_at || kFewInEach * both.regions.size() <= box.size())
      return AddPart(box, &both), absl::OkStatus();
    // Compare with a line of rows for each column.
    const bool rows_vary_fastest = dims.back() == MatmulDims::kM;
    const size_t lines = box.size() / rows;
    std::vector<std::pair<Members, SizeFamily>> found;
    size_t regions = 0;
    for (size_t i = 0; i < lines; ++i) {
      Members line = rows_vary_fastest ? LineOf(box, i * rows, rows, 1) : LineOf(box, i, rows, lines);
      KIRSCH_ASSIGN_OR_RETURN(SizeFamily family, FindPart(line, {MatmulDims::kM}));
      regions += family.regions.size();
      found.emplace_back(std::move(line), std::move(family));
    }
    if (both.regions.size() <= regions) return AddPart(box, &both), absl::OkStatus();
    for (auto& [line, family] : found) AddPart(line, &family);
    return absl::OkStatus();
  }

  // Solves a line of members along one size. Neighbours that are all solved as they are, or all as their
  // transposes, are one part: a program is for one of the two.
  absl::Status SolveLine(const Members& line, size_t size) {
    for (size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      while (end < line.size() && IsSwapped(line[end]) == IsSwapped(line[begin])) ++end;
      const int dim = DimOfSpec(family_.varying()[size], IsSwapped(line[begin]));
      const Members part(line.begin() + static_cast<std::ptrdiff_t>(begin),
                         line.begin() + static_cast<std::ptrdiff_t>(end));
      KIRSCH_ASSIGN_OR_RETURN(SizeFamily found, FindPart(part, {static_cast<size_t>(dim)}));
      AddPart(part, &found);
    }
    return absl::OkStatus();
  }

  // Finds programs for a part: members whose specs differ along `dims` only. Solved members are kept, as
  // their own programs.
  absl::StatusOr<SizeFamily> FindPart(const Members& part, const std::vector<size_t>& dims) {
    std::vector<Spec> roots;
    for (int64_t member : part) roots.push_back(RootOf(member));
    const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      const auto member = static_cast<size_t>(part[i]);
      KIRSCH_ASSIGN_OR_RETURN(SearchResult result, solve_(part[i], cutoff));
      // A search that found nothing below its cutoff has no program to keep; its effort counts.
      if (result.stop == StopReason::kCutoff || result.cost >= cutoff) {
        synthesis_.before.Add(result);
      } else {
        solved_[member] = result;
        synthesis_.own[member] = OwnProgram{result.impl.decision, ToCycles(result.cost)};
      }
      return SolvedSize{std::move(result.impl), result.cost, result.bound};
    };
    // Where sizes are sampled, a program also serves the sizes below the member's.
    const auto least = [&](size_t dim, uint32_t size) {
      const int asked = DimOfSpec(static_cast<int>(dim), IsSwapped(part.back()));
      return synthesis_.regions.sizes[NumberOf(asked)].LeastServedAs(size);
    };
    return FindSpecRegions(roots, dims, model_, solve, least);
  }

  // Copies what was found for a part into the result, under the family's numbers.
  void AddPart(const Members& part, SizeFamily* found) {
    for (SpecRegion& region : found->regions) AddRegion(part, &region);
    for (size_t i = 0; i < part.size(); ++i) AddMember(part[i], &found->members[i]);
  }

  void AddRegion(const Members& part, SpecRegion* region) {
    // The region's line of decisions is that of the member whose decisions these are.
    const int64_t chosen = part[region->representative];
    const bool swapped = IsSwapped(chosen);
    Members members;
    for (size_t i : region->members) members.push_back(part[i]);
    std::sort(members.begin(), members.end());
    Region added = RegionOf(synthesis_.regions.sizes, members);
    added.decision = DecisionSpine(solved_[static_cast<size_t>(chosen)]->impl, swapped);
    synthesis_.regions.list.push_back(std::move(added));
    // The program takes dims of the spec; callers pass sizes of the request.
    std::vector<SizeSum>& taken = synthesis_.sizes_of_shared.emplace_back();
    for (size_t dim : SymbolicDims(region->program))
      taken.emplace_back(NumberOf(DimOfSpec(static_cast<int>(dim), swapped)));
    synthesis_.shared.emplace_back(std::move(region->program));
  }

  void AddMember(int64_t of_family, SizeMember* member) {
    const auto number = static_cast<size_t>(of_family);
    // A member that was not solved keeps the defaults of SearchResult: it had no search.
    SearchResult result = solved_[number].value_or(SearchResult());
    result.impl = std::move(member->program);
    result.cost = member->cost;
    synthesis_.bounds[number] = ToCycles(member->bound);
    synthesis_.members[number] =
        MakeSynthesis(family_.member(of_family), model_.target(), std::move(result), memo_);
  }

  const SolveArguments& arguments_;
  const std::vector<size_t>& sizes_;
  const CostModel& model_;
  const std::shared_ptr<Memo> memo_;
  const SolveOneSpec& solve_;
  FamilySynthesis& synthesis_;
  const SpecFamily& family_;
  std::vector<Spec> roots_;                          // of all members, placed
  std::vector<std::optional<SearchResult>> solved_;  // of each member that was solved alone
};

}  // namespace

std::vector<size_t> FindSharedSizes(const SolveArguments& arguments, const KernelRequest& request) {
  const SpecFamily* const family = request.family.specs();
  if (family == nullptr || !arguments.tune.empty() || arguments.tuned) return {};
  const std::vector<int> varying = family->varying();
  const ParsedSpec largest = family->member(family->count() - 1);
  const OpInfo& op = largest.spec.op_info();
  if (op.lanewise() || !op.window.empty() || largest.spec.block_rows != 0) return {};
  if (family->ranges()[MatmulDims::kB].high > 1) return {};
  // `varying.size()` stands for a dim that does not vary.
  const auto number_of = [&](int dim) {
    const auto found = std::find(varying.begin(), varying.end(), DimOfSpec(dim, largest.swapped));
    return static_cast<size_t>(found - varying.begin());
  };
  const size_t none = varying.size(), rows = number_of(MatmulDims::kM), columns = number_of(MatmulDims::kN),
               steps = number_of(MatmulDims::kK);
  if (rows == none && columns == none) return steps == none ? std::vector<size_t>() : std::vector{steps};
  if (rows == none) return {columns};
  if (columns != none) return {std::min(rows, columns), std::max(rows, columns)};
  return steps == none ? std::vector{rows} : std::vector{std::min(rows, steps), std::max(rows, steps)};
}

absl::Status SharePrograms(const SolveArguments& arguments, const std::vector<size_t>& sizes,
                           const CostModel& model, const std::shared_ptr<Memo>& memo,
                           const SolveOneSpec& solve, FamilySynthesis* synthesis) {
  return SizeSolver(arguments, sizes, model, memo, solve, synthesis).Solve();
}

}  // namespace kirsch
