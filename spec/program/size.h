// SPDX-License-Identifier: Apache-2.0
// Defines the one type for numbers that a program may learn only when it runs. These are all the words for
// such numbers:
//
//   SizeSymbol   a number that is known when the kernel runs: a parameter, or what a division leaves of one
//   Size         a constant, or factor * symbol + plus
//   SymbolRange  a parameter of a program, and the values that it may have
//   Count        trips and remainders that a program computes of its symbols (program.h)
//
// A search knows constants only. A plan for one member of a family becomes a plan for many when some of its
// constants are replaced by sizes that have a symbol (search/families/plan_growth.h).
//
// Example: a nest over the rows of 8 heads, planned for 64 rows, has 512 items. With a symbol for the rows,
// its items are 8 * kRows, at most 512.
#ifndef KIRSCH_SPEC_PROGRAM_SIZE_H_
#define KIRSCH_SPEC_PROGRAM_SIZE_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kirsch {

enum class SizeSymbol : uint8_t {
  kNone,  // of constants
  // The parameters of a plan's program.
  kRows,     // tokens, or queries
  kKeys,     // the KV length of an attention
  kColumns,  // elements of a row
  // Within a nest of a plan.
  kTileRows,  // the rows of the tile: all rows, or what whole tiles leave
  kKeysLeft,  // the keys that larger blocks leave
  // The parameters of a kernel's procedure. KernelRun has the values of these three.
  kCount,  // rows of a row program, or what a copy copies
  kLast,   // elements of the last vector of a row, or of a whole row
  kAdds,   // 0: a tile overwrites its output
  // These follow from the program's first parameter, and from the length of a tile's reduction.
  kStride,  // elements from a row to the next
  kTail,    // steps that whole instructions leave of the reduction
};
inline constexpr size_t kSizeSymbols = static_cast<size_t>(SizeSymbol::kTail) + 1;

// A value of each symbol; 0: it has none.
class SymbolValues {
 public:
  int64_t& operator[](SizeSymbol symbol) { return values_[static_cast<size_t>(symbol)]; }
  int64_t operator[](SizeSymbol symbol) const { return values_[static_cast<size_t>(symbol)]; }

 private:
  std::array<int64_t, kSizeSymbols> values_ = {};
};

// Is taken for a number wherever one is wanted: the most that it can be, which plans, prices and memory are
// for. At() is its value.
class Size {
 public:
  constexpr Size(int64_t value = 0) : most_(value), plus_(value) {}  // NOLINT(google-explicit-constructor)
  // `most`: for the largest value of the symbol; without one, it is a constant.
  constexpr Size(SizeSymbol symbol, int64_t most, int64_t factor = 1, int64_t plus = 0) : Size(most) {
    if (symbol == SizeSymbol::kNone) return;
    factor_ = factor;
    plus_ = plus;
    symbol_ = symbol;
  }

  constexpr operator int64_t() const { return most_; }  // NOLINT(google-explicit-constructor)
  constexpr int64_t most() const { return most_; }
  constexpr SizeSymbol symbol() const { return symbol_; }
  constexpr bool IsConstant() const { return symbol_ == SizeSymbol::kNone; }
  // 0 if it is a constant.
  constexpr int64_t factor() const { return factor_; }
  constexpr int64_t plus() const { return plus_; }
  constexpr int64_t most_of_symbol() const { return (most_ - plus_) / factor_; }

  int64_t At(const SymbolValues& values) const { return factor_ * values[symbol_] + plus_; }

  friend constexpr bool operator==(const Size&, const Size&) = default;
  template <std::integral Number>  // which could be converted both ways otherwise
  friend constexpr bool operator==(const Size& size, Number number) {
    return size == Size(number);
  }

 private:
  int64_t most_ = 0, factor_ = 0, plus_ = 0;
  SizeSymbol symbol_ = SizeSymbol::kNone;
};

// A parameter of a program, and the values that it may have. `symbol`: of a plan; a contraction's parameters
// are the dims of its spec.
struct SymbolRange {
  std::string name;
  int64_t least = 1, most = 1;
  SizeSymbol symbol = SizeSymbol::kNone;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_SIZE_H_
