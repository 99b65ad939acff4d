#include "spec/text/date.h"

#include <ctime>

namespace kirsch {

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm day;
  gmtime_r(&now, &day);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &day);
  return text;
}

}  // namespace kirsch
