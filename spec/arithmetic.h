// The kinds of multiply-add instructions; spec/microkernel.h has their catalogue.
#ifndef KIRSCH_SPEC_ARITHMETIC_H_
#define KIRSCH_SPEC_ARITHMETIC_H_

#include <cstddef>
#include <cstdint>

namespace kirsch {

enum class Arithmetic : uint8_t { kFma, kMultiplyAdd, kFmaPairs, kDotBf16, kDotS16, kDotU8S8, kDotO8S8 };

inline constexpr size_t kNumArithmetics = 7;

}  // namespace kirsch

#endif  // KIRSCH_SPEC_ARITHMETIC_H_
