// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/cblas_library.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_split.h"
#include "bench/machine/core_types.h"
#include "bench/machine/shared_library.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Takes the version from a text such as "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
void DescribeOpenBlas(void* library, const char* config, ContenderInfo& info) {
  const std::vector<std::string> words = absl::StrSplit(config, ' ');
  info.name = Cat("openblas ", words.size() > 1 ? words[1] : "?");
  if (auto* core = Symbol<const char*()>(library, "openblas_get_corename")) info.core = core();
  // On a CPU that it does not know, OpenBLAS takes a lesser core type without a word. So all types are tried.
  for (const char* core : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"})
    info.alternatives.push_back(Cat("OPENBLAS_CORETYPE=", core));
}

// Takes the version, and asks for the numbers of the architectures worth trying.
void DescribeBlis(void* library, const char* version, ContenderInfo& info) {
  info.name = Cat("blis ", version);
  auto* arch = Symbol<int()>(library, "bli_arch_query_id");
  auto* arch_name = Symbol<const char*(int)>(library, "bli_arch_string");
  if (arch == nullptr || arch_name == nullptr) return;
  info.core = arch_name(arch());
  // The variable holds a number, which differs between versions. "generic" is the last of them.
  constexpr int kMaxArchs = 64;
  for (int id = 0; id < kMaxArchs; ++id) {
    const std::string name = arch_name(id);
    if (name == "generic") break;
    if (name == "skx" || name == "haswell" || name.starts_with("zen"))
      info.alternatives.push_back(Cat("BLIS_ARCH_TYPE=", id));
  }
}

// Takes the word behind "Version". MKL does not say which kernels it uses, unless the environment forces
// some.
void DescribeMkl(void* library, ContenderInfo& info) {
  char version[256] = "mkl ?";
  Symbol<void(char*, int)>(library, "MKL_Get_Version_String")(version, sizeof(version) - 1);
  info.name = "mkl";
  const std::vector<std::string> words = absl::StrSplit(version, ' ', absl::SkipEmpty());
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "Version") info.name = Cat("mkl ", words[i + 1]);
  // MKL can be held to one of these instruction sets; each is tried.
  info.alternatives = {"MKL_ENABLE_INSTRUCTIONS=AVX2", "MKL_ENABLE_INSTRUCTIONS=AVX512"};
  const char* const forced = std::getenv("MKL_ENABLE_INSTRUCTIONS");
  info.core = forced == nullptr ? kCoreTypeOfTheCpu : forced;
}

// Finds the functions for a type by the letter that BLAS has for it: 's' gives cblas_sgemm.
template <typename Real>
CblasFunctions<Real> FunctionsOf(void* library, char letter) {
  const auto name = [&](const char* function) { return Cat("cblas_", std::string(1, letter), function); };
  return {Symbol<GemmFn<Real>>(library, name("gemm").c_str()),
          Symbol<GemvFn<Real>>(library, name("gemv").c_str()),
          Symbol<GemmBatchFn<Real>>(library, name("gemm_batch").c_str())};
}

}  // namespace

absl::StatusOr<CblasLibrary> OpenCblas(const std::vector<std::string>& libraries) {
  KIRSCH_ASSIGN_OR_RETURN(void* const library, OpenLibrary(libraries));
  CblasLibrary cblas;
  cblas.f32 = FunctionsOf<float>(library, 's');
  cblas.f64 = FunctionsOf<double>(library, 'd');
  cblas.sbgemm = Symbol<SbgemmFn>(library, "cblas_sbgemm");
  if (cblas.f32.gemm == nullptr) return absl::NotFoundError(Cat(libraries[0], ": no cblas_sgemm in it"));
  cblas.info.name = std::filesystem::path(libraries[0]).filename().string();
  // Functions that only one library has tell which one it is. Any other goes by its file's name.
  if (auto* config = Symbol<const char*()>(library, "openblas_get_config"))
    DescribeOpenBlas(library, config(), cblas.info);
  else if (auto* version = Symbol<const char*()>(library, "bli_info_get_version_str"))
    DescribeBlis(library, version(), cblas.info);
  else if (Symbol<void()>(library, "MKL_Get_Version_String") != nullptr)
    DescribeMkl(library, cblas.info);
  return cblas;
}

}  // namespace kirsch
