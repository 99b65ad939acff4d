// Graphs computed by plain loops, and by loops around a BLAS library.
#ifndef KIRSCH_BENCH_CONTENDERS_LOOPS_CONTENDER_H_
#define KIRSCH_BENCH_CONTENDERS_LOOPS_CONTENDER_H_

#include <memory>
#include <string>
#include <vector>

#include "bench/loops/compiled_loops.h"
#include "bench/workload/contender.h"

namespace kirsch {

// `loops` of each item (LoopsKind::kLoops) outlive the contender.
std::unique_ptr<Contender> MakeLoopsContender(const std::vector<CompiledLoops>& loops);

// The same with LoopsKind::kCblas, by the first of `libraries` that loads. Takes graphs with a contraction of
// f32.
std::unique_ptr<Contender> MakeCblasLoopsContender(std::vector<std::string> libraries,
                                                   const std::vector<CompiledLoops>& loops);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_LOOPS_CONTENDER_H_
