// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/worker.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "nlohmann/json.hpp"
#include "spec/text/cat.h"
#include "spec/text/json_text.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

using nlohmann::json;

// Far beyond the slowest sensible answer, which is a few calls of the largest matmul.
constexpr int kHungMilliseconds = 10 * 60 * 1000;

// Waits until the process has stopped, or ended. A signal that was sent need not have arrived.
void AwaitStop(pid_t pid) {
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

}  // namespace

Worker::Worker(Worker&& other) noexcept { *this = std::move(other); }

Worker& Worker::operator=(Worker&& other) noexcept {
  Kill();
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::exchange(other.socket_, -1);
  return *this;
}

Worker::~Worker() { Kill(); }

absl::StatusOr<Worker> Worker::Start(const Factory& factory, const WorkerOptions& options) {
  int ends[2];
  // This kind of socket keeps the boundaries of messages, and shows when the other process ends.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return absl::InternalError(Cat("bench: socketpair: ", strerror(errno)));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]), close(ends[1]);
    return absl::InternalError(Cat("bench: fork: ", strerror(errno)));
  }
  // The child never returns from here.
  if (pid == 0) {
    close(ends[0]);
    WorkerProcess(ends[1], parent, factory, options);
  }
  close(ends[1]);
  Worker worker;
  worker.pid_ = pid;
  worker.socket_ = ends[0];
  return worker;
}

// SIGKILL ends a stopped process, too.
void Worker::Kill() {
  if (!alive()) return;
  kill(pid_, SIGKILL);
  (void)Bury(/*hung=*/false);
}

// After this the worker is not alive, and may be started again as a new one.
absl::Status Worker::Bury(bool hung) {
  if (hung) kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  close(socket_);
  pid_ = socket_ = -1;
  if (hung) return absl::AbortedError("no answer for ten minutes");
  // A crash is a signal; a library that gives up calls exit.
  if (WIFSIGNALED(status))
    return absl::AbortedError(
        Cat("killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")"));
  return absl::AbortedError(Cat("ended by itself with exit code ", WEXITSTATUS(status)));
}

absl::StatusOr<json> Worker::Ask(const json& request) {
  if (!alive()) return absl::AbortedError("its process is gone");
  const std::string text = JsonText(request);
  // From here until the answer the worker runs, and this process waits.
  kill(pid_, SIGCONT);
  // Without MSG_NOSIGNAL a dead worker would end this process with SIGPIPE.
  if (send(socket_, text.data(), text.size(), MSG_NOSIGNAL) < 0) return Bury(/*hung=*/false);
  pollfd wait = {socket_, POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&wait, 1, kHungMilliseconds)) < 0 && errno == EINTR) {
  }
  if (ready == 0) return Bury(/*hung=*/true);
  std::string answer(kMaxMessage, '\0');
  const ssize_t length = recv(socket_, answer.data(), answer.size(), 0);
  // The other end is closed: the worker has crashed.
  if (length <= 0) return Bury(/*hung=*/false);
  kill(pid_, SIGSTOP);
  AwaitStop(pid_);
  answer.resize(static_cast<size_t>(length));
  json reply = json::parse(answer);
  // Errors of the contender come as an answer like any other.
  const auto code = static_cast<absl::StatusCode>(reply["code"].get<int>());
  if (code != absl::StatusCode::kOk) return absl::Status(code, reply["message"].get<std::string>());
  return reply;
}

absl::StatusOr<ContenderInfo> Worker::Load() {
  KIRSCH_ASSIGN_OR_RETURN(const json reply, Ask({{"do", "load"}}));
  // Answers come from our own code, so their members are not checked.
  return ContenderInfo{reply.at("name"), reply.at("core"), reply.at("methods"), reply.at("alternatives")};
}

absl::Status Worker::Prepare(size_t item, size_t method) {
  return Ask({{"do", "prepare"}, {"item", item}, {"method", method}}).status();
}

absl::StatusOr<double> Worker::RunOnce() {
  KIRSCH_ASSIGN_OR_RETURN(const json reply, Ask({{"do", "run"}}));
  return reply.at("seconds").get<double>();
}

absl::StatusOr<std::vector<Sample>> Worker::Measure(const MeasureOptions& options) {
  KIRSCH_ASSIGN_OR_RETURN(
      const json reply,
      Ask({{"do", "measure"}, {"samples", options.samples}, {"min_seconds", options.min_seconds}}));
  std::vector<Sample> samples;
  for (const json& sample : reply.at("taken"))
    samples.push_back({sample[0], sample[1], sample[2], sample[3]});
  return samples;
}

}  // namespace kirsch
