// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/header_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "codegen/c/c_printer.h"
#include "codegen/header/cpu_checks.h"
#include "codegen/header/dispatch.h"
#include "codegen/header/header_comment.h"
#include "codegen/header/matmul_dispatch.h"
#include "codegen/header/self_test.h"
#include "spec/canonical.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Keeps the order of the first mention.
void AddFeatures(const std::vector<std::string>& more, std::vector<std::string>* features) {
  for (const std::string& feature : more)
    if (std::ranges::find(*features, feature) == features->end()) features->push_back(feature);
}

// True if the features include all of `some`.
bool Contains(const std::vector<std::string>& features, const std::vector<std::string>& some) {
  return std::ranges::all_of(some, [&](const std::string& feature) {
    return std::ranges::find(features, feature) != features.end();
  });
}

std::vector<std::string> AllFeatures(const HeaderFile& file) {
  std::vector<std::string> features;
  for (const HeaderFunction& function : file.functions)
    for (const HeaderVariant& variant : function.variants) AddFeatures(variant.features(), &features);
  return features;
}

// Only functions with target attributes can be compiled side by side for several targets.
bool ChoosesVariant(const HeaderFile& file) {
  return std::ranges::any_of(file.functions,
                             [](const HeaderFunction& function) { return function.variants.size() > 1; });
}

std::string PublicPrefix(const HeaderFile& file) { return file.external ? "" : "static inline "; }

// Prints a function that returns a constant, such as NAME_scratch_bytes.
std::string NumberFunction(const HeaderFile& file, const HeaderFunction& function, const char* comment,
                           const char* what, int64_t number) {
  return Cat("// ", comment, "\n", PublicPrefix(file), "size_t ", function.name, "_", what,
             "(void) {\n  return ", number, ";\n}\n\n");
}

std::string ScratchFunction(const HeaderFile& file, const HeaderFunction& function) {
  if (!function.signature().scratch) return "";
  return NumberFunction(file, function, "Bytes of scratch memory that each thread needs.", "scratch_bytes",
                        function.scratch_bytes());
}

std::string PhaseFunctions(const HeaderFile& file, const HeaderFunction& function) {
  if (!function.signature().phases) return "";
  return NumberFunction(file, function, "Phases, one after the other.", "phases", function.phases()) +
         NumberFunction(file, function, "Bytes of memory that all threads share.", "shared_bytes",
                        function.shared_bytes());
}

std::string NumberFunctions(const HeaderFile& file, const HeaderFunction& function) {
  return ScratchFunction(file, function) + PhaseFunctions(file, function) +
         PrintPackedBytes(function, PublicPrefix(file));
}

// A file that goes with an object declares its functions. Functions that return numbers are still printed,
// since the object has none.
std::string DeclaredFunctions(const HeaderFile& file) {
  std::string text;
  for (const HeaderFunction& function : file.functions)
    Append(&text, NumberFunctions(file, function), Declaration(function), ";\n",
           function.packs() ? PackDeclaration(function) + ";\n" : "");
  return text;
}

// Compilers with these flags take sums and products apart again, and believe that there are neither
// infinities nor NaNs. Both would change results.
constexpr char kStrictFloats[] = R"(#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    defined(__RECIPROCAL_MATH__) || defined(_M_FP_FAST) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile this header without -ffast-math (nor -Ofast, /fp:fast): results would be wrong"
#endif
)";

// Prints the code: checks, functions that return numbers, kernels, and at last the dispatchers that call
// them.
std::string Functions(const HeaderFile& file) {
  CStyle style;
  style.public_prefix = PublicPrefix(file);
  // No function is inlined: a procedure keeps its register tile to itself, and a choice of kernels is not the
  // place for their code.
  style.private_prefix = "static KIRSCH_NOINLINE ";
  style.fence = "KIRSCH_FENCE();";
  style.macros = "KIRSCH_";
  style.code_macros = "KIR";
  style.attributes = file.mode == HeaderMode::kAttributes;
  if (file.mode == HeaderMode::kBare) {
    style.private_prefix = "static __attribute__((noinline, unused)) ";
    style.fence = "__asm__ volatile(\"\" ::: \"memory\");";
    style.macros.clear();
    style.code_macros.clear();
  }
  style.helper_name = file.name;
  std::vector<CKernel> kernels;
  std::string numbers, dispatchers;
  for (const HeaderFunction& function : file.functions) style.taken.push_back(function.name);
  for (const HeaderFunction& function : file.functions) {
    for (const HeaderVariant& variant : function.variants)
      // All programs of a variant take the same packed operand, so only the first one brings the function
      // that packs.
      for (size_t i = 0; i < variant.programs.size(); ++i)
        kernels.push_back({&variant.programs[i], function.dispatched(), i == 0});
    numbers += NumberFunctions(file, function);
    dispatchers += PrintDispatchers(function, PublicPrefix(file));
  }
  return Cat(kStrictFloats, numbers, PrintC(kernels, style), dispatchers);
}

// Definitions of all that GCC, Clang and MSVC say differently. MSVC compiles every intrinsic without being
// told.
constexpr char kPortability[] = R"(#if defined(_MSC_VER) && !defined(__clang__)
#define KIRSCH_TARGET(features)
#define KIRSCH_NOINLINE __declspec(noinline)
#define KIRSCH_FENCE() _ReadWriteBarrier()
#define KIRSCH_AS(type, value) (value)
#define KIRSCH_S32X4 __m128i
#define KIRSCH_S32X8 __m256i
#define KIRSCH_S32X16 __m512i
#define KIRSCH_LOAD(place) (*(volatile int*)&(place))
#define KIRSCH_STORE(place, value) (void)(*(volatile int*)&(place) = (value))
#else
#define KIRSCH_TARGET(features) __attribute__((target(features)))
#define KIRSCH_NOINLINE __attribute__((noinline, unused))
#define KIRSCH_FENCE() __asm__ volatile("" ::: "memory")
#define KIRSCH_AS(type, value) ((type)(value))
#define KIRSCH_S32X4 __v4si
#define KIRSCH_S32X8 __v8si
#define KIRSCH_S32X16 __v16si
#define KIRSCH_LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define KIRSCH_STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#endif
#if defined(__GNUC__) || defined(__clang__)
// Intrinsics take pointers to vectors also for what lies anywhere.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-align"
// Of a division of sizes, only the remainder may be of use.
#pragma GCC diagnostic ignored "-Wunused-variable"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define KIRSCH_KEPT(vector) __asm__ volatile("" : : "v"(vector))
#define KIRSCH_LOADED(vector) __asm__("" : "+v"(vector))
#define KIRSCH_ADD(sum, product) __asm__("vpaddd {%1, %0, %0|%0, %0, %1}" : "+v"(sum) : "v"(product))
#define KIRSCH_ADD128 KIRSCH_ADD
#define KIRSCH_ADD256 KIRSCH_ADD
#define KIRSCH_ADD512 KIRSCH_ADD
// GCC 12 means its own <immintrin.h>, which leaves what is not used uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#else
#define KIRSCH_KEPT(vector) (void)0
#define KIRSCH_LOADED(vector) (void)0
#define KIRSCH_ADD(type, vector, add, sum, product) (sum) = KIRSCH_AS(type, add(KIRSCH_AS(vector, sum), product))
#define KIRSCH_ADD128(sum, product) KIRSCH_ADD(KIRSCH_S32X4, __m128i, _mm_add_epi32, sum, product)
#define KIRSCH_ADD256(sum, product) KIRSCH_ADD(KIRSCH_S32X8, __m256i, _mm256_add_epi32, sum, product)
#define KIRSCH_ADD512(sum, product) KIRSCH_ADD(KIRSCH_S32X16, __m512i, _mm512_add_epi32, sum, product)
#endif
)";

// Defines, or undefines, KIRSCH_TILE0 to KIRSCH_TILE7, if any feature is the matrix unit's. Macros of
// intrinsics take the numbers as text.
std::string TileNumbers(const std::vector<std::string>& features, bool defines) {
  std::string text;
  for (int tile = 0; tile < kTileRegisters && NeedPermission(features); ++tile)
    Append(&text, defines ? "#define" : "#undef", " KIRSCH_TILE", tile, defines ? Cat(" ", tile) : "", "\n");
  return text;
}

constexpr char kPortabilityEnd[] = R"(#undef KIRSCH_TARGET
#undef KIRSCH_NOINLINE
#undef KIRSCH_FENCE
#undef KIRSCH_KEPT
#undef KIRSCH_LOADED
#undef KIRSCH_ADD
#undef KIRSCH_ADD128
#undef KIRSCH_ADD256
#undef KIRSCH_ADD512
#undef KIRSCH_AS
#undef KIRSCH_LOAD
#undef KIRSCH_STORE
#undef KIRSCH_S32X4
#undef KIRSCH_S32X8
#undef KIRSCH_S32X16
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
)";

// Before what other compilers fail at.
constexpr char kArchitecture[] =
    R"(#if !(defined(__x86_64__) || defined(_M_X64)) || defined(_M_ARM64EC)
#error "this code is for x86-64 only"
#endif
)";

constexpr char kIncludes[] = R"(#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif
)";

// A namespace exists in C++ only, so C gets the plain names.
std::string Opening(const HeaderFile& file) {
  if (file.name_space.empty()) return "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  return Cat("#ifdef __cplusplus\nnamespace ", file.name_space, " {\n#endif\n");
}

// Ends what Opening began.
std::string Closing(const HeaderFile& file) {
  const std::string what = file.name_space.empty() ? "extern \"C\"" : Cat("namespace ", file.name_space);
  return Cat("#ifdef __cplusplus\n}  // ", what, "\n#endif\n");
}

std::string Dispatch(const HeaderFile& file) {
  return file.dispatch ? Cat("\n", PrintMatmulDispatch(file, PublicPrefix(file))) : "";
}

// Returns what everything but bare code has around its functions: checks, macros and their ends. `functions`:
// these, or their declarations.
std::string Surrounded(const HeaderFile& file, const std::string& functions) {
  const std::vector<std::string> features = AllFeatures(file);
  std::string supported;
  for (const HeaderFunction& function : file.functions)
    supported += PrintSupported(function, PublicPrefix(file));
  return Cat(CompilerCheck(features), kPortability, TileNumbers(features, true), "\n", Opening(file), "\n",
             CpuCheckDefinitions(features, file.name), "\n", supported, functions, "\n", Closing(file), "\n",
             CpuCheckEnd(features), TileNumbers(features, false), kPortabilityEnd);
}

// Include guards of files with the same name in different namespaces differ: KIRSCH_A_B_MATMUL_H_.
std::string Guard(const HeaderFile& file) {
  const std::string space = absl::StrReplaceAll(file.name_space, {{"::", "_"}});
  return absl::AsciiStrToUpper(Cat("kirsch_", space, space.empty() ? "" : "_", file.name, "_h_"));
}

// Returns the most that any kernel of the function needs of something: the caller's memory must do for all.
template <typename Number>
Number Most(const HeaderFunction& function, Number LoopProgram::* number) {
  Number most = 0;
  for (const HeaderVariant& variant : function.variants)
    for (const LoopProgram& program : variant.programs) most = std::max(most, program.*number);
  return most;
}

}  // namespace

// A CPU must have all of them, as sizes choose the program only later.
std::vector<std::string> HeaderVariant::features() const {
  std::vector<std::string> features;
  for (const LoopProgram& program : programs) AddFeatures(program.features, &features);
  return features;
}

bool HeaderFunction::has_samples() const {
  return std::ranges::any_of(samples, [](const GraphSamples& member) { return !member.samples.empty(); });
}

int64_t HeaderFunction::scratch_bytes() const { return Most(*this, &LoopProgram::scratch_bytes); }
int64_t HeaderFunction::shared_bytes() const { return Most(*this, &LoopProgram::shared_bytes); }
int HeaderFunction::phases() const { return Most(*this, &LoopProgram::phases); }

// Tensors are the same for all programs, so they are the first one's. Where that computes the transpose, the
// user's lhs is the spec's rhs.
CSignature HeaderFunction::signature() const {
  CSignature all = MakeSignature(variants.front().programs.front());
  const bool is_swapped = swapped(variants.front().member_of(0));
  for (std::vector<EntryTensor>* list : {&all.tensors, &all.constants})
    for (EntryTensor& tensor : *list) tensor.operand = SwappedOperand(tensor.operand, is_swapped);
  all.sizes.clear();  // they are some of the function's own
  for (const HeaderVariant& variant : variants)
    for (const LoopProgram& program : variant.programs) {
      all.scratch |= program.TakesScratch();
      all.threads |= program.TakesThreads();
      all.phases |= program.TakesPhases();
    }
  return all;
}

// Stable, so equal ones stay as given.
std::vector<HeaderVariant> BestFirst(std::vector<HeaderVariant> variants) {
  std::ranges::stable_sort(variants, [](const HeaderVariant& a, const HeaderVariant& b) {
    const int width = a.target.vectors.front().bytes, other = b.target.vectors.front().bytes;
    return width != other ? width > other : a.features().size() > b.features().size();
  });
  std::vector<HeaderVariant> tried;
  for (HeaderVariant& variant : variants) {
    // A CPU that can run this variant can run the one before it, too.
    const bool never = std::ranges::any_of(
        tried, [&](const HeaderVariant& before) { return Contains(variant.features(), before.features()); });
    if (!never) tried.push_back(std::move(variant));
  }
  return tried;
}

// From the outside to the inside: comment, guard, includes, the condition of kMacros, then the body and the
// self-test. Bare code has only the comment and the functions.
std::string PrintHeaderFile(const HeaderFile& file) {
  KIRSCH_CHECK(file.mode == HeaderMode::kAttributes || !ChoosesVariant(file));
  KIRSCH_CHECK(file.mode != HeaderMode::kBare || !file.dispatch);
  const std::string comment = HeaderComment(file);
  if (file.mode == HeaderMode::kBare) return Cat(comment, "\n", kArchitecture, "\n", Functions(file));
  std::string text = comment;
  const std::string guard = Guard(file);
  if (!file.external) Append(&text, "#ifndef ", guard, "\n#define ", guard, "\n");
  Append(&text, "\n", kArchitecture, "\n", kIncludes, file.dispatch ? "#include <stdbool.h>\n" : "", "\n");
  // With kMacros, a compiler that may not use the instructions sees an empty file.
  const std::string condition = CompilerCondition(AllFeatures(file));
  const bool macros = file.mode == HeaderMode::kMacros;
  if (macros) Append(&text, "#if ", condition, "\n\n");
  if (file.declares)
    text += Surrounded(file, DeclaredFunctions(file));
  else
    Append(&text, Surrounded(file, Functions(file) + Dispatch(file)), "\n", PrintSelfTest(file));
  if (macros) Append(&text, "\n#endif  // ", condition, "\n");
  if (!file.external) Append(&text, "\n#endif  // ", guard, "\n");
  return text;
}

}  // namespace kirsch
