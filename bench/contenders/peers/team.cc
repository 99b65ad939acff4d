// SPDX-License-Identifier: Apache-2.0
// A team of OpenMP threads. A shared library of its own, loaded by the process that needs it: an OpenMP
// runtime reads its environment when it is loaded and does not survive a fork, so the benchmark's parent must
// not have one.
#include <cstddef>

extern "C" void kirsch_team_run(int threads, size_t phases, void (*task)(void*, size_t, size_t),
                                void* argument) {
#pragma omp parallel num_threads(threads)
  for (size_t phase = 0; phase < phases; ++phase) {
    if (phase > 0) {
#pragma omp barrier
    }
#pragma omp for schedule(static, 1) nowait
    for (int thread = 0; thread < threads; ++thread) task(argument, static_cast<size_t>(thread), phase);
  }
}
