// SPDX-License-Identifier: Apache-2.0
// Lists the CPU features that emitted code may need, a row of a table each. The host's detection, the
// headers' checks at run time and the JIT ask the rows.
#ifndef KIRSCH_SPEC_FEATURE_H_
#define KIRSCH_SPEC_FEATURE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace kirsch {

enum class CpuidRegister : uint8_t { kEax, kEbx, kEcx, kEdx };

// The state that the operating system must save for a feature to be usable: bits of XCR0.
inline constexpr uint64_t kNoState = 0, kYmmState = 0x06, kZmmState = 0xe6, kTileState = 0x60000;

// A feature: where CPUID tells of it, and which compilers know it.
struct Feature {
  std::string_view name;  // LLVM's, GCC's and Clang's
  uint32_t leaf, subleaf;
  CpuidRegister reg;
  int bit;
  uint64_t state;
  bool by_arch_avx2 = false;  // MSVC's /arch:AVX2 means it, too, and no macro tells of it
  int gcc = 0, clang = 0;     // the first versions that compile for it; 0: all that we care for
  // The first version of GCC whose __builtin_cpu_supports takes the name, and that of Clang; 0: all that know
  // the feature.
  int gcc_builtin = 0, clang_builtin = 0;
  bool by_permission = false;  // a process has to ask the operating system for it first
};

// No version: the builtins of these compilers say nothing of permissions, so they can't be asked.
inline constexpr int kNoVersion = 999;

inline constexpr std::array kFeatures = {
    Feature{"fma", 1, 0, CpuidRegister::kEcx, 12, kYmmState, true},
    Feature{"f16c", 1, 0, CpuidRegister::kEcx, 29, kYmmState, true, 0, 0, 11, 19},
    Feature{"avx2", 7, 0, CpuidRegister::kEbx, 5, kYmmState},
    Feature{"bmi", 7, 0, CpuidRegister::kEbx, 3, kNoState},
    Feature{"bmi2", 7, 0, CpuidRegister::kEbx, 8, kNoState},
    Feature{"avxvnni", 7, 1, CpuidRegister::kEax, 4, kYmmState, false, 0, 0, 0, 19},
    Feature{"avxvnniint8", 7, 1, CpuidRegister::kEdx, 4, kYmmState, false, 13, 16, 0, 19},
    Feature{"avx512f", 7, 0, CpuidRegister::kEbx, 16, kZmmState},
    Feature{"avx512cd", 7, 0, CpuidRegister::kEbx, 28, kZmmState},
    Feature{"avx512dq", 7, 0, CpuidRegister::kEbx, 17, kZmmState},
    Feature{"avx512bw", 7, 0, CpuidRegister::kEbx, 30, kZmmState},
    Feature{"avx512vl", 7, 0, CpuidRegister::kEbx, 31, kZmmState},
    Feature{"avx512vbmi", 7, 0, CpuidRegister::kEcx, 1, kZmmState},
    Feature{"avx512vnni", 7, 0, CpuidRegister::kEcx, 11, kZmmState},
    Feature{"avx512fp16", 7, 0, CpuidRegister::kEdx, 23, kZmmState, false, 12, 16, 0, 19},
    Feature{"avx512bf16", 7, 1, CpuidRegister::kEax, 5, kZmmState},
    Feature{"amx-tile", 7, 0, CpuidRegister::kEdx, 24, kTileState, false, 11, 12, kNoVersion, kNoVersion,
            true},
    Feature{"amx-bf16", 7, 0, CpuidRegister::kEdx, 22, kTileState, false, 11, 12, kNoVersion, kNoVersion},
    Feature{"amx-int8", 7, 0, CpuidRegister::kEdx, 25, kTileState, false, 11, 12, kNoVersion, kNoVersion},
};

// The row of that name; null if there is none.
constexpr const Feature* FindFeature(std::string_view name) {
  for (const Feature& feature : kFeatures)
    if (feature.name == name) return &feature;
  return nullptr;
}

// Up to three names of features, for tables that are constants.
class FeatureNames {
 public:
  constexpr FeatureNames(std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) names_[size_++] = name;
  }
  constexpr const std::string_view* begin() const { return names_.data(); }
  constexpr const std::string_view* end() const { return names_.data() + size_; }

 private:
  std::array<std::string_view, 3> names_;
  size_t size_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_FEATURE_H_
