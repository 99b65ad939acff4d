// SPDX-License-Identifier: Apache-2.0
#include "spec/target/host.h"

#include <cpuid.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "spec/feature.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"

namespace kirsch {
namespace {

using enum CpuidRegister;

// The four registers that a leaf of CPUID fills, by their name.
struct CpuidResult {
  std::array<uint32_t, 4> words = {};
  uint32_t operator[](CpuidRegister reg) const { return words[static_cast<size_t>(reg)]; }
};

// All zero where the CPU has no such leaf.
CpuidResult Cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  CpuidResult result;
  auto& [eax, ebx, ecx, edx] = result.words;
  __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx);
  return result;
}

// XCR0: a bit for each part of the register state that the OS saves. 0 if it does not use XSAVE. A feature is
// usable only if the OS saves its registers from one thread to the next; CPUID alone does not tell.
uint64_t SavedState() {
  constexpr uint32_t kOsxsave = 1u << 27;
  if ((Cpuid(1)[kEcx] & kOsxsave) == 0) return 0;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// The features of the table that both the CPU and the operating system have, and that this process may use.
std::vector<std::string> ReadFeatures() {
  const uint64_t saved = SavedState();
  std::vector<std::string> features;
  for (const Feature& feature : kFeatures) {
    const uint32_t word = Cpuid(feature.leaf, feature.subleaf)[feature.reg];
    if ((word >> feature.bit & 1) != 0 && (saved & feature.state) == feature.state)
      features.emplace_back(feature.name);
  }
  DropForbidden(&features);
  return features;
}

void ReadIdentity(Host* host) {
  // The vendor's 12 letters are in this order of registers.
  const CpuidResult vendor = Cpuid(0);
  for (CpuidRegister reg : {kEbx, kEdx, kEcx}) {
    const uint32_t letters = vendor[reg];
    host->vendor.append(reinterpret_cast<const char*>(&letters), sizeof(letters));
  }
  // The brand has 48 letters: the 16 bytes of three leaves.
  for (uint32_t leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    const CpuidResult part = Cpuid(leaf);
    host->brand.append(reinterpret_cast<const char*>(part.words.data()), sizeof(part.words));
  }
  host->brand = std::string(absl::StripAsciiWhitespace(host->brand.c_str()));  // up to the first NUL
  // The signature: stepping in bits 0 to 3, model in 4 to 7, family in 8 to 11. A family of 15 is continued
  // by bits 20 to 27. The model is continued by bits 16 to 19 where the family is 6 or 15.
  const uint32_t signature = Cpuid(1)[kEax];
  const uint32_t family = signature >> 8 & 0xf, model = signature >> 4 & 0xf;
  host->family = static_cast<int>(family + (family == 0xf ? signature >> 20 & 0xff : 0));
  host->stepping = static_cast<int>(signature & 0xf);
  host->hypervisor = (Cpuid(1)[kEcx] & 1u << 31) != 0;
  host->model = static_cast<int>(model + (family == 0xf || family == 6 ? (signature >> 16 & 0xf) << 4 : 0));
}

// The text of a file of sysfs; empty if it is not there.
std::string ReadLine(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

// 0 if the file isn't there or holds something else. Understands the kernel's "32K" and "8M".
int64_t ReadNumber(const std::string& path) {
  std::string text = ReadLine(path);
  int64_t unit = 1;
  if (!text.empty() && text.back() == 'K') unit = 1024;
  if (!text.empty() && text.back() == 'M') unit = 1024 * 1024;
  if (unit > 1) text.pop_back();
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number * unit : 0;
}

// How many CPUs a list such as "0-3,8" has: 5.
int CountCpus(std::string_view list) {
  int count = 0;
  for (absl::string_view range : absl::StrSplit(ForAbsl(list), ',')) {
    const std::vector<std::string> ends = absl::StrSplit(range, '-');
    int first = 0, last = 0;
    if (absl::SimpleAtoi(ends.front(), &first) && absl::SimpleAtoi(ends.back(), &last))
      count += last - first + 1;
  }
  return count;
}

// Caches are numbered from 0 in `cpu_directory`; the first number without a type ends them. Caches of
// instructions are left out, as no cost depends on them.
std::vector<HostCache> ReadCaches(const std::string& cpu_directory) {
  std::vector<HostCache> caches;
  for (int index = 0;; ++index) {
    const std::string directory = Cat(cpu_directory, "/cache/index", index, "/");
    const std::string type = ReadLine(directory + "type");
    if (type.empty()) return caches;
    if (type == "Instruction") continue;
    caches.push_back({static_cast<int>(ReadNumber(directory + "level")), ReadNumber(directory + "size"),
                      static_cast<int>(ReadNumber(directory + "ways_of_associativity")),
                      CountCpus(ReadLine(directory + "shared_cpu_list"))});
  }
}

}  // namespace

bool PermitTiles() {
  // ARCH_REQ_XCOMP_PERM, for the state component of tile data. Older headers have no names for them.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // of arch_prctl
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

void DropForbidden(std::vector<std::string>* features) {
  // Linux saves the state of tiles only for processes that ask for it, as it is large. So the permission is
  // not asked for unless the CPU has tiles at all.
  const auto is_of_tiles = [](const std::string& name) {
    const Feature* const feature = FindFeature(name);
    return feature != nullptr && feature->state == kTileState;
  };
  if (std::ranges::any_of(*features, is_of_tiles) && !PermitTiles()) std::erase_if(*features, is_of_tiles);
}

Host ReadHost() {
  Host host;
  ReadIdentity(&host);
  host.features = ReadFeatures();
  // A container or taskset may give the process a part of the machine. Only these CPUs count, and caches are
  // those of the first of them.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int first_cpu = 0;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    host.cores = std::max(1, CPU_COUNT(&allowed));
    while (first_cpu + 1 < CPU_SETSIZE && !CPU_ISSET(first_cpu, &allowed)) ++first_cpu;
  }
  const std::string cpu = Cat("/sys/devices/system/cpu/cpu", first_cpu);
  host.ghz = static_cast<double>(ReadNumber(cpu + "/cpufreq/cpuinfo_max_freq")) * 1e-6;  // from kHz
  host.caches = ReadCaches(cpu);
  return host;
}

}  // namespace kirsch
