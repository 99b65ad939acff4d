// SPDX-License-Identifier: Apache-2.0
// The page of `explain --html`.
#ifndef KIRSCH_TOOLS_EXPLAIN_PAGE_H_
#define KIRSCH_TOOLS_EXPLAIN_PAGE_H_

#include <string>
#include <vector>

#include "synthesis/explain/explained.h"
#include "tools/measured.h"

namespace kirsch {

// A whole page, the same bytes whenever it is made: of each program its cycles as an icicle, what it moves,
// and the roofs of its target with it and with `measured`, as far as that is of the same kernel.
std::string ExplainPage(const std::vector<ExplainedKernel>& kernels,
                        const std::vector<MeasuredRate>& measured);

// What people know the kernel as.
std::string NameOf(const ExplainedKernel& kernel);

// Does any of `measured` belong to the kernel?
bool IsMeasured(const ExplainedKernel& kernel, const std::vector<MeasuredRate>& measured);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_PAGE_H_
