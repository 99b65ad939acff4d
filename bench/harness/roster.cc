// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/roster.h"

#include <algorithm>
#include <utility>

#include "bench/machine/core_types.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr int kMaxDeaths = 3;

// Libraries fall back to a lesser core type without a word, so two settings may be the same. If the library
// does not say which kernels it takes, they are taken to differ.
bool SameKernels(const Entrant& a, const Entrant& b) {
  return !a.info.core.empty() && a.info.name == b.info.name && a.info.core == b.info.core;
}

// The entrants of one peer, so far.
struct Entrants {
  const std::vector<std::string>& features;         // of the CPU
  std::vector<Entrant> entered = {}, foreign = {};  // foreign: to this CPU

  bool Has(const Entrant& entrant) const {
    const auto same = [&](const Entrant& other) { return SameKernels(entrant, other); };
    return std::any_of(entered.begin(), entered.end(), same) ||
           std::any_of(foreign.begin(), foreign.end(), same);
  }

  // Adds the entrant if it starts and is no repetition. Returns the settings that are worth trying after it,
  // or why it did not start.
  absl::StatusOr<std::vector<std::string>> Try(Entrant entrant) {
    // Only a library that is loaded says which kernels it takes.
    KIRSCH_RETURN_IF_ERROR(StartEntrant(entrant));
    if (Has(entrant)) return std::vector<std::string>();
    std::vector<Entrant>& kind = RunsCoreType(entrant.info.core, features) ? entered : foreign;
    kind.push_back(std::move(entrant));
    return kind.back().info.alternatives;
  }
};

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
  KIRSCH_ASSIGN_OR_RETURN(Worker worker, Worker::Start(entrant.factory, entrant.options));
  entrant.worker = std::move(worker);
  KIRSCH_ASSIGN_OR_RETURN(entrant.info, entrant.worker.Load());
  return absl::OkStatus();
}

std::vector<Entrant> EnterPeer(const Peer& peer, const WorkerOptions& options,
                               const std::vector<std::string>& features, BenchReport& report) {
  Entrants entrants{features};
  absl::Status first_failure;
  for (const Worker::Factory& build : peer.builds) {
    // The default setting comes first; the library then says which others are worth trying.
    const absl::StatusOr<std::vector<std::string>> settings = entrants.Try(MakeEntrant(peer, build, options));
    first_failure.Update(settings.status());
    if (!settings.ok()) continue;
    // A setting that the library cannot take is no entrant, and no failure either.
    for (const std::string& setting : *settings) {
      Entrant alternative = MakeEntrant(peer, build, options);
      alternative.options.environment.push_back(setting);
      (void)entrants.Try(std::move(alternative));
    }
  }
  for (const Entrant& foreign : entrants.foreign) report.not_on_this_cpu.push_back(foreign.name());
  // One build that works is enough for the peer to take part.
  if (entrants.entered.empty() && !first_failure.ok())
    report.missing.push_back({peer.name, std::string(first_failure.message())});
  return std::move(entrants.entered);
}

}  // namespace kirsch
