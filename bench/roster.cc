#include "bench/roster.h"

#include <algorithm>
#include <utility>

namespace kirsch {
namespace {

constexpr int kMaxDeaths = 3;

bool SameKernels(const Entrant& a, const Entrant& b) {
  return !a.info.core.empty() && a.info.name == b.info.name && a.info.core == b.info.core;
}

// Adds the entrant if it starts and is not a repetition.
absl::Status TryEnter(Entrant entrant, std::vector<Entrant>& entrants) {
  if (absl::Status status = StartEntrant(entrant); !status.ok()) return status;
  const bool repeated = std::any_of(entrants.begin(), entrants.end(),
                                    [&](const Entrant& other) { return SameKernels(entrant, other); });
  if (!repeated) entrants.push_back(std::move(entrant));
  return absl::OkStatus();
}

Entrant MakeEntrant(const Peer& peer, const Worker::Factory& factory, const WorkerOptions& options) {
  Entrant entrant;
  entrant.peer = peer.name;
  entrant.factory = factory;
  entrant.options = options;
  for (const std::string& setting : peer.environment) entrant.options.environment.push_back(setting);
  return entrant;
}

}  // namespace

absl::Status StartEntrant(Entrant& entrant) {
  if (entrant.deaths >= kMaxDeaths) return absl::AbortedError("given up after three deaths");
  absl::StatusOr<Worker> worker = Worker::Start(entrant.factory, entrant.options);
  if (!worker.ok()) return worker.status();
  entrant.worker = *std::move(worker);
  absl::StatusOr<ContenderInfo> info = entrant.worker.Load();
  if (!info.ok()) return info.status();
  entrant.info = *std::move(info);
  return absl::OkStatus();
}

std::vector<Entrant> EnterPeer(const Peer& peer, const WorkerOptions& options,
                               std::vector<MissingPeer>& missing) {
  std::vector<Entrant> entrants;
  absl::Status first_failure;
  for (const Worker::Factory& build : peer.builds) {
    const size_t before = entrants.size();
    if (absl::Status status = TryEnter(MakeEntrant(peer, build, options), entrants); !status.ok()) {
      first_failure.Update(status);
      continue;
    }
    if (entrants.size() == before) continue;
    // A setting that the library or the CPU cannot take is no entrant, and no failure either.
    for (const std::string& setting : std::vector<std::string>(entrants[before].info.alternatives)) {
      Entrant alternative = MakeEntrant(peer, build, options);
      alternative.options.environment.push_back(setting);
      (void)TryEnter(std::move(alternative), entrants);
    }
  }
  if (entrants.empty()) missing.push_back({peer.name, std::string(first_failure.message())});
  return entrants;
}

}  // namespace kirsch
