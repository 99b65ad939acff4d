// SPDX-License-Identifier: Apache-2.0
#include "spec/text/identifier.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Lists of words are one string each, as they are read more easily so. IsOneOf searches them; these checks
// run once for each name of a text.
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

// Macros that compilers define, or the headers of C that a kernel's header or its users include; and types
// that the code has. A star stands for any rest: FD_* is FD_SET and all others of that kind. A parameter may
// not have such a name, as the preprocessor would replace it.
constexpr std::string_view kMacros =
    "BIG_ENDIAN BUFSIZ BYTE_ORDER EOF EXIT_FAILURE EXIT_SUCCESS FD_* FILENAME_MAX FOPEN_MAX FP_* HUGE_VAL* "
    "INFINITY INT16_* INT32_* INT64_* INT8_* INTMAX_* INTPTR_* INT_* "
    "KIR1* KIR2* KIR3* KIR4* KIR5* KIR6* KIR7* KIR8* KIR9* KIRSCH_* LITTLE_ENDIAN L_ctermid "
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

// Names that a header with its self-test uses for something else: parameters, variables, and functions that
// it calls.
constexpr std::string_view kNamesInHeaders =
    "at batch before block exit free i k lhs ls m main malloc memcpy memset n n_threads on os out packed "
    "phase "
    "printf problem problems rhs rs samples scratch scratch_memory shared shared_memory step thread what "
    "work wrong";

// Functions of C's library and its usual extensions: those of stdlib.h and string.h, which headers of
// intrinsics include, and of stdio.h. A kernel of one of these names would be declared a second time, with
// other parameters.
constexpr std::string_view kFunctions =
    "a64l abort abs aligned_alloc arc4random arc4random_buf arc4random_uniform asprintf at_quick_exit "
    "atexit atof atoi atol atoll basename bcmp bcopy bsearch bzero calloc canonicalize_file_name "
    "clearenv clearerr clearerr_unlocked ctermid cuserid div dprintf drand48 drand48_r ecvt ecvt_r "
    "erand48 erand48_r exit explicit_bzero fclose fcloseall fcvt fcvt_r fdopen feof feof_unlocked "
    "ferror ferror_unlocked fflush fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos "
    "fgetpos64 fgets fgets_unlocked fileno fileno_unlocked flockfile fmemopen fopen fopen64 "
    "fopencookie fprintf fputc fputc_unlocked fputs fputs_unlocked fread fread_unlocked free freopen "
    "freopen64 fscanf fseek fseeko fseeko64 fsetpos fsetpos64 ftell ftello ftello64 ftrylockfile "
    "funlockfile fwrite fwrite_unlocked gcvt getc getc_unlocked getchar getchar_unlocked getdelim "
    "getentropy getenv getline getloadavg getpt getrandom gets getsubopt getw grantpt index initstate "
    "initstate_r jrand48 jrand48_r l64a labs lcong48 lcong48_r ldiv llabs lldiv lrand48 lrand48_r "
    "malloc mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr "
    "memset mkdtemp mkostemp mkostemp64 mkostemps mkstemp mkstemp64 mkstemps mktemp mrand48 mrand48_r "
    "nrand48 nrand48_r on_exit open_memstream pclose perror popen posix_memalign posix_openpt printf "
    "pselect ptsname ptsname_r putc putc_unlocked putchar putchar_unlocked putenv puts putw qecvt "
    "qecvt_r qfcvt qfcvt_r qgcvt qsort qsort_r quick_exit rand rand_r random random_r rawmemchr "
    "realloc reallocarray realpath remove rename renameat renameat2 rewind rindex rpmatch scanf "
    "secure_getenv seed48 seed48_r select setbuf setbuffer setenv setlinebuf setstate setstate_r "
    "setvbuf sigabbrev_np sigdescr_np snprintf sprintf srand srand48 srand48_r srandom srandom_r "
    "sscanf stpcpy stpncpy strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll "
    "strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r strerrordesc_np strerrorname_np "
    "strfry strlcat strlcpy strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen "
    "strpbrk strrchr strsep strsignal strspn strstr strtod strtof strtok strtok_r strtol strtold "
    "strtoll strtoq strtoul strtoull strtouq strverscmp strxfrm strxfrm_l system tempnam tmpfile "
    "tmpfile64 tmpnam tmpnam_r ungetc unlockpt unsetenv valloc vasprintf vdprintf vfprintf vfscanf "
    "vprintf vscanf vsnprintf vsprintf vsscanf wcstombs wctomb";
// Functions of math.h. Each exists with an f and with an l behind it, too: sin, sinf, sinl.
constexpr std::string_view kMathFunctions =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs "
    "fdim "
    "floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p "
    "log2 "
    "logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln "
    "scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn";

// Types of these headers, of stddef.h and of stdint.h; and the namespace of C++.
constexpr std::string_view kTypes =
    "FILE blkcnt64_t blkcnt_t blksize_t caddr_t clock_t clockid_t comparison_fn_t "
    "cookie_close_function_t cookie_io_functions_t cookie_read_function_t cookie_seek_function_t "
    "cookie_write_function_t daddr_t dev_t div_t fd_mask fd_set fpos64_t fpos_t fsblkcnt64_t "
    "fsblkcnt_t fsfilcnt64_t fsfilcnt_t fsid_t gid_t id_t ino64_t ino_t int_fast16_t int_fast32_t "
    "int_fast64_t int_fast8_t int_least16_t int_least32_t int_least64_t int_least8_t intmax_t "
    "intptr_t key_t ldiv_t lldiv_t locale_t loff_t max_align_t mode_t nlink_t nullptr_t off64_t off_t "
    "pid_t pthread_attr_t pthread_barrier_t pthread_barrierattr_t pthread_cond_t pthread_condattr_t "
    "pthread_key_t pthread_mutex_t pthread_mutexattr_t pthread_once_t pthread_rwlock_t "
    "pthread_rwlockattr_t pthread_spinlock_t pthread_t ptrdiff_t quad_t register_t sigset_t ssize_t "
    "std suseconds_t time_t timer_t u_char u_int u_int16_t u_int32_t u_int64_t u_int8_t u_long "
    "u_quad_t u_short uid_t uint uint_fast16_t uint_fast32_t uint_fast64_t uint_fast8_t "
    "uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ulong useconds_t "
    "ushort va_list";

// The blanks around both make a match begin and end at whole words. `word` must have none within it.
bool IsOneOf(std::string_view words, std::string_view word) {
  return Cat(" ", words, " ").find(Cat(" ", word, " ")) != std::string::npos;
}

// Tries the name itself, then each of its beginnings with a star in place of the rest.
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
         std::ranges::all_of(text, IsIdentifierCharacter) && !IsOneOf(kKeywords, text) && !IsMacro(text);
}

bool IsKernelName(std::string_view text) {
  return IsIdentifier(text) && !IsOneOf(kNamesInHeaders, text) && !IsOneOf(kFunctions, text) &&
         !IsOneOf(kTypes, text) && !IsMathFunction(text);
}

absl::Span<const std::string_view> GeneratedSuffixes() {
  static constexpr std::array<std::string_view, 12> kSuffixes = {
      "_check",        "_check_all", "_choice", "_choose",        "_enable",       "_pack",
      "_packed_bytes", "_phases",    "_runs",   "_scratch_bytes", "_shared_bytes", "_supported"};
  return kSuffixes;
}

std::string MakeIdentifier(std::string_view text) {
  std::string name = absl::StrReplaceAll(ForAbsl(text), {{"..", "to"}});
  for (char& c : name)
    if (!IsIdentifierCharacter(c)) c = '_';
  return name;
}

}  // namespace kirsch
