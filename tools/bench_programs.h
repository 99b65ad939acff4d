// SPDX-License-Identifier: Apache-2.0
// What `kirsch bench` measures: the program of each entry, solved once, and the kernels that are made of it.
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

// Solves each entry for the target of `arguments`, whose threads are those of the benchmark, when it is first
// asked for, and says what it found on standard error. `target` outlives it. Not for several threads at once.
class BenchPrograms {
 public:
  // `entries`: how many there are to be, for the progress line.
  BenchPrograms(const SolveArguments& arguments, const Target& target, size_t entries)
      : arguments_(arguments), target_(target), entries_(entries), memo_(std::make_shared<HashMemo>()) {}

  // Compiled here and now.
  absl::StatusOr<Kernel> Jit(const BenchEntry& entry);

  // Of an entry whose kernel was made; 0: there is none.
  double PredictedGflops(const BenchEntry& entry);

  // The header of the same program, compiled by that C compiler.
  absl::StatusOr<Kernel> Header(const BenchEntry& entry, const std::string& compiler);

 private:
  // With the header that it is in.
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
  std::map<std::string, absl::StatusOr<Solved>> solved_;  // by the entry's text, or the graph's
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_BENCH_PROGRAMS_H_
