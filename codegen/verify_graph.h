// Verification of graphs' kernels: what the graph means == JIT == compiled C header, within the bound that
// spec/graph_reference.h derives; between guard pages, on misaligned bases, with NaN in scratch memory, split
// over threads. Of large results, a sample of rows is compared, and all elements must have been written.
#ifndef KIRSCH_CODEGEN_VERIFY_GRAPH_H_
#define KIRSCH_CODEGEN_VERIFY_GRAPH_H_

#include "codegen/header_file.h"
#include "codegen/verify.h"
#include "spec/plan.h"

namespace kirsch {

// What nothing has run is unverified. options.header_options is not looked at: `header` is the file that has the kernel's function. Thread-safe,
// but the runs of several threads wait for each other.
VerifyReport VerifyPlan(const Plan& plan, const Target& target, const HeaderFile& header,
                        const VerifyOptions& options = {});

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_GRAPH_H_
