// SPDX-License-Identifier: Apache-2.0
#include "bench/machine/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Empty if the file can't be read.
std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string CpuDirectory(int cpu) { return Cat("/sys/devices/system/cpu/cpu", cpu); }

// The CPUs this process may use, ascending: a container may have a part of the machine.
std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

// Returns a text that all CPUs of a physical core have in common: its list of siblings, or the CPU's own
// number where Linux does not say.
std::string CoreOf(int cpu) {
  const std::string siblings = FirstLine(CpuDirectory(cpu) + "/topology/thread_siblings_list");
  return siblings.empty() ? Cat(cpu) : siblings;
}

// The model's name from /proc/cpuinfo; empty if it has none.
std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (parts.size() == 2 && absl::StripAsciiWhitespace(parts[0]) == "model name")
      return std::string(absl::StripAsciiWhitespace(parts[1]));
  }
  return "";
}

// Reads the size of a cache as Linux prints it: "32K", "1024K", "8M". 0 if it is no size.
int64_t ParseBytes(absl::string_view text) {
  int64_t unit = 1;
  if (absl::ConsumeSuffix(&text, "K")) unit = 1 << 10;
  if (absl::ConsumeSuffix(&text, "M")) unit = 1 << 20;
  int64_t value = 0;
  return absl::SimpleAtoi(text, &value) ? value * unit : 0;
}

std::vector<CacheInfo> Caches(int cpu) {
  std::vector<CacheInfo> caches;
  for (int index = 0;; ++index) {
    const std::string directory = Cat(CpuDirectory(cpu), "/cache/index", index, "/");
    CacheInfo cache;
    cache.type = FirstLine(directory + "type");
    // Linux numbers the caches of a CPU without gaps, so the first one that is missing ends the list.
    if (cache.type.empty()) return caches;
    if (cache.type == "Instruction") continue;
    (void)absl::SimpleAtoi(FirstLine(directory + "level"), &cache.level);
    (void)absl::SimpleAtoi(FirstLine(directory + "ways_of_associativity"), &cache.ways);
    cache.bytes = ParseBytes(FirstLine(directory + "size"));
    cache.shared_by = FirstLine(directory + "shared_cpu_list");
    caches.push_back(cache);
  }
}

std::string Kernel() {
  utsname name;
  return uname(&name) == 0 ? Cat(name.sysname, " ", name.release) : "";
}

// The policy that is in brackets: "always [madvise] never".
std::string HugepagePolicy() {
  const std::string line = FirstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t begin = line.find('['), end = line.find(']');
  return begin == std::string::npos || end == std::string::npos ? ""
                                                                : line.substr(begin + 1, end - begin - 1);
}

}  // namespace

Peak Machine::BestPeak(const std::string& instruction) const {
  Peak best{instruction};
  for (const Peak& peak : peaks)
    if (peak.instruction == instruction && peak.gflops > best.gflops) best = peak;
  return best;
}

absl::StatusOr<std::vector<int>> ChooseCpus(int threads) {
  std::vector<int> cpus = AllowedCpus();
  if (threads < 1 || threads > static_cast<int>(cpus.size()))
    return absl::InvalidArgumentError(
        Cat("--threads ", threads, ": expected 1 to ", cpus.size(), ", the CPUs this process may use"));
  // From the last CPU on. The number before each CPU says how many of its core come before it; sorting by it
  // keeps the order otherwise.
  std::reverse(cpus.begin(), cpus.end());
  std::map<std::string, int> used;  // CPUs of a core that are chosen already
  std::vector<std::pair<int, int>> order;
  for (int cpu : cpus) order.emplace_back(used[CoreOf(cpu)]++, cpu);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> chosen;
  for (int i = 0; i < threads; ++i) chosen.push_back(order[static_cast<size_t>(i)].second);
  return chosen;
}

Machine DescribeMachine(const std::vector<int>& pinned) {
  Machine machine;
  machine.cpu = CpuModel();
  // Counts physical cores by their names.
  std::map<std::string, int> cores;
  for (int cpu : AllowedCpus()) ++cores[CoreOf(cpu)];
  machine.cores = static_cast<int>(cores.size());
  // The caches of the first CPU stand for all.
  machine.caches = Caches(pinned.front());
  machine.kernel = Kernel();
#ifdef __clang__
  machine.compiler = Cat("clang ", __clang_major__, ".", __clang_minor__);
#else
  machine.compiler = Cat("gcc ", __VERSION__);
#endif
  machine.hugepages = HugepagePolicy();
  machine.pinned = pinned;
  return machine;
}

}  // namespace kirsch
