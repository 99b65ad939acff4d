#include "bench/team.h"

#include "bench/library.h"

namespace kirsch {

absl::Status Team::Load(int threads) {
  threads_ = threads;
  if (threads == 1) return absl::OkStatus();
  const absl::StatusOr<void*> library = OpenLibrary({PluginPath("kirsch_team")});
  if (!library.ok()) return library.status();
  run_ = Symbol<RunFn>(*library, "kirsch_team_run");
  return run_ != nullptr ? absl::OkStatus() : absl::NotFoundError("kirsch_team: no kirsch_team_run in it");
}

void Team::Run(absl::FunctionRef<void(size_t)> task) const {
  if (threads_ == 1) return task(0);
  run_(
      threads_,
      [](void* argument, size_t thread) {
        (*static_cast<absl::FunctionRef<void(size_t)>*>(argument))(thread);
      },
      &task);
}

}  // namespace kirsch
