// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_join.h"
#include "bench/contenders/worker.h"
#include "nlohmann/json.hpp"
#include "spec/text/cat.h"
#include "spec/text/json_text.h"

namespace kirsch {
namespace {

using nlohmann::json;

// A call that is this many times longer than a sample needs no call before it to warm up.
constexpr double kLongCall = 10;

// Sets what libraries read when they are loaded: numbers of threads, pinning, and the settings of this
// process.
void SetEnvironment(const WorkerOptions& options) {
  const std::string threads = Cat(options.cpus.size());
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"})
    setenv(name, threads.c_str(), 1);
  // One core for each thread of whoever uses OpenMP. Other threads share the process's set of cores.
  const std::string places =
      absl::StrJoin(options.cpus, ",", [](std::string* out, int cpu) { Append(out, "{", cpu, "}"); });
  setenv("OMP_PLACES", places.c_str(), 1);
  setenv("OMP_PROC_BIND", "true", 1);
  setenv("OMP_DYNAMIC", "false", 1);
  setenv("MKL_DYNAMIC", "FALSE", 1);
  // The settings of this process come last, so that they win.
  for (const std::string& setting : options.environment) {
    const size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
  }
}

// Later threads inherit the set.
void Pin(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

// Drops the output of libraries, which may chatter ("Core not found: ..."). The parent's report is on stdout.
void Silence() {
  const int null = open("/dev/null", O_WRONLY);
  if (null < 0) return;
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  close(null);
}

// Answers requests. It has a contender for each set of weights; the first one alone was made with the
// process.
class Server {
 public:
  Server(const Worker::Factory& factory, const WorkerOptions& options)
      : factory_(factory), options_(options) {
    contenders_.push_back(factory());
  }

  json Answer(const json& request) {
    const std::string what = request["do"];
    if (what == "load") return Load();
    if (what == "prepare") return Prepare(request["item"], request["method"]);
    if (what == "run") return {{"code", 0}, {"seconds", TimeWarm([this] { Run(); }, 1).seconds}};
    return Measure({request["samples"], request["min_seconds"]});
  }

 private:
  // The answer for a status, also if it is OK.
  static json Failure(const absl::Status& status) {
    return {{"code", status.raw_code()}, {"message", std::string(status.message())}};
  }

  json Load() {
    // The others are loaded when an item first needs them.
    const absl::StatusOr<ContenderInfo> info = contenders_.front()->Load();
    if (!info.ok()) return Failure(info.status());
    return {{"code", 0},
            {"name", info->name},
            {"core", info->core},
            {"methods", info->methods},
            {"alternatives", info->alternatives}};
  }

  // Prepares all contenders for an item: the first with the workload itself, the others with its other sets
  // of weights.
  json Prepare(size_t item, size_t method) {
    // A new item: nothing is known of its calls, and the first set of weights comes first.
    calls_ = 0;
    turn_ = 0;
    workload_ = &options_.workloads[item];
    absl::Span<const Workload> rotated;
    if (!options_.rotated.empty()) rotated = options_.rotated[item];
    // The item may have fewer sets than the last one; contenders are kept as far as possible.
    contenders_.resize(std::min(contenders_.size(), rotated.size() + 1));
    absl::Status status = contenders_.front()->Prepare(*workload_, item, method);
    for (size_t set = 0; set < rotated.size() && status.ok(); ++set) {
      // There was no contender for this set so far.
      if (set + 1 == contenders_.size()) {
        contenders_.push_back(factory_());
        status = contenders_.back()->Load().status();
      }
      if (status.ok()) status = contenders_[set + 1]->Prepare(rotated[set], item, method);
    }
    return Failure(status);
  }

  // Makes one call, with the next set of weights.
  void Run() {
    contenders_[turn_]->Run();
    if (++turn_ == contenders_.size()) turn_ = 0;
  }

  // Takes one sample, warm or cold.
  Sample Take(double min_seconds) {
    const auto run = [this] { Run(); };
    if (!options_.cold) return TimeWarm(run, calls_);
    // Operands are evicted before each call, and what was packed of them.
    std::vector<absl::Span<const char>> memory = EvictedMemory(*workload_);
    if (EvictsPacked(*workload_))
      for (const absl::Span<const char> own : contenders_.front()->Own()) memory.push_back(own);
    return TimeCold(run, memory, min_seconds);
  }

  // Warms up before the samples of an item. The first time, finding out the number of calls does it. Cold
  // calls have nothing to warm.
  void WarmUp(double min_seconds) {
    const auto run = [this] { Run(); };
    if (options_.cold) return;
    if (calls_ == 0) {
      calls_ = CalibrateCalls(run, min_seconds);
    } else if (call_seconds_ < kLongCall * min_seconds) {
      TimeWarm(run, std::max<int64_t>(1, calls_ / 4));
    }
  }

  // Takes samples until enough were not preempted, or twice as many as asked for were taken.
  json Measure(const MeasureOptions& options) {
    WarmUp(options.min_seconds);
    const int threads = static_cast<int>(options_.cpus.size());
    json taken = json::array();
    int good = 0;
    for (int attempt = 0; attempt < 2 * options.samples && good < options.samples; ++attempt) {
      const Sample sample = Take(options.min_seconds);
      // The next warm-up depends on how long a call takes.
      call_seconds_ = sample.seconds;
      good += Preempted(sample, threads) ? 0 : 1;
      taken.push_back(
          {sample.seconds, sample.total_seconds, sample.cpu_seconds, sample.involuntary_switches});
    }
    return {{"code", 0}, {"taken", taken}};
  }

  const Worker::Factory& factory_;
  const WorkerOptions& options_;
  std::vector<std::unique_ptr<Contender>> contenders_;  // the same one with each set of weights
  size_t turn_ = 0;                                     // whose call is next
  const Workload* workload_ = nullptr;
  int64_t calls_ = 0;  // of a warm sample; 0: not calibrated yet
  double call_seconds_ = 0;
};

// Answers until the parent closes its end of the socket.
void Serve(int socket, Server& server) {
  std::string request(kMaxMessage, '\0');
  for (;;) {
    const ssize_t length = recv(socket, request.data(), request.size(), 0);
    if (length <= 0) return;
    const std::string answer =
        JsonText(server.Answer(json::parse(request.begin(), request.begin() + length)));
    if (send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
  }
}

}  // namespace

void WorkerProcess(int socket, pid_t parent, const Worker::Factory& factory, const WorkerOptions& options) {
  // From here on the process dies with its parent, unless that has died since the fork.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGINT, SIG_IGN);  // the parent decides
  Silence();
  SetEnvironment(options);
  Pin(options.cpus);
  Server server(factory, options);
  Serve(socket, server);
  _exit(0);  // nothing of the parent's is to be flushed or destroyed here
}

}  // namespace kirsch
