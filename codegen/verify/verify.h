// SPDX-License-Identifier: Apache-2.0
// Verifies kernels of specs and graphs by a ladder: reference == interpreter == JIT == compiled C header.
//
// Every engine computes the same problems (known_problem.h), and is held against the same reference:
//   - small integers, where the arithmetic is linear: no rounding excuses anything, all bits are compared;
//   - floats of even, wide or widely spread magnitudes, within a proven bound (known_contraction.h,
//     spec/meaning/graph_reference.h);
//   - integers of full range, all bits of what has wrapped around.
// Each run is hostile. Buffers lie between guard pages, at misaligned bases. NaN is between input rows and in
// scratch, shared and unwritten memory; a spec that accumulates finds a prior output. Several threads share
// the work, even more of them than tasks. Large problems get fewer runs. Where every element's reference
// would take too long, some full rows are compared, those that look unwritten among them. Of a matmul, the
// whole output is then checked by Freivalds' method (verify_freivalds.h).
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "codegen/header/header_file.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/host_cpu.h"
#include "codegen/verify/verify_ladder.h"
#include "spec/graph/graph.h"
#include "spec/program/program_tree.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Says how thoroughly a kernel is verified, and by which engines.
struct VerifyOptions {
  uint64_t seed = 1;
  bool interpreter = true, jit = true, header = true;  // engines wanted
  // Of problems with more flops, a sample of the elements is compared ...
  double most_flops_in_full = kMostFlopsInFull;
  double most_flops_interpreted = 2e10;  // ... the interpreter gives way to the JIT
  std::vector<std::string> host_features = DetectHostCpu().features;  // what code that is run may need
  bool hot_loops = false;   // machine code is also disassembled: RungReport::loops
  Abi abi = Abi::kSystemV;  // that the JIT's object is made for
  std::string compiler;     // for the header; empty: cc, gcc or clang, whichever is found first
  VerifyProgress progress = {};
};

// Ordered from the best to the worst. If an engine failed it is kFailed; else it is the first one that holds.
enum class Verdict {
  kVerified,        // machine code was run
  kProgramChecked,  // the interpreter alone was
  kUnverified,      // nothing was run
  kFailed,
};

// The result of a verification: the verdict, the errors, and a report of each engine.
struct VerifyReport {
  Verdict verdict = Verdict::kUnverified;
  bool ok = false;  // kVerified or kProgramChecked
  // The largest |got - expected| of a compared element, relative to the sum of the terms' magnitudes. With an
  // epilogue, and of graphs, it is relative to the error that is allowed.
  double max_error = 0;
  double error_bound = 0;  // the most that max_error may be: 1 where it is relative to what is allowed
  double error_share = 0;  // max_error / error_bound
  std::vector<RungReport> rungs;
  std::string first_mismatch;  // "jit: out[0][3][7]: expected 12, got 13 ..."; empty if nothing failed
};

// Verifies the program of a root spec, all of whose leaves are microkernels, or of a graph. If the host lacks
// instructions that the code needs, only the interpreter runs, and the report says so. `header` is the file
// that has the kernel's function. If no header is wanted, only the name of its function is looked at.
// Thread-safe, but the runs of several threads wait for each other.
VerifyReport VerifyKernel(const ProgramTree& tree, const Target& target, const HeaderFile& header,
                          const VerifyOptions& options = {});

// A spec or a graph that a program for a range of sizes computes, and the sizes for which it does. These are
// in the order of Program::symbols.
struct MemberOfSize {
  std::variant<const Spec*, const Graph*> computed;
  std::vector<int64_t> sizes = {};
};

// Verifies a program for a range of sizes (see impl.h and Plan::symbols). It is compiled once, and there is a
// report for each of `members`. There is no header.
std::vector<VerifyReport> VerifySizes(const ProgramTree& range, absl::Span<const MemberOfSize> members,
                                      const Target& target, const std::string& name,
                                      const VerifyOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_H_
