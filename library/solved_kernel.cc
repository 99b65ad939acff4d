// SPDX-License-Identifier: Apache-2.0
#include "library/solved_kernel.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "memo/hash_memo.h"
#include "spec/spec.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/cold_operands.h"
#include "synthesis/explain/answer_json.h"
#include "synthesis/explain/explained.h"
#include "synthesis/search_budget.h"
#include "synthesis/usable_target.h"

namespace kirsch {

absl::StatusOr<SolvedKernel> SolvedKernel::Find(KernelRequest request, const std::string& target,
                                                const SolveArguments& search, const DbOptions& db,
                                                const Remark& remark,
                                                std::shared_ptr<const Extension> extension) {
  if (search.allow_winograd) request.UseGraphOfConvolution();
  // Everything that can be wrong with the options is found before the search, which may take long.
  KIRSCH_RETURN_IF_ERROR(CheckCold(search.cold, request.family.member(0)));
  KIRSCH_ASSIGN_OR_RETURN(TargetFile found, FindUsableTarget(target));
  for (const std::string& warning : found.warnings) remark(warning);
  found.target.extension = std::move(extension);
  SolveArguments asked = search;
  asked.db = &db;
  KIRSCH_ASSIGN_OR_RETURN(Library library, SolveLibrary(asked, request.name, absl::MakeConstSpan(&request, 1),
                                                        absl::MakeConstSpan(&found.target, 1)));
  // `db` is not there any more when this call has returned.
  asked.db = nullptr;
  return SolvedKernel(std::move(asked), std::move(library));
}

kirsch_cost SolvedKernel::MemberCost(int64_t member) const {
  // One kernel, for one target: the library has one variant of it.
  const FamilySynthesis& family = library_.kernels.front().variants.front();
  const Synthesis& one = family.members[static_cast<size_t>(member)];
  kirsch_cost cost = {};
  cost.cycles = one.cycles;
  cost.gflops = one.gflops();
  // Cycles are the target's, so seconds are at its clock, not at that of this machine.
  cost.seconds = cost.cycles / (target().ghz * 1e9);
  cost.optimal = EffortOf(family).stop == StopReason::kOptimal ? 1 : 0;
  return cost;
}

std::string SolvedKernel::Answer(int64_t member) const {
  const FamilySynthesis& family = library_.kernels.front().variants.front();
  return AnswerJson(family, member).dump(2);
}

absl::StatusOr<std::string> SolvedKernel::Explain() const {
  // A search without a table and with a memo of its own, which can say why.
  const DbOptions none{"", true};
  SolveArguments asked = search_;
  asked.db = &none;
  asked.explain = true;
  SearchBudget budget(asked.time_budget);
  KIRSCH_ASSIGN_OR_RETURN(const FamilySynthesis solved,
                          SolveFamily(asked, request(), target(), std::make_shared<HashMemo>(), budget));
  return ExplainText(ExplainKernel(solved));
}

absl::StatusOr<std::string> SolvedKernel::Header(const std::string& name) const {
  // The name becomes a C identifier of the header, among those of its own code.
  if (!IsKernelName(name))
    return absl::InvalidArgumentError(Cat(
        "name: expected a name (letters, digits, underscores; a letter first) that neither C's library nor "
        "the header's code has, got ",
        Quoted(name)));
  // A copy that differs in its names only.
  Library named = library_;
  named.name = name;
  named.kernels.front().variants.front().request.name = name;
  return PrintHeaderFile(MakeHeaderFile(named, {}));
}

HeaderFunction SolvedKernel::Code() const { return MakeHeaderFile(library_, {}).functions.front(); }

}  // namespace kirsch
