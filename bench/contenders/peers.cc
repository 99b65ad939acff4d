// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/peers.h"

#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "bench/contenders/contenders.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr char kLoopsPeer[] = "loops";
constexpr size_t kMostPath = 4096;  // characters of one in a message

// A row of the table of peers.
struct Known {
  const char* name;
  bool plugin;                           // else a library with a CBLAS interface
  std::array<const char*, 4> libraries;  // plug-ins: each is a build; else the first that loads
  const char* setting = nullptr;         // of its environment
};

// To add a peer with a CBLAS interface is to add a row.
constexpr std::array<Known, 7> kKnown = {{
    {"openblas", false, {"libopenblas.so.0", "libopenblas.so"}},
    {"blis", false, {"libblis.so.4", "libblis.so.3", "libblis.so"}},
    {"onednn", true, {"kirsch_peer_onednn"}},
    {"onednn:noamx", true, {"kirsch_peer_onednn"}, "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"},
    {"libxsmm", true, {"kirsch_peer_libxsmm"}},
    {"eigen", true, {"kirsch_peer_eigen_haswell", "kirsch_peer_eigen_skylake-avx512"}},
    {"mkl", false, {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"}},
}};

// A name that was found. `known` is null for cblas:PATH, whose path is in `libraries` then.
struct Found {
  const Known* known = nullptr;
  std::vector<std::string> libraries;
};

// The names that a row has; the others are null.
std::vector<std::string> NamesOf(const Known& known) {
  std::vector<std::string> names;
  for (const char* library : known.libraries)
    if (library != nullptr) names.emplace_back(library);
  return names;
}

// Puts the libraries of the active environment of pip or conda before the system's.
std::vector<std::string> WithThoseOfPython(std::vector<std::string> names) {
  std::vector<std::string> all;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* const prefix = std::getenv(variable); prefix != nullptr)
      for (const std::string& name : names)
        if (const std::string path = Cat(prefix, "/lib/", name); access(path.c_str(), R_OK) == 0)
          all.push_back(path);
  std::move(names.begin(), names.end(), std::back_inserter(all));
  return all;
}

// Finds a name in the table. `more`: further names that are peers, for the message.
absl::StatusOr<Found> Find(const std::string& name, const char* more) {
  if (const std::string path = CblasPath(name); !path.empty()) {
    // A name without a slash is for the loader to find.
    if (path.find('/') != std::string::npos && access(path.c_str(), R_OK) != 0)
      return absl::InvalidArgumentError(Cat("--against: ", Quoted(path, kMostPath), ": ", strerror(errno)));
    return Found{nullptr, {path}};
  }
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    return Found{&known, known.plugin ? NamesOf(known) : WithThoseOfPython(NamesOf(known))};
  }
  // The message lists all peers there are.
  const std::string names =
      absl::StrJoin(kKnown, ", ", [](std::string* out, const Known& known) { Append(out, known.name); });
  return absl::InvalidArgumentError(Cat("--against: unknown peer '", name, "', expected one of ", names, ", ",
                                        more, "header:COMPILER, cblas:PATH"));
}

using CblasFactory = std::function<std::unique_ptr<Contender>(const std::vector<std::string>& libraries)>;

// Makes a peer of what was found: plug-ins as they are, a library with the interface of BLAS by `cblas`.
Peer MakePeer(const std::string& name, const Found& found, const CblasFactory& cblas) {
  Peer peer{name, {}};
  if (found.known != nullptr && found.known->setting != nullptr) peer.environment = {found.known->setting};
  if (found.known == nullptr || !found.known->plugin)
    peer.builds.push_back([libraries = found.libraries, cblas] { return cblas(libraries); });
  else
    for (const std::string& plugin : found.libraries)
      peer.builds.push_back([plugin] { return MakePluginContender(plugin); });
  return peer;
}

}  // namespace

std::string CblasPath(const std::string& name) {
  absl::string_view path = name;
  return absl::ConsumePrefix(&path, "cblas:") ? std::string(path) : "";
}

absl::StatusOr<Peer> FindPeer(const std::string& name) {
  KIRSCH_ASSIGN_OR_RETURN(const Found found, Find(name, ""));
  return MakePeer(name, found, MakeCblasContender);
}

absl::StatusOr<Peer> FindPeerOfGraphs(const std::string& name, const LoopsOfGraphs& loops) {
  if (name == kLoopsPeer)
    // Plain loops need no library; their compiled functions are loaded in the worker.
    return Peer{
        name, {[&loops] { return MakeLoopsContender(loops.at(LoopsKind::kLoops)); }}, {}, LoopsKind::kLoops};
  KIRSCH_ASSIGN_OR_RETURN(const Found found, Find(name, "loops, parts, "));
  Peer peer = MakePeer(name, found, [&loops](const std::vector<std::string>& libraries) {
    return MakeCblasLoopsContender(libraries, loops.at(LoopsKind::kCblas));
  });
  // Plug-ins take graphs as they are; libraries need loops around their products.
  if (found.known != nullptr && found.known->plugin) return peer;
  peer.loops = LoopsKind::kCblas;
  // The threads of the loops and of the library take turns in one process. Neither may spin while the others
  // work.
  peer.environment = {"OMP_WAIT_POLICY=PASSIVE", "OPENBLAS_THREAD_TIMEOUT=4"};
  return peer;
}

}  // namespace kirsch
