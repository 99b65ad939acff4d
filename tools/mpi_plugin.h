// SPDX-License-Identifier: Apache-2.0
// Declares what the plug-in kirsch_mpi does for process_group.h. It is the only code that is linked with MPI,
// so that kirsch itself runs, and starts quickly, where there is none.
//
// Functions are plain C, as they are looked up by name. All processes make the same calls in the same order,
// but for start, which comes first.
#ifndef KIRSCH_TOOLS_MPI_PLUGIN_H_
#define KIRSCH_TOOLS_MPI_PLUGIN_H_

#include <cstdint>

extern "C" {

// Starts MPI, and says which process this is (from 0) of how many. Returns 0 if MPI could not be started.
int kirsch_mpi_start(int* rank, int* size);
// Ends MPI; no call may follow.
void kirsch_mpi_stop();

// Hands each rank's bytes, in the order of ranks, to `take(context, data, bytes)` on rank 0. On other ranks
// it is not called. `data` is valid during the call only.
void kirsch_mpi_gather(const char* data, int64_t bytes, void (*take)(void*, const char*, int64_t),
                       void* context);

// Hands rank 0's bytes to `take` on every rank.
void kirsch_mpi_broadcast(const char* data, int64_t bytes, void (*take)(void*, const char*, int64_t),
                          void* context);

}  // extern "C"

#endif  // KIRSCH_TOOLS_MPI_PLUGIN_H_
