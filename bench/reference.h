// Whether a contender computed the product: a float64 reference (exact for integers) for a sample of the
// output's entries. (The proof that a kernel of ours is right is verification's business, not this one's;
// here a fast wrong answer must not count.)
#ifndef KIRSCH_BENCH_REFERENCE_H_
#define KIRSCH_BENCH_REFERENCE_H_

#include <cstddef>
#include <vector>

#include "bench/workload.h"

namespace kirsch {

struct Reference {
  struct Entry {
    size_t offset;     // into out, elements
    double value;      // the exact result, up to float64 rounding
    double tolerance;  // an error beyond it is a wrong result, not rounding
  };
  std::vector<Entry> entries;
};

inline constexpr size_t kReferenceEntries = 4096;

// Samples a grid of random rows and columns, the first and last of each always among them, in the first and
// last matrix of the batch. Reads the inputs and (where the problem accumulates) the output as they are now.
Reference ComputeReference(const Problem& problem);

struct OutputCheck {
  double max_error = 0;  // largest |out - value|; infinity where an entry is not a number
  bool correct = true;   // every sampled entry is within its tolerance
};

OutputCheck CheckOutput(const Reference& reference, const Problem& problem);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_REFERENCE_H_
