// Element types. One row of the table per type; everything else asks the table.
#ifndef KIRSCH_SPEC_DTYPE_H_
#define KIRSCH_SPEC_DTYPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kirsch {

enum class Dtype : uint8_t {
  kF32,
  kBf16,
  kF16,
  kU8,
  kS8,
  kS16,
  kS32,
  kO8
};  // the file format numbers them so

struct DtypeInfo {
  Dtype dtype;
  std::string_view name;
  int bytes;
  bool floating;
  bool has_sign;
};

inline constexpr std::array<DtypeInfo, 8> kDtypes = {{
    {Dtype::kF32, "f32", 4, true, true},
    {Dtype::kBf16, "bf16", 2, true, true},  // the upper half of an f32
    {Dtype::kF16, "f16", 2, true, true},    // IEEE binary16
    {Dtype::kU8, "u8", 1, false, false},
    {Dtype::kS8, "s8", 1, false, true},
    {Dtype::kS16, "s16", 2, false, true},
    {Dtype::kS32, "s32", 4, false, true},
    {Dtype::kO8, "o8", 1, false, true},  // an s8, kept as the u8 that is 128 more; only in our own copies
}};

inline constexpr size_t kCallersDtypes = 7;  // the first ones are those that callers may have

constexpr const DtypeInfo& Info(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }
constexpr int Bytes(Dtype dtype) { return Info(dtype).bytes; }
constexpr bool IsFloating(Dtype dtype) { return Info(dtype).floating; }

// The ends of an integer type.
constexpr int64_t LeastOf(Dtype dtype) {
  return Info(dtype).has_sign ? -(int64_t{1} << (8 * Bytes(dtype) - 1)) : 0;
}
constexpr int64_t MostOf(Dtype dtype) {
  return (int64_t{1} << (8 * Bytes(dtype) - (Info(dtype).has_sign ? 1 : 0))) - 1;
}

// True if every value of `narrow` is one of `wide`.
constexpr bool Holds(Dtype wide, Dtype narrow) {
  if (IsFloating(wide) != IsFloating(narrow)) return false;
  if (IsFloating(wide)) return wide == narrow || wide == Dtype::kF32;
  return LeastOf(wide) <= LeastOf(narrow) && MostOf(narrow) <= MostOf(wide);
}

// Sums are kept in 32 bits, whatever is summed and however it is stored in the end.
inline constexpr int kAccumulatorBytes = 4;
constexpr Dtype AccumulatorOf(Dtype dtype) { return IsFloating(dtype) ? Dtype::kF32 : Dtype::kS32; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_DTYPE_H_
