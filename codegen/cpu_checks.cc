#include "codegen/cpu_checks.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// Where CPUID says that the CPU has a feature: a bit of a register (0 eax, 1 ebx, 2 ecx, 3 edx), and what the
// operating system must save (bits of XCR0).
struct CpuidBit {
  const char* feature;  // LLVM's name
  int leaf, subleaf, index, bit;
  int state;
};

constexpr int kYmm = 0x06, kZmm = 0xe6;

constexpr CpuidBit kCpuidBits[] = {
    {"fma", 1, 0, 2, 12, kYmm},        {"f16c", 1, 0, 2, 29, kYmm},       {"avx2", 7, 0, 1, 5, kYmm},
    {"avxvnni", 7, 1, 0, 4, kYmm},     {"avx512f", 7, 0, 1, 16, kZmm},    {"avx512dq", 7, 0, 1, 17, kZmm},
    {"avx512bw", 7, 0, 1, 30, kZmm},   {"avx512vl", 7, 0, 1, 31, kZmm},   {"avx512vbmi", 7, 0, 2, 1, kZmm},
    {"avx512vnni", 7, 0, 2, 11, kZmm}, {"avx512fp16", 7, 0, 3, 23, kZmm}, {"avx512bf16", 7, 1, 0, 5, kZmm},
};

const CpuidBit& CpuidBitOf(const std::string& feature) {
  for (const CpuidBit& bit : kCpuidBits)
    if (feature == bit.feature) return bit;
  KIRSCH_CHECK(false && "a feature without its CPUID bit");
}

std::string CheckMacro(const std::string& feature) {
  return absl::StrCat("KIRSCH_CPU_", absl::AsciiStrToUpper(feature));
}

constexpr char kCpuidFunction[] =
    R"(// 1 if CPUID has the bit, and the operating system saves the registers in `state`.
static inline KIRSCH_TARGET("xsave")
int $NAME_cpuid(int leaf, int subleaf, int index, int bit, unsigned state) {
  int info[4];
  __cpuid(info, 1);
  if (!(info[2] >> 27 & 1) || (_xgetbv(0) & state) != state) return 0;
  __cpuid(info, 0);
  if (info[0] < leaf) return 0;
  __cpuidex(info, leaf, 0);
  if (subleaf > 0 && info[0] < subleaf) return 0;
  __cpuidex(info, leaf, subleaf);
  return info[index] >> bit & 1;
}
)";

template <typename Item>
std::string All(const std::vector<std::string>& features, Item item) {
  return absl::StrJoin(features, " && ", [&](std::string* out, const std::string& feature) {
    absl::StrAppend(out, item(feature));
  });
}

}  // namespace

std::string CpuCheckDefinitions(const std::vector<std::string>& features, const std::string& name) {
  std::string cpuid, builtin;
  for (const std::string& feature : features) {
    const CpuidBit& bit = CpuidBitOf(feature);
    absl::StrAppend(&cpuid, "#define ", CheckMacro(feature), " ", name, "_cpuid(", bit.leaf, ", ",
                    bit.subleaf, ", ", bit.index, ", ", bit.bit, ", 0x", absl::Hex(bit.state), ")\n");
    absl::StrAppend(&builtin, "#define ", CheckMacro(feature), " __builtin_cpu_supports(\"", feature,
                    "\")\n");
  }
  return absl::StrCat("#if defined(_MSC_VER)\n", absl::StrReplaceAll(kCpuidFunction, {{"$NAME", name}}),
                      cpuid, "#else\n", builtin, "#endif\n");
}

std::string CpuCheckEnd(const std::vector<std::string>& features) {
  std::string text;
  for (const std::string& feature : features) absl::StrAppend(&text, "#undef ", CheckMacro(feature), "\n");
  return text;
}

std::string CpuCondition(const std::vector<std::string>& features) { return All(features, CheckMacro); }

std::string CompilerCondition(const std::vector<std::string>& features) {
  return All(features, [](const std::string& feature) {
    const std::string defined = absl::StrCat("defined(__", absl::AsciiStrToUpper(feature), "__)");
    // MSVC has no macro for these; its /arch:AVX2 means them too.
    if (feature != "fma" && feature != "f16c") return defined;
    return absl::StrCat("(", defined, " || defined(_MSC_VER) && defined(__AVX2__))");
  });
}

}  // namespace kirsch
