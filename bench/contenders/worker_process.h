// What runs in a worker's process (see worker.h): a loop that answers one request at a time.
#ifndef KIRSCH_BENCH_CONTENDERS_WORKER_PROCESS_H_
#define KIRSCH_BENCH_CONTENDERS_WORKER_PROCESS_H_

#include <sys/types.h>

#include "bench/contenders/worker.h"

namespace kirsch {

// Takes over the process just forked: pins it, sets its environment, makes the contender, and obeys the
// requests that come through `socket` until the other end closes. Dies with its parent.
[[noreturn]] void WorkerProcess(int socket, pid_t parent, const Worker::Factory& factory,
                                const WorkerOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_WORKER_PROCESS_H_
