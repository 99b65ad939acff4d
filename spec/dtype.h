// SPDX-License-Identifier: Apache-2.0
// Lists the element types, a row of a table each. Everything else asks the table, so a new type is a new row.
#ifndef KIRSCH_SPEC_DTYPE_H_
#define KIRSCH_SPEC_DTYPE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  kF8E4M3,
  kF8E5M2,
  kExcess8,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ4K,
  kQ6K,
  kMxfp4,
  kSfp8,
  kQ8,
  kPanel8,
  kPanel8Offset,
  kPanel8Halves,
  kQ8Super,
  kPanel4,
  kPanel4Offset,
  kPanel4Super,
  kPanel6Super,
  kF64,
  kF16Sums
};  // the file format numbers them so

// Instructions to make a vector of elements of a type of blocks, its load included: of f32, and of words of
// bf16. `words` is 0 unless every element is a number that bf16 holds.
struct DecodingCounts {
  constexpr DecodingCounts(int floats = 0, int words = 0)  // NOLINT(google-explicit-constructor)
      : floats(floats), words(words) {}

  int floats, words;
};

struct DtypeInfo {
  Dtype dtype;
  std::string_view name;
  int bytes;  // of an element; of a type of blocks, of a block
  // Floats: bits of the exponent, whose bias is half its range, and of the mantissa; beside them a sign.
  // Integers: none.
  int exponent = 0, mantissa = 0;
  bool has_sign = true;
  // Floats: the largest exponent is of infinities and NaNs; else it is of numbers, and NaN is all ones.
  bool infinities = true;
  bool is_result = true;    // a result may be rounded to it; else it is only read
  bool is_weights = false;  // matmuls widen it: beside f32 and bf16 it makes f32
  // Types of blocks: so many elements share scales, and lie together (spec/block.h says how). Blocks follow
  // each other along a row of a matrix, which begins and ends with whole blocks.
  int block = 1;
  DecodingCounts decoding = {};
  DecodingCounts looking_up = {};  // the same where bytes are looked up in tables; 0: they are not
  int code_run = 0;   // types of blocks of integers: neighbours whose codes are in bytes that are neighbours
  bool ours = false;  // only our own copies have elements of it
  bool in_panels = false;  // types of blocks: in panels, the words of blocks by turns (spec/block.h)
  bool rounded = false;    // types of blocks: what lhs-as=q8_0 makes of rows of lhs
  bool own_sums = false;   // products and sums are of this type; else of f32, or s32
  std::optional<Dtype> known_as = {};  // what callers call it, who have it though it is ours
};

inline constexpr std::array kDtypes = {
    DtypeInfo{Dtype::kF32, "f32", 4, 8, 23},
    DtypeInfo{Dtype::kBf16, "bf16", 2, 8, 7},  // the upper half of an f32
    DtypeInfo{Dtype::kF16, "f16", 2, 5, 10},   // IEEE binary16
    DtypeInfo{.dtype = Dtype::kU8, .name = "u8", .bytes = 1, .has_sign = false},
    DtypeInfo{Dtype::kS8, "s8", 1},
    DtypeInfo{Dtype::kS16, "s16", 2},
    DtypeInfo{Dtype::kS32, "s32", 4},
    DtypeInfo{.dtype = Dtype::kF8E4M3,  // OCP's, which has no infinities ("E4M3FN")
              .name = "f8_e4m3",
              .bytes = 1,
              .exponent = 4,
              .mantissa = 3,
              .infinities = false,
              .is_result = false,
              .is_weights = true},
    DtypeInfo{.dtype = Dtype::kF8E5M2,  // OCP's: the upper half of an f16
              .name = "f8_e5m2",
              .bytes = 1,
              .exponent = 5,
              .mantissa = 2,
              .is_result = false,
              .is_weights = true},
    // An s8 in excess-128: kept as the u8 that is 128 more.
    DtypeInfo{.dtype = Dtype::kExcess8, .name = "o8", .bytes = 1, .ours = true},
    // Weights as ggml stores them, and OCP's mxfp4 as ggml does.
    DtypeInfo{.dtype = Dtype::kQ8_0,
              .name = "q8_0",
              .bytes = 34,
              .is_result = false,
              .block = 32,
              .decoding = 3,
              .code_run = 32},
    DtypeInfo{.dtype = Dtype::kQ4_0,
              .name = "q4_0",
              .bytes = 18,
              .is_result = false,
              .block = 32,
              .decoding = 5,
              .code_run = 16},
    DtypeInfo{.dtype = Dtype::kQ4_1,
              .name = "q4_1",
              .bytes = 20,
              .is_result = false,
              .block = 32,
              .decoding = 4,
              .code_run = 16},
    DtypeInfo{.dtype = Dtype::kQ4K,
              .name = "q4_k",
              .bytes = 144,
              .is_result = false,
              .block = 256,
              .decoding = 5,
              .code_run = 32},
    DtypeInfo{.dtype = Dtype::kQ6K,
              .name = "q6_k",
              .bytes = 210,
              .is_result = false,
              .block = 256,
              .decoding = 9,
              .code_run = 32},
    DtypeInfo{.dtype = Dtype::kMxfp4,
              .name = "mxfp4",
              .bytes = 17,
              .is_result = false,
              .block = 32,
              .decoding = 8,
              .code_run = 16},
    // gemma.cpp's floats of 8 bits, whose exponents and mantissas share 7 bits in one of two ways. Each
    // stands by itself; as they follow each other as blocks do, they are taken for blocks.
    DtypeInfo{.dtype = Dtype::kSfp8,
              .name = "sfp8",
              .bytes = 32,
              .is_result = false,
              .block = 32,
              .decoding = {5, 8},
              .looking_up = {3, 4}},
    // Rows of f32 that were rounded to integers, 32 of which share a scale.
    DtypeInfo{.dtype = Dtype::kQ8,
              .name = "q8",
              .bytes = 56,
              .is_result = false,
              .block = 32,
              .decoding = 3,
              .ours = true,
              .rounded = true},
    // Blocks that copies of blocks of integers have in panels: codes of 8 bits. Beside 32 of them are their
    // scale, or a scale and an offset, or the scales of both halves.
    DtypeInfo{.dtype = Dtype::kPanel8,
              .name = "p8",
              .bytes = 36,
              .is_result = false,
              .block = 32,
              .decoding = 3,
              .ours = true,
              .in_panels = true},
    DtypeInfo{.dtype = Dtype::kPanel8Offset,
              .name = "p8_offset",
              .bytes = 40,
              .is_result = false,
              .block = 32,
              .decoding = 3,
              .ours = true,
              .in_panels = true},
    DtypeInfo{.dtype = Dtype::kPanel8Halves,
              .name = "p8_halves",
              .bytes = 40,
              .is_result = false,
              .block = 32,
              .decoding = 3,
              .ours = true,
              .in_panels = true},
    // The form of q8 beside super-blocks of 256: the numbers of 8 blocks lie together, and their codes.
    DtypeInfo{.dtype = Dtype::kQ8Super,
              .name = "q8_long",
              .bytes = 576,
              .is_result = false,
              .block = 256,
              .decoding = 3,
              .ours = true,
              .rounded = true},
    // Blocks that copies made ahead may have in panels: codes of 4 bits and numbers that stay f16, half the
    // bytes of p8.
    DtypeInfo{.dtype = Dtype::kPanel4,
              .name = "p4",
              .bytes = 18,
              .is_result = false,
              .block = 32,
              .decoding = 3,
              .ours = true,
              .in_panels = true},
    DtypeInfo{.dtype = Dtype::kPanel4Offset,
              .name = "p4_offset",
              .bytes = 20,
              .is_result = false,
              .block = 32,
              .decoding = 3,
              .ours = true,
              .in_panels = true},
    // The same of super-blocks of 256: the numbers of a block, f16, and the factors of its parts, a byte
    // each.
    DtypeInfo{.dtype = Dtype::kPanel4Super,
              .name = "p4_long",
              .bytes = 148,
              .is_result = false,
              .block = 256,
              .decoding = 3,
              .ours = true,
              .in_panels = true},
    DtypeInfo{.dtype = Dtype::kPanel6Super,
              .name = "p6_long",
              .bytes = 210,
              .is_result = false,
              .block = 256,
              .decoding = 3,
              .ours = true,
              .in_panels = true},
    DtypeInfo{
        .dtype = Dtype::kF64, .name = "f64", .bytes = 8, .exponent = 11, .mantissa = 52, .own_sums = true},
    // The f16 of matmuls whose sums are f16.
    DtypeInfo{.dtype = Dtype::kF16Sums,
              .name = "h16",
              .bytes = 2,
              .exponent = 5,
              .mantissa = 10,
              .ours = true,
              .own_sums = true,
              .known_as = Dtype::kF16},
};

constexpr const DtypeInfo& Info(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }
constexpr int Bytes(Dtype dtype) { return Info(dtype).bytes; }
constexpr int BlockOf(Dtype dtype) { return Info(dtype).block; }
constexpr bool IsOfBlocks(Dtype dtype) { return BlockOf(dtype) > 1; }
// Are the elements multiples of scales, so that products with integers are sums of integers?
constexpr bool HasIntegerCodes(Dtype dtype) { return Info(dtype).code_run > 0; }
// Are blocks of it in panels, word by word?
constexpr bool IsInPanels(Dtype dtype) { return Info(dtype).in_panels; }
// Does lhs-as=q8_0 make it of rows of lhs?
constexpr bool IsRounded(Dtype dtype) { return Info(dtype).rounded; }
// The rounded type whose products with an rhs of type `rhs` there are. For dot products, it has the longest
// blocks that are no longer than those of `rhs`.
constexpr Dtype RoundedBeside(Dtype rhs) {
  Dtype longest = Dtype::kQ8;
  if (IsInPanels(rhs)) return longest;
  for (const DtypeInfo& info : kDtypes)
    if (info.rounded && info.block <= BlockOf(rhs) && info.block > BlockOf(longest)) longest = info.dtype;
  return longest;
}
// May callers have such elements?
constexpr bool IsOfCallers(Dtype dtype) { return !Info(dtype).ours; }
// The type that callers know such elements as.
constexpr Dtype CallersType(Dtype dtype) { return Info(dtype).known_as.value_or(dtype); }
// May tensors of graphs have such elements?
constexpr bool IsOfGraphs(Dtype dtype) { return IsOfCallers(dtype); }
// The types of callers whose elements lie by themselves and are computed with as words: as f32, or as s32.
inline constexpr auto kCallersElements = [] {
  constexpr auto kIsOne = [](const DtypeInfo& info) {
    return info.block == 1 && IsOfCallers(info.dtype) && !info.own_sums;
  };
  std::array<Dtype, std::ranges::count_if(kDtypes, kIsOne)> all = {};
  auto next = all.begin();
  for (const DtypeInfo& info : kDtypes)
    if (kIsOne(info)) *next++ = info.dtype;
  return all;
}();
// The bytes of `elements` that follow each other. Of types of blocks it is exact for whole blocks, else
// rounded up.
constexpr int64_t Bytes(Dtype dtype, int64_t elements) {
  const int block = BlockOf(dtype);
  return (elements * Bytes(dtype) + block - 1) / block;
}
// The most elements that take `bytes` at most.
constexpr int64_t ElementsIn(Dtype dtype, int64_t bytes) { return bytes * BlockOf(dtype) / Bytes(dtype); }
constexpr bool IsFloating(Dtype dtype) { return Info(dtype).exponent > 0 || IsOfBlocks(dtype); }

// A word: the size of most sums, and of the narrowest elements that vectors are masked by without AVX512BW.
inline constexpr int kWordBytes = 4;
// The type in which products and sums of such elements are kept, however they are stored in the end.
constexpr Dtype AccumulatorOf(Dtype dtype) {
  return Info(dtype).own_sums ? dtype : IsFloating(dtype) ? Dtype::kF32 : Dtype::kS32;
}
// Is the type narrower than the one it is computed in?
constexpr bool IsNarrow(Dtype dtype) {
  return IsOfBlocks(dtype) || Bytes(dtype) < Bytes(AccumulatorOf(dtype));
}
// How many elements are as wide as an accumulator: consecutive steps of a reduction that one lane of
// accumulators takes in at once. Four of u8, two of bf16, one of f32 or of what is wider.
constexpr int WordElements(Dtype dtype) { return std::max(1, Bytes(AccumulatorOf(dtype)) / Bytes(dtype)); }
// The type that callers know as `known`, with sums of what they know as `sums`; none if there is none.
constexpr std::optional<Dtype> SummedIn(Dtype known, Dtype sums) {
  for (const DtypeInfo& info : kDtypes)
    if (CallersType(info.dtype) == known && CallersType(AccumulatorOf(info.dtype)) == sums) return info.dtype;
  return std::nullopt;
}

// The least and the greatest value of an integer type.
constexpr int64_t LeastOf(Dtype dtype) {
  return Info(dtype).has_sign ? -(int64_t{1} << (8 * Bytes(dtype) - 1)) : 0;
}
constexpr int64_t MostOf(Dtype dtype) {
  return (int64_t{1} << (8 * Bytes(dtype) - (Info(dtype).has_sign ? 1 : 0))) - 1;
}

// The bias of a float's exponent. It is the exponent of 1; that of the least normal number is 1.
// Here and below: of types of floats. Bits are of those no wider than a word.
constexpr int BiasOf(Dtype dtype) { return (1 << (Info(dtype).exponent - 1)) - 1; }
// The bits of 2^exponent, a normal number.
constexpr uint32_t PowerOfTwoBits(Dtype dtype, int exponent) {
  return static_cast<uint32_t>(exponent + BiasOf(dtype)) << Info(dtype).mantissa;
}
constexpr uint32_t SignBit(Dtype dtype) { return uint32_t{1} << (8 * Bytes(dtype) - 1); }
constexpr uint32_t MantissaBits(Dtype dtype) { return (uint32_t{1} << Info(dtype).mantissa) - 1; }
// The least bits, but for the sign, that stand for no number: those of infinity, or of NaN if there is none.
constexpr uint32_t FirstSpecialBits(Dtype dtype) {
  return SignBit(dtype) - 1 - (Info(dtype).infinities ? MantissaBits(dtype) : 0);
}

// Vectors of narrow floats become f32 in one of two ways. Types with f32's exponents are shifted. Others go
// by way of f16, which an instruction converts: types with f16's exponents are shifted to it, others are
// shifted and, as f32, multiplied by 2^n.
constexpr bool WidensByShift(Dtype dtype) { return Info(dtype).exponent == Info(Dtype::kF32).exponent; }
constexpr bool WidensByF16(Dtype dtype) {
  return IsNarrow(dtype) && Info(dtype).exponent > 0 && Info(dtype).exponent <= Info(Dtype::kF16).exponent;
}
constexpr int ScaleFromF16(Dtype dtype) { return BiasOf(Dtype::kF16) - BiasOf(dtype); }  // n
constexpr bool HasSpecialsOfItsOwn(Dtype dtype) {
  return ScaleFromF16(dtype) != 0 || !Info(dtype).infinities;
}

// The bits of an f16 to which a narrower float's bits are moved.
constexpr uint32_t F16BitsOf(Dtype dtype) {
  return SignBit(Dtype::kF16) | (SignBit(dtype) - 1) << (Info(Dtype::kF16).mantissa - Info(dtype).mantissa);
}

// The instructions that make a vector of elements one of f32 or f64, or integers one of s32. `to` and
// `by_tables` are for types of blocks: kBf16 for words of bf16, and by tables of bytes.
constexpr int WideningInstructions(Dtype dtype, Dtype to = Dtype::kF32, bool by_tables = false) {
  if (IsOfBlocks(dtype)) {
    const DecodingCounts& decoding = by_tables ? Info(dtype).looking_up : Info(dtype).decoding;
    return to == Dtype::kBf16 ? decoding.words : decoding.floats;
  }
  constexpr int kExtension = 1, kConversion = 1, kShift = 1, kExponent = 2, kSpecials = 4, kScaling = 1;
  if (to == dtype) return 0;
  if (to == Dtype::kF64) return WideningInstructions(dtype) + kConversion;
  if (to == Dtype::kS32) return kExtension;
  if (dtype == Dtype::kF32) return 0;
  if (dtype == Dtype::kS32) return kConversion;
  if (!WidensByF16(dtype) || dtype == Dtype::kF16) return kExtension + kConversion;
  return kExtension + kShift + kConversion + (HasSpecialsOfItsOwn(dtype) ? kSpecials : 0) +
         (ScaleFromF16(dtype) != 0 ? kExponent + kScaling : 0);
}

// True if every value of `narrow` is one of `wide`, and code makes it one. (None makes other floats of those
// that are summed in themselves, or those of others.)
constexpr bool Holds(Dtype wide, Dtype narrow) {
  if (IsFloating(wide) != IsFloating(narrow)) return false;
  if (Info(wide).own_sums || Info(narrow).own_sums) return wide == narrow;
  if (IsFloating(wide))
    return wide == narrow || wide == Dtype::kF32 || (wide == Dtype::kBf16 && Info(narrow).decoding.words > 0);
  return LeastOf(wide) <= LeastOf(narrow) && MostOf(narrow) <= MostOf(wide);
}

// The type to which copies decode blocks first, where they are to become elements of type `to`.
constexpr Dtype DecodedFor(Dtype to, Dtype blocks) { return Holds(to, blocks) ? to : Dtype::kF32; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_DTYPE_H_
