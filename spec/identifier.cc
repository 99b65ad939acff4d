#include "spec/identifier.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "spec/cat.h"

namespace kirsch {
namespace {

// Keywords of C and of C++, up to C23 and C++23.
constexpr std::string_view kKeywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend "
    "goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename "
    "typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";

// What compilers, and the headers of C that a kernel's header or its users include, define as macros, and
// types that the code has; a star stands for any rest.
constexpr std::string_view kMacros =
    "BIG_ENDIAN BUFSIZ BYTE_ORDER EOF EXIT_FAILURE EXIT_SUCCESS FD_* FILENAME_MAX FOPEN_MAX FP_* HUGE_VAL* "
    "INFINITY INT16_* INT32_* INT64_* INT8_* INTMAX_* INTPTR_* INT_* KIRSCH_* LITTLE_ENDIAN L_ctermid "
    "L_cuserid "
    "L_tmpnam MATH_ERREXCEPT MATH_ERRNO MAXFLOAT MB_CUR_MAX M_1_* M_2_* M_E* M_LN* M_LOG* M_PI* M_SQRT* NAN "
    "NFDBITS NULL PDP_ENDIAN PTRDIFF_* P_tmpdir RAND_MAX RENAME_* SEEK_* SIG_ATOMIC_* SIZE_MAX SIZE_WIDTH "
    "SNAN* "
    "TMP_MAX UINT16_* UINT32_* UINT64_* UINT8_* UINTMAX_* UINTPTR_* UINT_* WCHAR_* WCONTINUED WEXITED "
    "WEXITSTATUS WIF* WINT_* WNOHANG WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED alloca assert be16toh "
    "be32toh "
    "be64toh errno fpclassify htobe16 htobe32 htobe64 htole16 htole32 htole64 i386 int16_t "
    "int32_t int64_t int8_t isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan "
    "isnormal issubnormal isunordered le16toh le32toh le64toh linux math_errhandling offsetof signbit "
    "size_t stderr stdin stdout strdupa strndupa uint16_t uint32_t uint64_t uint8_t unix";

// Names that a header with its self-test has for something else.
constexpr std::string_view kNamesInHeaders =
    "at batch before block exit free i k lhs ls m main malloc memcpy memset n n_threads on os out packed "
    "phase "
    "printf problem problems rhs rs samples scratch scratch_memory shared shared_memory step thread what "
    "work wrong";

// Functions of C's library: stdlib.h and string.h, which headers of intrinsics include, and stdio.h; then
// those of math.h, each of which may have an f or an l behind it.
constexpr std::string_view kFunctions =
    "abort abs aligned_alloc at_quick_exit atexit atof atoi atol atoll bcmp bcopy bsearch bzero calloc "
    "clearerr div exit fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread free "
    "freopen "
    "fscanf fseek fsetpos ftell fwrite getc getchar getenv gets index labs ldiv llabs lldiv malloc mblen "
    "mbstowcs mbtowc memccpy memchr memcmp memcpy memmem memmove mempcpy memset perror posix_memalign printf "
    "putc putchar putenv puts qsort quick_exit rand rand_r random realloc reallocarray remove rename rewind "
    "rindex scanf select setbuf setenv setvbuf snprintf sprintf srand srandom sscanf strcat strchr strcmp "
    "strcoll strcpy strcspn strdup strerror strlen strncat strncmp strncpy strndup strnlen strpbrk strrchr "
    "strsep strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm system "
    "tmpfile "
    "tmpnam ungetc unsetenv vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf wcstombs wctomb";
constexpr std::string_view kMathFunctions =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs "
    "fdim "
    "floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p "
    "log2 "
    "logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln "
    "scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn";

bool IsOneOf(std::string_view words, std::string_view word) {
  return Cat(" ", words, " ").find(Cat(" ", word, " ")) != std::string::npos;
}

bool IsMacro(std::string_view name) {
  if (IsOneOf(kMacros, name)) return true;
  for (size_t length = 1; length <= name.size(); ++length)
    if (IsOneOf(kMacros, Cat(name.substr(0, length), "*"))) return true;
  return false;
}

bool IsMathFunction(std::string_view name) {
  const bool suffix = name.size() > 1 && (name.back() == 'f' || name.back() == 'l');
  return IsOneOf(kMathFunctions, name) ||
         (suffix && IsOneOf(kMathFunctions, name.substr(0, name.size() - 1)));
}

bool IsIdentifierCharacter(char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); }

}  // namespace

bool IsIdentifier(std::string_view text) {
  return !text.empty() && text.front() != '_' &&
         !absl::ascii_isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), IsIdentifierCharacter) && !IsOneOf(kKeywords, text) &&
         !IsMacro(text);
}

bool IsKernelName(std::string_view text) {
  return IsIdentifier(text) && !IsOneOf(kNamesInHeaders, text) && !IsOneOf(kFunctions, text) &&
         !IsMathFunction(text);
}

absl::Span<const std::string_view> GeneratedSuffixes() {
  static constexpr std::array<std::string_view, 11> kSuffixes = {
      "_check",  "_check_all", "_choice",        "_choose",       "_pack",     "_packed_bytes",
      "_phases", "_runs",      "_scratch_bytes", "_shared_bytes", "_supported"};
  return kSuffixes;
}

std::string IdentifierOf(std::string_view text) {
  std::string name = absl::StrReplaceAll(ForAbsl(text), {{"..", "to"}});
  for (char& c : name)
    if (!IsIdentifierCharacter(c)) c = '_';
  return name;
}

}  // namespace kirsch
