// SPDX-License-Identifier: Apache-2.0
// Makes the kernels that `kirsch bench` measures. Each entry is solved once, however many kernels are made of
// its program, so that all of them compute the same code:
//   entry --> search --> program --> code --> Jit: our kernel
//                                        --> Header: the header, compiled by gcc or clang
#ifndef KIRSCH_TOOLS_BENCH_PROGRAMS_H_
#define KIRSCH_TOOLS_BENCH_PROGRAMS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/harness/run.h"
#include "bench/workload/entries.h"
#include "codegen/verify/engines.h"
#include "memo/hash_memo.h"
#include "spec/target.h"
#include "synthesis/solve.h"

namespace kirsch {

// Solves an entry when it is first asked for, and says what was found on standard error. Programs are for the
// threads of `arguments`, which are those of the benchmark. `target` outlives this. Not thread-safe.
class BenchPrograms {
 public:
  // `entries`: how many there are to be, for the progress line.
  BenchPrograms(const SolveArguments& arguments, const Target& target, size_t entries)
      : arguments_(arguments), target_(target), entries_(entries), memo_(std::make_shared<HashMemo>()) {}

  // The program compiled for this CPU by the JIT. An error is that of the search, or of the compiler.
  absl::StatusOr<Kernel> Jit(const BenchEntry& entry);

  // The predicted rate of the entry's program; 0: there is none.
  double PredictedGflops(const BenchEntry& entry);

  // The header of the same program, compiled by a C compiler: "gcc" or "clang".
  absl::StatusOr<Kernel> Header(const BenchEntry& entry, const std::string& compiler);

 private:
  // A solved entry. `subject` points to `header`, so both are on the heap and stay where they are.
  struct Solved {
    double gflops = 0;  // predicted
    std::unique_ptr<HeaderFile> header;
    std::unique_ptr<Subject> subject;
  };

  const absl::StatusOr<Solved>& FindSolved(const BenchEntry& entry);
  absl::StatusOr<Solved> SolveEntry(const BenchEntry& entry) const;

  const SolveArguments arguments_;
  const Target& target_;
  const size_t entries_;
  const std::shared_ptr<Memo> memo_;
  std::map<std::string, absl::StatusOr<Solved>> solved_;  // by the entry's text, or its graph's; errors, too
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_BENCH_PROGRAMS_H_
