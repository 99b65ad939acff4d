// SPDX-License-Identifier: Apache-2.0
// Lists the multiply-add instructions of microkernels, a row of a table each. Whoever needs to know something
// of one asks its row: which types it multiplies, how it is called in LLVM and in C, what it costs.
//
// Every instruction means the same: to each lane of a vector of accumulators, f32, f64, f16 or s32, it adds
// the products of `group` pairs of elements, those of consecutive steps of the reduction. Sums of s32 are
// modulo 2^32; those of floats are rounded once for each product or less often. With u8 and s8, whose group
// is 4:
//
//   accumulator[lane] += a[4 * lane] * b[4 * lane] + ... + a[4 * lane + 3] * b[4 * lane + 3]
#ifndef KIRSCH_SPEC_INSTRUCTION_H_
#define KIRSCH_SPEC_INSTRUCTION_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/block.h"
#include "spec/dtype.h"
#include "spec/feature.h"

namespace kirsch {

enum class Arithmetic : uint8_t {
  kFma,
  kMultiplyAdd,
  kFmaPairs,
  kDotBf16,
  kDotS16,
  kDotU8S8,
  kDotO8S8,
  kDotS8S8,
  kDotBlocks,
  kDotBlockBytes,
  kDotPanels,
  kFmaF64,
  kFmaF16
};

// Multiply-adds of whole vectors, however many instructions each takes.
struct ArithmeticRate {
  double per_cycle;
  double latency;     // cycles
  double chains = 0;  // sums that code has on their way at a time, at least; 0: as many as keep the unit busy

  double wanted_chains() const { return chains > 0 ? chains : latency * per_cycle; }

  friend bool operator==(const ArithmeticRate&, const ArithmeticRate&) = default;
};

// How an intrinsic takes the accumulator and the factors.
enum class EncodingForm : uint8_t {
  kLast,    // f(a, b, accumulator)
  kFirst,   // f(accumulator, a, b)
  kProduct  // accumulator + f(a, b), by an addition of its own
};

// One encoding of an instruction, for vectors of least_bytes to most_bytes.
struct Encoding {
  int least_bytes, most_bytes;
  FeatureNames features;  // beside those of the vectors
  EncodingForm form;
  std::string_view
      llvm;            // the intrinsic, '$' standing for the vector's bits; none: of the IR's own operations
  std::string_view c;  // the intrinsic, without "_mm256_"
};

// The size of a tile, the register of a matrix unit. Its rows are as many bytes as the widest vector. The
// sums are a tile of up to kTileRows rows of f32 or s32. A product of two tiles adds to each sum the products
// of a row of lhs, which is kTileRowBytes of steps of the reduction, and a column of rhs. Of rhs, each group
// of these steps is a row.
inline constexpr int kTileRows = 16, kTileRowBytes = 64;
inline constexpr std::string_view kTileFeature = "amx-tile";

// How a matrix unit multiplies tiles, in the same way as an instruction multiplies vectors.
struct TileEncoding {
  std::string_view feature;  // beside kTileFeature; empty: there is no such product
  std::string_view llvm, c;  // intrinsics, f(accumulator, lhs, rhs) of numbers of tiles
  std::string_view exchanged_llvm = "", exchanged_c = "";  // the types of lhs and rhs exchanged
};

// A row of the table. An instruction is told by the types of its factors and its group.
struct Instruction {
  Arithmetic arithmetic;
  std::string_view name;  // in the names of procedures
  int group;
  // The types of the factors' elements. An operand all of whose values are such elements is widened by loads.
  Dtype lhs, rhs;
  std::span<const Encoding> encodings;  // the first one that a CPU has is used
  Arithmetic timed;                     // the row whose rate this one has, for each of its parts
  std::string_view timing = "";         // if it is itself: what the keys in target files begin with ...
  ArithmeticRate rate = {};             // ... and what they are by default
  bool commutes = false;                // operands may be exchanged to suit
  std::optional<Dtype> unpacked = {};   // words of rhs are `group` of these, unpacked into as many factors
  bool flushes_subnormals = false;      // of factors and of sums
  bool scales = false;                  // rhs is of any type of blocks of integers; sums are of f32
  int words = 1;  // of each factor of a step; several: rhs is of blocks in panels, of which a step takes one
  TileEncoding tiles = {};

  constexpr Dtype accumulator() const { return AccumulatorOf(lhs); }
  // Multiply-adds of one step: one for each word, or for each vector that words of rhs are unpacked into.
  constexpr int parts() const { return unpacked ? group : words; }
  // True if a lane takes groups of lhs, too, and not element by element.
  constexpr bool groups_lhs() const { return group > 1 && !unpacked; }
  // Lhs as o8 is 128 too much. So the tile has one more row, which sums 128 times rhs, to be taken off.
  constexpr bool has_excess() const { return lhs == Dtype::kExcess8; }
  // Does some encoding keep products in a register of their own?
  constexpr bool has_products() const {
    return std::ranges::any_of(
        encodings, [](const Encoding& encoding) { return encoding.form == EncodingForm::kProduct; });
  }
  // Machine instructions of a multiply-add, by the best encoding.
  constexpr int instructions() const {
    const bool fused = std::ranges::any_of(
        encodings, [](const Encoding& encoding) { return encoding.form != EncodingForm::kProduct; });
    return parts() * (fused ? 1 : 2);
  }
};

namespace encodings {

using enum EncodingForm;

// A CPU uses the first encoding of a list whose features it has.
inline constexpr Encoding kFma[] = {{16, 64, {}, kLast, "llvm.fma", "fmadd_ps"}};
inline constexpr Encoding kFmaF64[] = {{16, 64, {}, kLast, "llvm.fma", "fmadd_pd"}};
inline constexpr Encoding kFmaF16[] = {
    {16, 64, {"avx512fp16", "avx512bw", "avx512vl"}, kLast, "llvm.fma", "fmadd_ph"}};
inline constexpr Encoding kMultiplyAdd[] = {{16, 64, {}, kProduct, "", "mullo_epi32"}};
inline constexpr Encoding kDotBf16[] = {
    {64, 64, {"avx512bf16"}, kFirst, "llvm.x86.avx512bf16.dpbf16ps.$", "dpbf16_ps"},
    {16, 32, {"avx512bf16", "avx512vl"}, kFirst, "llvm.x86.avx512bf16.dpbf16ps.$", "dpbf16_ps"}};
inline constexpr Encoding kDotS16[] = {
    {64, 64, {"avx512vnni", "avx512bw"}, kFirst, "llvm.x86.avx512.vpdpwssd.$", "dpwssd_epi32"},
    {16, 32, {"avx512vnni", "avx512vl"}, kFirst, "llvm.x86.avx512.vpdpwssd.$", "dpwssd_epi32"},
    {16, 32, {"avxvnni"}, kFirst, "llvm.x86.avx512.vpdpwssd.$", "dpwssd_avx_epi32"},
    {64, 64, {"avx512bw"}, kProduct, "llvm.x86.avx512.pmaddw.d.$", "madd_epi16"},
    {32, 32, {"avx2"}, kProduct, "llvm.x86.avx2.pmadd.wd", "madd_epi16"},
    {16, 16, {"avx2"}, kProduct, "llvm.x86.sse2.pmadd.wd", "madd_epi16"}};
inline constexpr Encoding kDotU8S8[] = {
    {64, 64, {"avx512vnni"}, kFirst, "llvm.x86.avx512.vpdpbusd.$", "dpbusd_epi32"},
    {16, 32, {"avx512vnni", "avx512vl"}, kFirst, "llvm.x86.avx512.vpdpbusd.$", "dpbusd_epi32"},
    {16, 32, {"avxvnni"}, kFirst, "llvm.x86.avx512.vpdpbusd.$", "dpbusd_avx_epi32"}};
inline constexpr Encoding kDotS8S8[] = {
    {16, 32, {"avxvnniint8"}, kFirst, "llvm.x86.avx2.vpdpbssd.$", "dpbssd_epi32"}};

inline constexpr TileEncoding kTileBf16 = {"amx-bf16", "llvm.x86.tdpbf16ps", "_tile_dpbf16ps"};
inline constexpr TileEncoding kTileU8S8 = {"amx-int8", "llvm.x86.tdpbusd", "_tile_dpbusd", "llvm.x86.tdpbsud",
                                           "_tile_dpbsud"};
inline constexpr TileEncoding kTileS8S8 = {"amx-int8", "llvm.x86.tdpbssd", "_tile_dpbssd"};

}  // namespace encodings

// In the order of the enum. Of rows that are equally fast, the last one is used (Fastest in microkernel.cc).
inline constexpr std::array kInstructions = {
    // Every other operation on vectors goes at this rate, so its keys are members of VectorUnit.
    Instruction{.arithmetic = Arithmetic::kFma,
                .name = "fma",
                .group = 1,
                .lhs = Dtype::kF32,
                .rhs = Dtype::kF32,
                .encodings = encodings::kFma,
                .timed = Arithmetic::kFma},
    Instruction{.arithmetic = Arithmetic::kMultiplyAdd,
                .name = "mul",
                .group = 1,
                .lhs = Dtype::kS32,
                .rhs = Dtype::kS32,
                .encodings = encodings::kMultiplyAdd,
                .timed = Arithmetic::kMultiplyAdd,
                .timing = "mul",
                .rate = {0.5, 10}},
    Instruction{.arithmetic = Arithmetic::kFmaPairs,
                .name = "fmapairs",
                .group = 2,
                .lhs = Dtype::kF32,
                .rhs = Dtype::kF32,
                .encodings = encodings::kFma,
                .timed = Arithmetic::kFma,
                .unpacked = Dtype::kBf16},
    Instruction{.arithmetic = Arithmetic::kDotBf16,
                .name = "dotbf16",
                .group = 2,
                .lhs = Dtype::kBf16,
                .rhs = Dtype::kBf16,
                .encodings = encodings::kDotBf16,
                .timed = Arithmetic::kDotBf16,
                .timing = "dot_bf16",
                .rate = {1, 6},
                .flushes_subnormals = true,
                .tiles = encodings::kTileBf16},
    Instruction{.arithmetic = Arithmetic::kDotS16,
                .name = "dots16",
                .group = 2,
                .lhs = Dtype::kS16,
                .rhs = Dtype::kS16,
                .encodings = encodings::kDotS16,
                .timed = Arithmetic::kDotS16,
                .timing = "dot_s16",
                .rate = {1, 5}},
    Instruction{.arithmetic = Arithmetic::kDotU8S8,
                .name = "dotu8s8",
                .group = 4,
                .lhs = Dtype::kU8,
                .rhs = Dtype::kS8,
                .encodings = encodings::kDotU8S8,
                .timed = Arithmetic::kDotU8S8,
                .timing = "dot_u8s8",
                .rate = {1, 5},
                .commutes = true,
                .tiles = encodings::kTileU8S8},
    Instruction{.arithmetic = Arithmetic::kDotO8S8,
                .name = "doto8s8",
                .group = 4,
                .lhs = Dtype::kExcess8,
                .rhs = Dtype::kS8,
                .encodings = encodings::kDotU8S8,
                .timed = Arithmetic::kDotU8S8},
    Instruction{.arithmetic = Arithmetic::kDotS8S8,
                .name = "dots8s8",
                .group = 4,
                .lhs = Dtype::kS8,
                .rhs = Dtype::kS8,
                .encodings = encodings::kDotS8S8,
                .timed = Arithmetic::kDotU8S8,
                .tiles = encodings::kTileS8S8},
    // Integers of blocks as words of s16. In between, their sums are made f32 and multiplied by scales.
    Instruction{.arithmetic = Arithmetic::kDotBlocks,
                .name = "dotblocks",
                .group = 2,
                .lhs = Dtype::kQ8,
                .rhs = Dtype::kQ8,
                .encodings = encodings::kDotS16,
                .timed = Arithmetic::kDotS16,
                .scales = true},
    // The same as bytes. Those of rhs are u8: they are larger than what they stand for by the bias of their
    // type.
    Instruction{.arithmetic = Arithmetic::kDotBlockBytes,
                .name = "dotbytes",
                .group = 4,
                .lhs = Dtype::kQ8,
                .rhs = Dtype::kQ8,
                .encodings = encodings::kDotU8S8,
                .timed = Arithmetic::kDotU8S8,
                .scales = true},
    // The same of codes of 8 bits in panels: four steps to a word, and a block of 32 at a time.
    Instruction{.arithmetic = Arithmetic::kDotPanels,
                .name = "dotpanels",
                .group = 32,
                .lhs = Dtype::kQ8,
                .rhs = Dtype::kPanel8,
                .encodings = encodings::kDotU8S8,
                .timed = Arithmetic::kDotU8S8,
                .scales = true,
                .words = 8},
    Instruction{.arithmetic = Arithmetic::kFmaF64,
                .name = "fmaf64",
                .group = 1,
                .lhs = Dtype::kF64,
                .rhs = Dtype::kF64,
                .encodings = encodings::kFmaF64,
                .timed = Arithmetic::kFma},
    Instruction{.arithmetic = Arithmetic::kFmaF16,
                .name = "fmaf16",
                .group = 1,
                .lhs = Dtype::kF16Sums,
                .rhs = Dtype::kF16Sums,
                .encodings = encodings::kFmaF16,
                .timed = Arithmetic::kFma},
};

inline constexpr size_t kNumArithmetics = kInstructions.size();

constexpr const Instruction& Info(Arithmetic arithmetic) {
  return kInstructions[static_cast<size_t>(arithmetic)];
}

// Can the instruction multiply operands of these types? Loads may widen them, but no copy of another type is
// made.
constexpr bool Takes(const Instruction& row, Dtype lhs, Dtype rhs) {
  if (row.unpacked) return rhs == *row.unpacked && (lhs == row.lhs || lhs == *row.unpacked);
  if (row.scales && row.words > 1) return lhs == row.lhs && IsInPanels(rhs);
  if (row.scales) return HasIntegerCodes(rhs) && lhs == RoundedBeside(rhs);
  return (Holds(row.lhs, lhs) && Holds(row.rhs, rhs)) ||
         (row.commutes && Holds(row.lhs, rhs) && Holds(row.rhs, lhs));
}

// The row for factors of these very types, and whether the two are to be exchanged. Null if there is none.
struct FactorsOrder {
  const Instruction* instruction = nullptr;
  bool exchanged = false;
};
constexpr FactorsOrder InstructionFor(Dtype a, Dtype b) {
  for (const Instruction& row : kInstructions) {
    if (row.unpacked || row.scales) continue;
    if (row.lhs == a && row.rhs == b) return {&row, false};
    if (row.commutes && row.lhs == b && row.rhs == a) return {&row, true};
  }
  return {};
}

// Returns the first encoding of an instruction for vectors of `bytes` whose features has(name) are all there;
// null if there is none.
template <typename Has>
const Encoding* FindEncoding(const Instruction& row, int bytes, const Has& has) {
  for (const Encoding& encoding : row.encodings)
    if (encoding.least_bytes <= bytes && bytes <= encoding.most_bytes &&
        std::ranges::all_of(encoding.features, has))
      return &encoding;
  return nullptr;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_INSTRUCTION_H_
