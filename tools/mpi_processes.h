// SPDX-License-Identifier: Apache-2.0
// Finds the processes of the MPI job that kirsch was started in, if any. Only then is MPI loaded.
#ifndef KIRSCH_TOOLS_MPI_PROCESSES_H_
#define KIRSCH_TOOLS_MPI_PROCESSES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "search/table/process_group.h"

namespace kirsch {

// OneProcess, unless mpirun or mpiexec started this process as one of several. NotFound if it did, but MPI
// can't be loaded or started. At most one result may live at a time.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ProcessesOfThisJob();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_MPI_PROCESSES_H_
