// SPDX-License-Identifier: Apache-2.0
#include "spec/text/date.h"

#include <ctime>

namespace kirsch {
namespace {

// `format` is strftime's. Its result must fit 31 characters.
std::string NowAs(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  // gmtime_r writes into our own struct; gmtime would share one between threads.
  gmtime_r(&now, &parts);
  char text[32] = "";
  std::strftime(text, sizeof(text), format, &parts);
  return text;
}

}  // namespace

std::string Today() { return NowAs("%Y-%m-%d"); }

std::string Now() { return NowAs("%Y-%m-%dT%H:%M:%SZ"); }

}  // namespace kirsch
