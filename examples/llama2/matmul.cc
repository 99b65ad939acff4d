// SPDX-License-Identifier: Apache-2.0
// llama2.c's matmul, for its place: the weights of each matrix are packed when it is met first.
#include <omp.h>

#include <cstdio>
#include <cstdlib>

#include "weights.h"

namespace {

[[noreturn]] void Fail(const kirsch::Error& error) {
  std::fprintf(stderr, "kirsch: %s\n", error.message.c_str());
  std::exit(EXIT_FAILURE);
}

}  // namespace

// out[d] = weights[d, n] x[n].
extern "C" void matmul(float* out, float* x, float* weights, int n, int d) {
  static products::WeightsByAddress known(products::Products::OfProcess());
  static products::Workers workers(static_cast<size_t>(omp_get_max_threads()));
  products::Shape shape = products::Shape::Dense(KIRSCH_F32, static_cast<size_t>(n), static_cast<size_t>(d));
  shape.rows = 1;
  const kirsch::Result<products::Weights> found = known.Find(shape, weights);
  if (!found) Fail(found.error());
  const kirsch::Result<kirsch::Done> done = found->product->Run(1, x, found->packed, out, workers);
  if (!done) Fail(done.error());
}
