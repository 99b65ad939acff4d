// SPDX-License-Identifier: Apache-2.0
#include "bench/machine/team.h"

#include "bench/machine/shared_library.h"
#include "spec/text/status_macros.h"

namespace kirsch {

absl::Status Team::Load(int threads) {
  threads_ = threads;
  if (threads == 1) return absl::OkStatus();
  KIRSCH_ASSIGN_OR_RETURN(void* const library, OpenLibrary({PluginPath("kirsch_team")}));
  run_ = Symbol<RunFn>(library, "kirsch_team_run");
  return run_ != nullptr ? absl::OkStatus() : absl::NotFoundError("kirsch_team: no kirsch_team_run in it");
}

void Team::Run(absl::FunctionRef<void(size_t)> task) const {
  RunPhases(1, [&](size_t thread, size_t) { task(thread); });
}

void Team::RunPhases(size_t phases, absl::FunctionRef<void(size_t, size_t)> task) const {
  if (threads_ == 1) {
    for (size_t phase = 0; phase < phases; ++phase) task(0, phase);
    return;
  }
  // A FunctionRef does not fit the C interface, so it goes as the argument of a function that calls it.
  run_(
      threads_, phases,
      [](void* argument, size_t thread, size_t phase) {
        (*static_cast<absl::FunctionRef<void(size_t, size_t)>*>(argument))(thread, phase);
      },
      &task);
}

}  // namespace kirsch
