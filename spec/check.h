// SPDX-License-Identifier: Apache-2.0
// KIRSCH_CHECK: an invariant of our own. A failure is a bug in Kirsch, never bad input (bad input is an
// absl::Status), so it prints where and aborts.
#ifndef KIRSCH_SPEC_CHECK_H_
#define KIRSCH_SPEC_CHECK_H_

#include <cstdio>
#include <cstdlib>

#define KIRSCH_CHECK(condition)                                                                       \
  do {                                                                                                \
    if (!(condition)) {                                                                               \
      std::fprintf(stderr, "kirsch: bug: %s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                                   \
    }                                                                                                 \
  } while (false)

// Never reached: a bug, likewise.
#define KIRSCH_BUG(what)                                                        \
  do {                                                                          \
    std::fprintf(stderr, "kirsch: bug: %s:%d: %s\n", __FILE__, __LINE__, what); \
    std::abort();                                                               \
  } while (false)

#endif  // KIRSCH_SPEC_CHECK_H_
