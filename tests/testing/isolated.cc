// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/isolated.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch::testing {
namespace {

// From now on; of the processor, as others may be at work. The end of it is a signal.
void LimitTime(unsigned seconds) {
  itimerval limit = {};
  limit.it_value.tv_sec = static_cast<time_t>(seconds);
  KIRSCH_CHECK(setitimer(ITIMER_PROF, &limit, nullptr) == 0);
}

enum class Message : uint64_t { kNote, kResult };

void WriteAll(int pipe, const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(pipe, from, bytes);
    if (written <= 0) _exit(1);  // the parent is gone
    from += written;
    bytes -= static_cast<size_t>(written);
  }
}

bool ReadAll(int pipe, void* data, size_t bytes) {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(pipe, to, bytes);
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

void Send(int pipe, Message message, const std::string& text) {
  const std::array<uint64_t, 2> head = {static_cast<uint64_t>(message), text.size()};
  WriteAll(pipe, head.data(), sizeof(head));
  WriteAll(pipe, text.data(), text.size());
}

bool Receive(int pipe, Message* message, std::string* text) {
  std::array<uint64_t, 2> head = {};
  if (!ReadAll(pipe, head.data(), sizeof(head))) return false;
  *message = static_cast<Message>(head[0]);
  text->resize(head[1]);
  return ReadAll(pipe, text->data(), text->size());
}

}  // namespace

std::vector<IsolatedCase> RunIsolated(int count, unsigned seconds,
                                      const std::function<std::string(int, const Note&)>& run) {
  std::vector<IsolatedCase> cases;
  while (static_cast<int>(cases.size()) < count) {
    std::array<int, 2> ends = {};
    KIRSCH_CHECK(pipe(ends.data()) == 0);
    const pid_t child = fork();
    KIRSCH_CHECK(child >= 0);
    if (child == 0) {
      close(ends[0]);
      for (int i = static_cast<int>(cases.size()); i < count; ++i) {
        LimitTime(seconds);
        Send(ends[1], Message::kResult,
             run(i, [&](const std::string& text) { Send(ends[1], Message::kNote, text); }));
      }
      _exit(0);
    }
    close(ends[1]);
    std::string noted, text;
    for (Message message; Receive(ends[0], &message, &text);) {
      if (message == Message::kNote) noted = text;
      if (message == Message::kResult) cases.push_back({false, text});
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (static_cast<int>(cases.size()) == count) break;
    const std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit";
    cases.push_back({true, Cat("died (", how, "):\n", noted)});
  }
  return cases;
}

}  // namespace kirsch::testing
