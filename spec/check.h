// SPDX-License-Identifier: Apache-2.0
// Checks invariants of our own. A failure is a bug in Kirsch, so it prints where and aborts. Bad input is
// never one: that is an absl::Status.
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

// For a place that is never reached. Being there is a bug, so it prints `what` and aborts, too.
#define KIRSCH_BUG(what)                                                        \
  do {                                                                          \
    std::fprintf(stderr, "kirsch: bug: %s:%d: %s\n", __FILE__, __LINE__, what); \
    std::abort();                                                               \
  } while (false)

#endif  // KIRSCH_SPEC_CHECK_H_
