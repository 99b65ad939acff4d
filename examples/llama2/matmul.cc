// SPDX-License-Identifier: Apache-2.0
// Takes the place of llama2.c's matmul when it is linked. The weights of each matrix are packed when it is
// met first.
#include <omp.h>

#include <cstdio>
#include <cstdlib>

#include "weights.h"

namespace {

// llama2.c's matmul can't fail, so an error ends the program.
[[noreturn]] void Fail(const kirsch::Error& error) {
  std::fprintf(stderr, "kirsch: %s\n", error.message.c_str());
  std::exit(EXIT_FAILURE);
}

}  // namespace

// out[d] = weights[d, n] x[n].
extern "C" void matmul(float* out, float* x, float* weights, int n, int d) {
  // All calls share these, one call at a time. Matrices are told apart by their addresses.
  static products::WeightsByAddress known(products::Products::OfProcess());
  static products::Workers workers(static_cast<size_t>(omp_get_max_threads()));
  products::Shape shape = products::Shape::Dense(KIRSCH_F32, static_cast<size_t>(n), static_cast<size_t>(d));
  // One token at a time.
  shape.rows = 1;
  // The first call with a matrix searches, compiles and packs; later ones only look it up.
  const kirsch::Result<products::Weights> found = known.Find(shape, weights);
  if (!found) Fail(found.error());
  const kirsch::Result<kirsch::Done> done = found->product->Run(1, x, found->packed, out, workers);
  if (!done) Fail(done.error());
}
