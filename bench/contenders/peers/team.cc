// SPDX-License-Identifier: Apache-2.0
// Runs a task on a team of OpenMP threads.
//
// It is a shared library of its own, loaded by the process that needs it. An OpenMP runtime reads its
// environment when it is loaded, and does not survive a fork. So the benchmark's parent must not have one.
#include <cstddef>

// Runs task(argument, thread, phase) for all threads. Iteration i of a static schedule with chunks of 1 goes
// to thread i. There is a barrier between two phases; the end of the parallel region is the last one.
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
