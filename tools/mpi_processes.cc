// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi_processes.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/machine/shared_library.h"
#include "spec/text/cat.h"
#include "tools/mpi_plugin.h"

namespace kirsch {
namespace {

// True if a launcher says that there are several processes: Open MPI's, or one that speaks PMI (MPICH's,
// Intel's). Launchers say it in variables, so MPI need not be loaded to find out.
bool StartedAsOneOfSeveral() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(variable); size != nullptr && std::atoi(size) > 1) return true;
  return false;
}

// The group of all processes of the job, by way of the plug-in. If anything is missing, it is not started.
class MpiProcesses : public ProcessGroup {
 public:
  // `library`: the plug-in, loaded.
  explicit MpiProcesses(void* library)
      : start_(Symbol<decltype(kirsch_mpi_start)>(library, "kirsch_mpi_start")),
        stop_(Symbol<decltype(kirsch_mpi_stop)>(library, "kirsch_mpi_stop")),
        gather_(Symbol<decltype(kirsch_mpi_gather)>(library, "kirsch_mpi_gather")),
        broadcast_(Symbol<decltype(kirsch_mpi_broadcast)>(library, "kirsch_mpi_broadcast")) {
    // MPI is started only if the plug-in has all four functions.
    started_ = start_ != nullptr && stop_ != nullptr && gather_ != nullptr && broadcast_ != nullptr &&
               start_(&rank_, &size_) != 0;
  }
  ~MpiProcesses() override {
    if (started_) stop_();
  }

  bool started() const { return started_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::string> Gather(const std::string& bytes) override {
    std::vector<std::string> all;
    gather_(bytes.data(), static_cast<int64_t>(bytes.size()), Take, &all);
    return all;
  }

  std::string Broadcast(std::string bytes) override {
    std::vector<std::string> all;
    broadcast_(bytes.data(), static_cast<int64_t>(bytes.size()), Take, &all);
    return all[0];
  }

 private:
  // What the plug-in calls back: appends the bytes to the list behind `context`.
  static void Take(void* context, const char* data, int64_t bytes) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(data, static_cast<size_t>(bytes));
  }

  decltype(kirsch_mpi_start)* start_;
  decltype(kirsch_mpi_stop)* stop_;
  decltype(kirsch_mpi_gather)* gather_;
  decltype(kirsch_mpi_broadcast)* broadcast_;
  bool started_ = false;
  int rank_ = 0, size_ = 1;
};

}  // namespace

// A process that is alone never loads MPI.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ProcessesOfThisJob() {
  if (!StartedAsOneOfSeveral()) return std::make_unique<OneProcess>();
  const std::string path = BesideExecutable("libkirsch_mpi.so");
  // Open MPI's own plug-ins look for its symbols among the global ones.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    return absl::NotFoundError(
        Cat("started as one of several MPI processes, but MPI can't be loaded: ", dlerror()));
  auto processes = std::make_unique<MpiProcesses>(library);
  if (!processes->started()) return absl::NotFoundError(Cat("'", path, "': MPI could not be started"));
  return processes;
}

}  // namespace kirsch
