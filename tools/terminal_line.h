// Progress for people: a line on standard error that is written over and in the end erased. Nothing at all if
// standard error is no terminal, or the line is not wanted.
#ifndef KIRSCH_TOOLS_TERMINAL_LINE_H_
#define KIRSCH_TOOLS_TERMINAL_LINE_H_

#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace kirsch {

class TerminalLine {
 public:
  explicit TerminalLine(bool wanted = true) : terminal_(wanted && isatty(STDERR_FILENO) != 0) {}
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;
  ~TerminalLine() { Erase(); }

  bool shows() const { return terminal_; }

  void Show(std::string_view text) {
    if (!terminal_) return;
    std::fprintf(stderr, "\r%.*s\033[K", static_cast<int>(text.size()), text.data());
    shown_ = true;
  }

  void Erase() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  const bool terminal_;
  bool shown_ = false;
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TERMINAL_LINE_H_
