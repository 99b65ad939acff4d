#include "codegen/header/cpu_checks.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "spec/check.h"
#include "spec/target/feature.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

const Feature& RowOf(const std::string& name) {
  const Feature* const row = FindFeature(name);
  KIRSCH_CHECK(row != nullptr);
  return *row;
}

std::string CheckMacro(const std::string& feature) {
  return Cat("KIRSCH_CPU_", absl::AsciiStrToUpper(feature));
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
  return absl::StrJoin(features, " && ",
                       [&](std::string* out, const std::string& feature) { Append(out, item(feature)); });
}

}  // namespace

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
  std::string cpuid, builtin;
  for (const std::string& feature : features) {
    const Feature& row = RowOf(feature);
    Append(&cpuid, "#define ", CheckMacro(feature), " ", name, "_cpuid(", row.leaf, ", ", row.subleaf, ", ",
           static_cast<int>(row.reg), ", ", row.bit, ", 0x", absl::Hex(row.state), ")\n");
    Append(&builtin, "#define ", CheckMacro(feature), " __builtin_cpu_supports(\"", feature, "\")\n");
  }
  return Cat("#if defined(_MSC_VER)\n", absl::StrReplaceAll(kCpuidFunction, {{"$NAME", name}}), cpuid,
             "#else\n", builtin, "#endif\n");
}

std::string CpuCheckEnd(const std::vector<std::string>& features) {
  std::string text;
  for (const std::string& feature : features) Append(&text, "#undef ", CheckMacro(feature), "\n");
  return text;
}

std::string CpuCondition(const std::vector<std::string>& features) { return All(features, CheckMacro); }

std::string CompilerCondition(const std::vector<std::string>& features) {
  return All(features, [](const std::string& feature) {
    const std::string defined = Cat("defined(__", absl::AsciiStrToUpper(feature), "__)");
    if (!RowOf(feature).by_arch_avx2) return defined;
    return Cat("(", defined, " || defined(_MSC_VER) && defined(__AVX2__))");
  });
}

}  // namespace kirsch
