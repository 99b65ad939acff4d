// SPDX-License-Identifier: Apache-2.0
// What the plug-in kirsch_mpi does for process_group.h: the only code that is linked with MPI, so that kirsch
// itself runs, and starts quickly, where there is none. Calls are collective, but for start, which comes
// first.
#ifndef KIRSCH_TOOLS_MPI_PLUGIN_H_
#define KIRSCH_TOOLS_MPI_PLUGIN_H_

#include <cstdint>

extern "C" {

// 0 if MPI could not be started.
int kirsch_mpi_start(int* rank, int* size);
void kirsch_mpi_stop();

// Hands each rank's bytes, in order, to `take(context, data, bytes)` on rank 0.
void kirsch_mpi_gather(const char* data, int64_t bytes, void (*take)(void*, const char*, int64_t),
                       void* context);

// Hands rank 0's bytes to `take` on every rank.
void kirsch_mpi_broadcast(const char* data, int64_t bytes, void (*take)(void*, const char*, int64_t),
                          void* context);

}  // extern "C"

#endif  // KIRSCH_TOOLS_MPI_PLUGIN_H_
