// SPDX-License-Identifier: Apache-2.0
// Makes the page of `explain --html`: what a program does, as pictures. The page is one file that fetches
// nothing.
#ifndef KIRSCH_TOOLS_EXPLAIN_PAGE_H_
#define KIRSCH_TOOLS_EXPLAIN_PAGE_H_

#include <string>
#include <vector>

#include "synthesis/explain/explained.h"
#include "tools/measured.h"

namespace kirsch {

// A whole page; the same input gives the same bytes. Of each program it has the cycles as an icicle, what it
// moves, and a roofline: the target's limits, with the program below them. Of `measured`, the results of the
// same kernel are shown.
std::string ExplainPage(const std::vector<ExplainedKernel>& kernels,
                        const std::vector<MeasuredRate>& measured);

// The name by which people know the kernel: its label, or its text if that is one line.
std::string NameOf(const ExplainedKernel& kernel);

// True if some result of `measured` is of the kernel.
bool IsMeasured(const ExplainedKernel& kernel, const std::vector<MeasuredRate>& measured);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_PAGE_H_
