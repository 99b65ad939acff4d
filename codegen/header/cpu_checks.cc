// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/cpu_checks.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "spec/check.h"
#include "spec/feature.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The name must be in the table.
const Feature& RowOf(const std::string& name) {
  const Feature* const row = FindFeature(name);
  KIRSCH_CHECK(row != nullptr);
  return *row;
}

// Returns the name as it may be part of a macro's: "AMX_TILE" for "amx-tile".
std::string MacroPart(const std::string& feature) {
  return absl::StrReplaceAll(absl::AsciiStrToUpper(feature), {{"-", "_"}});
}
std::string CheckMacro(const std::string& feature) { return Cat("KIRSCH_CPU_", MacroPart(feature)); }

// A feature counts only if the operating system saves its registers, which XGETBV tells. Leaves and subleaves
// that the CPU lacks are not asked for.
constexpr char kCpuidFunctions[] =
    R"(static inline void $NAME_cpuid_leaf(int leaf, int subleaf, int* info) {
#if defined(_MSC_VER)
  __cpuidex(info, leaf, subleaf);
#else
  __asm__("cpuid" : "=a"(info[0]), "=b"(info[1]), "=c"(info[2]), "=d"(info[3]) : "a"(leaf), "c"(subleaf));
#endif
}
// The registers that the operating system saves.
static inline KIRSCH_TARGET("xsave")
unsigned $NAME_cpuid_state(void) {
#if defined(_MSC_VER)
  return (unsigned)_xgetbv(0);
#else
  unsigned state;
  __asm__("xgetbv" : "=a"(state) : "c"(0) : "edx");
  return state;
#endif
}
// 1 if CPUID has the bit, and the operating system saves the registers in `state`.
static inline int $NAME_cpuid(int leaf, int subleaf, int index, int bit, unsigned state) {
  int info[4];
  $NAME_cpuid_leaf(1, 0, info);
  if (!(info[2] >> 27 & 1) || ($NAME_cpuid_state() & state) != state) return 0;
  $NAME_cpuid_leaf(0, 0, info);
  if (info[0] < leaf) return 0;
  $NAME_cpuid_leaf(leaf, 0, info);
  if (subleaf > 0 && info[0] < subleaf) return 0;
  $NAME_cpuid_leaf(leaf, subleaf, info);
  return info[index] >> bit & 1;
}
// Bits, from bit 1 on, of what is defined below. CPUID is slow, so only the first call asks it.
static int $NAME_known_bits;
static inline int $NAME_cpuid_bits(void) {
  int bits = KIRSCH_LOAD($NAME_known_bits);
  if (bits == 0) {
    bits = 1
$BITS;
    KIRSCH_STORE($NAME_known_bits, bits);
  }
  return bits;
}
)";

// Linux lets a process use tiles only if it has asked for them. The system is called directly, without a
// library.
constexpr char kPermission[] =
    R"(// 1 if the system lets this process use tiles (AMX), for which it has to be asked.
static inline int $NAME_permitted(int asks) {
#if defined(__linux__)
  unsigned long long states = 0;
  long result = 158;  // arch_prctl: 0x1023 asks for a state, 0x1022 says which there are; 18 is that of tiles
  if (asks) __asm__ volatile("syscall" : "+a"(result) : "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
  result = 158;
  __asm__ volatile("syscall" : "+a"(result) : "D"(0x1022L), "S"(&states) : "rcx", "r11", "memory");
  return result == 0 && (states >> 18 & 1);
#else
  (void)asks;
  return 0;
#endif
}
)";

// Returns a condition for #if: the compiler's __builtin_cpu_supports may not take all of the names.
std::string OldBuiltinCondition(const std::vector<std::string>& features) {
  int gcc = 0, clang = 0;
  for (const std::string& feature : features) {
    gcc = std::max(gcc, RowOf(feature).gcc_builtin);
    clang = std::max(clang, RowOf(feature).clang_builtin);
  }
  std::string condition = "defined(_MSC_VER)";
  if (clang > 0) Append(&condition, " || defined(__clang__) && __clang_major__ < ", clang);
  if (gcc > 0) Append(&condition, " || !defined(__clang__) && __GNUC__ < ", gcc);
  return condition;
}

// Joins the features' items by &&.
template <typename Item>
std::string All(const std::vector<std::string>& features, Item item) {
  return Join(features, " && ", item);
}

}  // namespace

bool NeedPermission(const std::vector<std::string>& features) {
  return std::ranges::any_of(features,
                             [](const std::string& feature) { return RowOf(feature).by_permission; });
}

std::string CompilerCheck(const std::vector<std::string>& features) {
  std::string text;
  for (const std::string& feature : features)
    if (const Feature& row = RowOf(feature); row.gcc > 0)
      Append(&text, "#if defined(__clang__) ? __clang_major__ < ", row.clang,
             " : defined(__GNUC__) && __GNUC__ < ", row.gcc, "\n#error \"", feature, " needs GCC ", row.gcc,
             " or Clang ", row.clang, ", or a later one\"\n#endif\n");
  return text;
}

std::string CpuCheckDefinitions(const std::vector<std::string>& features, const std::string& name) {
  std::string bits, cpuid, builtin;
  int bit = 0;
  // Bit 0 of the known bits says that they are known, so features have the bits from 1 on.
  for (const std::string& feature : features) {
    const Feature& row = RowOf(feature);
    ++bit;
    Append(&bits, bit == 1 ? "" : "\n", "           | ", name, "_cpuid(", row.leaf, ", ", row.subleaf, ", ",
           static_cast<int>(row.reg), ", ", row.bit, ", 0x", absl::Hex(row.state), ")",
           row.by_permission ? Cat(" * ", name, "_permitted(0)") : "", " << ", bit);
    Append(&cpuid, "#define ", CheckMacro(feature), " ($NAME_cpuid_bits() >> ", bit, " & 1)\n");
    Append(&builtin, "#define ", CheckMacro(feature), " __builtin_cpu_supports(\"", feature, "\")\n");
  }
  // The builtin knows nothing of permissions, so CPUID is asked whatever the compiler.
  if (NeedPermission(features))
    return absl::StrReplaceAll(
        Cat(kPermission, kCpuidFunctions, cpuid,
            "#define KIRSCH_PERMIT() ((void)$NAME_permitted(1), KIRSCH_STORE($NAME_known_bits, 0))\n"),
        {{"$NAME", name}, {"$BITS", bits}});
  return absl::StrReplaceAll(Cat("#if ", OldBuiltinCondition(features), "\n", kCpuidFunctions, cpuid,
                                 "#else\n", builtin, "#endif\n"),
                             {{"$NAME", name}, {"$BITS", bits}});
}

std::string CpuCheckEnd(const std::vector<std::string>& features) {
  std::string text;
  for (const std::string& feature : features) Append(&text, "#undef ", CheckMacro(feature), "\n");
  if (NeedPermission(features)) text += "#undef KIRSCH_PERMIT\n";
  return text;
}

std::string CpuCondition(const std::vector<std::string>& features) { return All(features, CheckMacro); }

std::string CompilerCondition(const std::vector<std::string>& features) {
  return All(features, [](const std::string& feature) {
    const std::string defined = Cat("defined(__", MacroPart(feature), "__)");
    if (!RowOf(feature).by_arch_avx2) return defined;
    return Cat("(", defined, " || defined(_MSC_VER) && defined(__AVX2__))");
  });
}

}  // namespace kirsch
