// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_vectors.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "codegen/c/c_intrinsics.h"
#include "codegen/c/c_signature.h"
#include "spec/check.h"
#include "spec/instruction.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Vectors shorter than 16 bytes are the lower part of an __m128i.
std::string IntegerType(int bytes) {
  return bytes <= kXmmBytes ? "__m128i" : bytes == 32 ? "__m256i" : "__m512i";
}

// How intrinsics call integers of the type's width: "epi16", or, as unsigned ones, "epu16".
std::string Epi(Dtype dtype, bool with_sign = true) {
  return Cat(with_sign ? "epi" : "epu", 8 * Bytes(dtype));
}

// Leaves out "+ 0".
std::string Offset(const std::string& pointer, int elements) {
  return elements == 0 ? pointer : Cat(pointer, " + ", elements);
}

// Returns elements first .. first + count - 1 as an unsigned number of 32 bits, the rest being zero. Elements
// are read one by one, so nothing behind them is touched. Of bytes 4 and 5:
//   (uint32_t)(uint8_t)(p)[4] | (uint32_t)(uint8_t)(p)[5] << 8
std::string GatheredWord(const std::string& from, Dtype memory, int first, int count) {
  const int bits = 8 * Bytes(memory);
  std::string word;
  for (int i = 0; i < count; ++i) {
    Append(&word, i == 0 ? "" : " | ", "(uint32_t)(uint", bits, "_t)(", from, ")[", first + i, "]");
    if (i > 0) Append(&word, " << ", i * bits);
  }
  return word;
}

// Returns f32 of narrower floats, by way of f16, the bits of which are made first. `words` has an element in
// the lower part of each 16 bits; the upper part is shifted out.
//
// For 1 sign bit, 4 bits of exponent and 3 of mantissa, in 16 bits:
//   ........seeeemmm  ->  seeeemmm00000000  ->  sseeeemmm0000000  ->  s0eeeemmm0000000
// The exponent's bias is too small then, so the result is multiplied by a power of two. A NaN or an infinity
// of the type has to get the largest exponent, which tells them in f16.
std::string WordsByF16(const std::string& words, Dtype from, int lanes) {
  const int half = lanes * Bytes(Dtype::kF16), bytes = lanes * kWordBytes;
  // `shift`: the mantissa begins so many bits higher in f16.
  const int shift = Info(Dtype::kF16).mantissa - Info(from).mantissa;
  const auto constant = [&](uint32_t number) {
    return Intrinsic(half, "set1_epi16", Cat("(short)0x", absl::Hex(number)));
  };
  const std::string bits_and = "and_" + Si(half), bits_or = "or_" + Si(half);
  std::string bits = words;
  if (from != Dtype::kF16) {
    const int sign_shift = 8 * (Bytes(Dtype::kF16) - Bytes(from));
    bits = Intrinsic(half, "slli_epi16", bits, sign_shift);
    if (sign_shift != shift)  // copies of the sign take the exponent's place
      bits = Intrinsic(half, bits_and, Intrinsic(half, "srai_epi16", bits, sign_shift - shift),
                       constant(F16BitsOf(from)));
  }
  // Magnitudes from the first special one on become f16's, by bits that are set where the comparison holds.
  if (HasSpecialsOfItsOwn(from)) {
    const std::string magnitude = Intrinsic(half, bits_and, bits, constant(SignBit(Dtype::kF16) - 1));
    const std::string special =
        Intrinsic(half, "cmpgt_epi16", magnitude, constant((FirstSpecialBits(from) << shift) - 1));
    bits = Intrinsic(half, bits_or, bits,
                     Intrinsic(half, bits_and, special, constant(FirstSpecialBits(Dtype::kF16))));
  }
  const std::string floats = Intrinsic(bytes, "cvtph_ps", bits);
  if (ScaleFromF16(from) == 0) return floats;
  return Intrinsic(bytes, "mul_ps", floats, Intrinsic(bytes, "set1_ps", Cat(1 << ScaleFromF16(from), ".0f")));
}

// Bytes become 16 bits first; f16 is converted as it is.
std::string WidenedByF16(const std::string& value, Dtype from, int lanes) {
  const int half = lanes * Bytes(Dtype::kF16);
  return WordsByF16(from == Dtype::kF16 ? value : Intrinsic(half, "cvtepu8_epi16", value), from, lanes);
}

// Returns memory's elements, as LoadNarrow has them, as elements of type `to`. o8 and s8 differ in the
// highest bit only. bf16 is the upper half of an f32.
std::string Widened(const std::string& value, Dtype from, Dtype to, int lanes) {
  const int bytes = lanes * Bytes(to);
  if (from == to) return value;
  if (from == Dtype::kExcess8 || to == Dtype::kExcess8) {
    const std::string turned =
        Intrinsic(lanes, "xor_" + Si(lanes), value, Intrinsic(lanes, "set1_epi8", "(char)0x80"));
    return Widened(turned, Dtype::kS8, to == Dtype::kExcess8 ? Dtype::kS8 : to, lanes);
  }
  if (WidensByF16(from)) return WidenedByF16(value, from, lanes);
  if (IsFloating(from))
    return Intrinsic(bytes, Cat("cast", Si(bytes), "_ps"),
                     Intrinsic(bytes, "slli_epi32", Intrinsic(bytes, "cvtepu16_epi32", value), 16));
  return Intrinsic(bytes, Cat("cvt", Epi(from, Info(from).has_sign), "_", Epi(to)), value);
}

// Returns the elements number first, first + 2, ... of a, then those of b. Within 16 bytes one shuffle does
// it; of ymm, pairs of elements are then put in order. Zmm has a permutation of two vectors.
std::string EverySecond(const Var& a, const Var& b, int first) {
  const int bytes = a.bytes();
  if (bytes == 64) {
    std::string lanes;
    for (int lane = 0; lane < a.lanes; ++lane) Append(&lanes, lane == 0 ? "" : ", ", 2 * lane + first);
    return Intrinsic(bytes, "permutex2var_ps", a.name, Intrinsic(bytes, "setr_epi32", lanes), b.name);
  }
  const std::string pairs = Intrinsic(bytes, "shuffle_ps", a.name, b.name, first == 0 ? "0x88" : "0xdd");
  if (bytes == kXmmBytes) return pairs;
  return Intrinsic(bytes, "castpd_ps",
                   Intrinsic(bytes, "permute4x64_pd", Intrinsic(bytes, "castps_pd", pairs), "0xd8"));
}

// A vector of f64 becomes one of narrower floats, and is made of them, by way of f32.
bool WidensTwice(const Var& vector, Dtype memory) {
  return vector.dtype == Dtype::kF64 && memory != Dtype::kF64;
}
// The vector of f32 on that way.
Var InFloats(Var vector, std::string name) {
  vector.dtype = Dtype::kF32;
  vector.name = std::move(name);
  return vector;
}

// Prints a shuffle; of zmm under a mask of all lanes, which changes nothing but a warning: see LaneSums.
template <typename... Arguments>
std::string Shuffled(int bytes, const std::string& name, const Arguments&... arguments) {
  if (bytes != 64) return Intrinsic(bytes, name, arguments...);
  return Intrinsic(bytes, "maskz_" + name, name.ends_with("64") ? "0xff" : "0xffff", arguments...);
}

// GCC's multiply-adds of integers want variables of 32-bit elements: see VariableType.
bool IsOfWords(const Var& var) { return var.dtype == Dtype::kS32; }

// Variables of h16 are vectors of floats to its arithmetic, and vectors of integers to all other intrinsics.
bool IsOfHalves(const Var& var) { return var.dtype == Dtype::kF16Sums; }

// True if vectors of the type are vectors of floats to C.
bool IsReal(Dtype dtype) { return dtype == Dtype::kF32 || dtype == Dtype::kF64; }

}  // namespace

// Known counts are constants: -1 in the lanes that exist. Others are compared with the lanes' numbers when
// the code runs: count > 0, count > 1, ... Elements of 64 bits go from the last lane to the first, as there
// is no `setr` for them in 128 bits.
std::string CVectors::MaskVector(int lanes, const CCount& count, Dtype dtype) {
  const bool known = count.index.empty(), wide = Bytes(dtype) > kWordBytes;
  const int bytes = lanes * Bytes(dtype);
  std::string numbers;
  for (int i = 0; i < lanes; ++i) {
    const int lane = wide ? lanes - 1 - i : i;
    Append(&numbers, i == 0 ? "" : ", ", !known ? lane : lane < count.number ? -1 : 0);
  }
  const std::string mask = Intrinsic(bytes, wide ? "set_epi64x" : "setr_epi32", numbers);
  if (known) return mask;
  const std::string end = wide ? Intrinsic(bytes, "set1_epi64x", Cat("(long long)", count.index))
                               : Intrinsic(bytes, "set1_epi32", Cat("(int)", count.index));
  return Intrinsic(bytes, Cat("cmpgt_", Epi(dtype)), end, mask);
}

// The index is 1 to 64, so the shift is less than 64, as C requires.
std::string CVectors::MaskOf(int lanes, const CCount& count) {
  if (count.index.empty()) return Mask(lanes, count.number);
  return Cat("(__mmask", std::max(lanes, 8), ")(~0ull >> (64 - ", count.index, "))");
}

std::string CVectorType(const Var& var) {
  const int bytes = var.bytes();
  if (!IsReal(var.dtype)) return IntegerType(bytes);
  return Cat(bytes == kXmmBytes ? "__m128"
             : bytes == 32      ? "__m256"
                                : "__m512",
             var.dtype == Dtype::kF64 ? "d" : "");
}

std::string CVectors::VariableType(const Var& var) const {
  if (IsOfHalves(var)) return Cat("__m", 8 * std::max(var.bytes(), kXmmBytes), "h");
  if (!IsOfWords(var)) return CVectorType(var);
  const int lanes = std::max(var.bytes(), kXmmBytes) / kWordBytes;
  return macros_.empty() ? Cat("__v", lanes, "si") : Cat(macros_, "S32X", lanes);
}

std::string CVectors::As(const std::string& type, const std::string& value) const {
  return macros_.empty() ? Cat("(", type, ")", value) : Cat(macros_, "AS(", type, ", ", value, ")");
}

std::string CVectors::Get(const Var& var) const {
  if (IsOfHalves(var)) return AsIntegers(var.dtype, var.bytes(), var.name);
  return IsOfWords(var) ? As(CVectorType(var), var.name) : var.name;
}

std::string CVectors::Set(const Var& to, const std::string& value) const {
  return Cat(to.name, " = ",
             IsOfHalves(to)  ? OfIntegers(to.dtype, to.bytes(), value)
             : IsOfWords(to) ? As(VariableType(to), value)
                             : value,
             ";");
}

std::string CVectors::Kept(const Var& var) const {
  return macros_.empty() ? Cat("__asm__ volatile(\"\" : : \"v\"(", var.name, "))")
                         : Cat(macros_, "KEPT(", var.name, ")");
}

std::string CVectors::Loaded(const Var& var) const {
  return macros_.empty() ? Cat("__asm__(\"\" : \"+v\"(", var.name, "))")
                         : Cat(macros_, "LOADED(", var.name, ")");
}

// Short vectors are set as the whole register that they are the lower part of.
std::string CVectors::Zero(const Var& to) const {
  const int bytes = to.bytes();
  return Intrinsic(bytes, Cat("setzero_", IsReal(to.dtype) ? std::string(RealSuffix(to.dtype)) : Si(bytes)));
}

// AVX2 and AVX-512F have masked accesses for words and wider elements only.
bool CVectors::Maskable(Dtype memory) const {
  return program_.masks && (Bytes(memory) >= kWordBytes || program_.HasFeature("avx512bw"));
}

// A load of one element needs no mask: it sets the other lanes to zero.
std::string CVectors::LoadReal(Dtype dtype, int lanes, const std::string& from, const CCount& count) const {
  const int bytes = lanes * Bytes(dtype);
  const std::string type = RealSuffix(dtype);
  if (count.Is(lanes)) return Intrinsic(bytes, "loadu_" + type, from);
  if (count.Is(1) && bytes == kXmmBytes) return Intrinsic(bytes, Cat("load_", ScalarSuffix(dtype)), from);
  if (program_.masks) return Intrinsic(bytes, "maskz_loadu_" + type, MaskOf(lanes, count), from);
  return Intrinsic(bytes, "maskload_" + type, from, MaskVector(lanes, count, dtype));
}

// Loads a part of a vector of elements that cannot be masked: whole words under a mask, then the rest of a
// word. For 7 bytes, a masked load takes 1 word, and 3 bytes are gathered into a word that is inserted in
// lane 1.
std::string CVectors::LoadByWords(const std::string& from, Dtype memory, int lanes, int count) const {
  const int in_word = WordElements(memory), words = count / in_word, rest = count % in_word;
  const int bytes = std::max(lanes * Bytes(memory), kXmmBytes), all_words = bytes / kWordBytes;
  const std::string pointer = Cat("(const int*)(", from, ")");
  std::string value = Intrinsic(bytes, Cat("setzero_", Si(bytes)));
  if (words > 0)
    value = program_.masks
                ? Intrinsic(bytes, "maskz_loadu_epi32", Mask(all_words, words), from)
                : Intrinsic(bytes, "maskload_epi32", pointer, MaskVector(all_words, words, Dtype::kS32));
  if (rest == 0) return value;
  // The word is put into its lane: by a mask in zmm, else by an insertion.
  const std::string word = Cat("(int)(", GatheredWord(from, memory, words * in_word, rest), ")");
  if (bytes == 64)
    return Intrinsic(bytes, "mask_set1_epi32", value, Cat("(__mmask16)0x", absl::Hex(1u << words)), word);
  return Intrinsic(bytes, "insert_epi32", value, word, words);
}

// Loads elements without a conversion, into the lower part of the vector. Short vectors have loads of their
// own, so that no byte behind them is read.
std::string CVectors::LoadNarrow(const std::string& from, Dtype memory, int lanes,
                                 const CCount& count) const {
  const int bytes = lanes * Bytes(memory);
  if (!count.Is(lanes)) {
    // AVX2 has a masked load for words, also where the count is known at run time only.
    if (!Maskable(memory) && !count.index.empty() && Bytes(memory) == kWordBytes)
      return Intrinsic(bytes, "maskload_epi32", from, MaskVector(lanes, count, memory));
    if (!Maskable(memory)) return LoadByWords(from, memory, lanes, count.Known());
    const int all = std::max(bytes, kXmmBytes) / Bytes(memory);
    return Intrinsic(bytes, Cat("maskz_loadu_", Epi(memory)), MaskOf(all, count), from);
  }
  switch (bytes) {
    case 4:
      return Intrinsic(bytes, "loadu_si32", from);
    case 8:
      return Intrinsic(bytes, "loadl_epi64", Cat("(const __m128i*)(", from, ")"));
    case 64:
      return Intrinsic(bytes, "loadu_si512", from);
    default:
      return Intrinsic(bytes, Cat("loadu_", Si(bytes)), Cat("(const ", IntegerType(bytes), "*)(", from, ")"));
  }
}

std::string CVectors::Load(const Var& to, const std::string& from, Dtype memory, const CCount& count) const {
  if (WidensTwice(to, memory))
    return Intrinsic(to.bytes(), "cvtps_pd", Load(InFloats(to, to.name), from, memory, count));
  if (IsReal(memory)) return LoadReal(memory, to.lanes, from, count);
  return Widened(LoadNarrow(from, memory, to.lanes, count), memory, to.dtype, to.lanes);
}

// A word is `group` elements of memory. They are broadcast as memory has them, and widened after that, all
// lanes at once.
std::string CVectors::Broadcast(const Var& to, const std::string& from, Dtype memory, int count) const {
  if (WidensTwice(to, memory))
    return Intrinsic(to.bytes(), "cvtps_pd", Broadcast(InFloats(to, to.name), from, memory, count));
  const int bytes = to.bytes(), group = WordElements(to.dtype), narrow = to.lanes * Bytes(memory);
  const std::string element = Cat("*(", from, ")");
  if (IsReal(memory)) return Intrinsic(bytes, Cat("set1_", RealSuffix(memory)), element);
  if (memory == Dtype::kBf16 && to.dtype == Dtype::kF32)
    // In both halves of the word: that takes no instruction more, and the lower one is shifted out.
    return Intrinsic(
        bytes, Cat("cast", Si(bytes), "_ps"),
        Intrinsic(bytes, "slli_epi32", Intrinsic(bytes, "set1_epi16", Cat("(short)", element)), 16));
  // In both halves of each 16 bits, for the same reason.
  if (WidensByF16(memory) && Bytes(memory) == 1)
    return WordsByF16(Intrinsic(to.lanes * Bytes(Dtype::kF16), "set1_epi8", Cat("(char)", element)), memory,
                      to.lanes);
  // If it is a broadcast of floats from the beginning, GCC makes it a part of the multiply-add that takes it.
  if (IsOfHalves(to))
    return AsIntegers(
        to.dtype, bytes,
        Intrinsic(bytes, "set1_ph",
                  Intrinsic(kXmmBytes, "cvtsh_h",
                            OfIntegers(to.dtype, kXmmBytes, Intrinsic(kXmmBytes, "loadu_si16", from)))));
  const int bits = 8 * Bytes(memory) * group;  // of a group in memory
  std::string value;
  // Single elements; then whole groups, which are loaded at once; then groups that end early, whose elements
  // are gathered, so that none behind them is read.
  if (group == 1) {
    const char* type = bits == 8 ? "(char)" : bits == 16 ? "(short)" : "";
    value = Intrinsic(narrow, Cat("set1_epi", bits), Cat(type, element));
  } else if (count == group) {
    value = Intrinsic(narrow, bits == 16 ? "broadcastw_epi16" : "broadcastd_epi32",
                      Intrinsic(kXmmBytes, Cat("loadu_si", bits), from));
  } else {
    value = Intrinsic(narrow, Cat("set1_epi", bits),
                      Cat(bits == 16 ? "(short)(" : "(int)(", GatheredWord(from, memory, 0, count), ")"));
  }
  return Widened(value, memory, to.dtype, to.lanes);
}

// Reads the element byte by byte, as C lets no pointer to bytes stand for one to wider elements.
std::string CVectors::BroadcastBytes(const Var& to, const std::string& from, Dtype memory) const {
  if (memory == Dtype::kF32) return Intrinsic(to.bytes(), "set1_ps", Cat("*(const float*)(", from, ")"));
  const int bits = 8 * Bytes(memory);
  if (bits == 32) return Intrinsic(to.bytes(), "broadcastd_epi32", Intrinsic(kXmmBytes, "loadu_si32", from));
  const std::string low = Cat("(uint8_t)(", from, ")[0]");
  const std::string element =
      bits == 8 ? Cat("(char)(", low, ")") : Cat("(short)(", low, " | (uint8_t)(", from, ")[1] << 8)");
  return Widened(Intrinsic(to.lanes * Bytes(memory), Cat("set1_epi", bits), element), memory, to.dtype,
                 to.lanes);
}

// Returns the 16 bytes of that number. (Those of zmm under a mask: see LaneSums.)
std::string Quarter(const std::string& value, int bytes, int number) {
  if (bytes <= kXmmBytes) return value;
  if (bytes == 64) return Cat("_mm512_maskz_extracti32x4_epi32(0xf, ", value, ", ", number, ")");
  return number == 0 ? Cat("_mm256_castsi256_si128(", value, ")")
                     : Cat("_mm256_extracti128_si256(", value, ", 1)");
}

// Without masks, a part of a vector is stored in pieces of 16, 8, 4, 2 and 1 bytes. 11 elements of 1 byte are
// pieces of 8, 2 and 1.
std::vector<std::string> CVectors::StoreNarrow(const std::string& value, const std::string& to, Dtype memory,
                                               int lanes, const CCount& count) const {
  const int element = Bytes(memory), bytes = lanes * element;
  if (!count.Is(lanes) && Maskable(memory)) {
    const int all = std::max(bytes, kXmmBytes) / element;
    return {Cat(Intrinsic(bytes, Cat("mask_storeu_", Epi(memory)), to, MaskOf(all, count), value), ";")};
  }
  if (count.Is(lanes) && bytes == 64) return {Cat(Intrinsic(bytes, "storeu_si512", to, value), ";")};
  if (count.Is(lanes) && bytes == 32)
    return {Cat(Intrinsic(bytes, "storeu_si256", Cat("(__m256i*)(", to, ")"), value), ";")};
  std::vector<std::string> statements;
  const int all_bytes = count.Known() * element;
  for (int done = 0; done < all_bytes;) {
    // The largest power of two that is left, which then lies within one part of 16 bytes.
    const int piece =
        std::min(kXmmBytes, static_cast<int>(std::bit_floor(static_cast<unsigned>(all_bytes - done))));
    std::string part = Quarter(value, bytes, done / kXmmBytes);
    if (done % kXmmBytes != 0) part = Intrinsic(kXmmBytes, "srli_si128", part, done % kXmmBytes);
    const std::string at = Offset(to, done / element);
    const std::string cast = Cat("(__m128i*)(", at, ")");
    if (piece == 1) {
      statements.push_back(
          Cat("*(", at, ") = (", CType(memory), ")", Intrinsic(kXmmBytes, "extract_epi8", part, 0), ";"));
      break;
    }
    statements.push_back(Cat(piece == kXmmBytes ? Intrinsic(piece, "storeu_si128", cast, part)
                             : piece == 8       ? Intrinsic(piece, "storel_epi64", cast, part)
                                                : Intrinsic(piece, Cat("storeu_si", 8 * piece), at, part),
                             ";"));
    done += piece;
  }
  return statements;
}

// AVX2 packs each 16 bytes by itself. After a vector was packed with itself, words 0 and 2 of 64 bits hold
// the result; this moves them together, into the lower half.
std::string Rejoined(const std::string& packed, int lanes) {
  if (lanes == 4) return packed;
  return Cat("_mm256_castsi256_si128(_mm256_permute4x64_epi64(", packed, ", 8))");
}

// Words hold 16 bits each, so unsigned saturation changes none of them.
std::string CVectors::CutTo16(const std::string& words, int lanes) const {
  const int bytes = 4 * lanes;
  if (program_.masks) return Intrinsic(bytes, "cvtepi32_epi16", words);
  return Rejoined(Intrinsic(bytes, "packus_epi32", words, words), lanes);
}

// Words may have any value. AVX-512's unsigned saturation takes its input for unsigned, so negative words
// become 0 first. AVX2 goes by s16; its last step takes that for signed, whatever the result.
std::string CVectors::Saturated(const std::string& words, int lanes, Dtype to) const {
  const int bytes = 4 * lanes;
  if (program_.masks && to == Dtype::kU8)
    return Intrinsic(bytes, "cvtusepi32_epi8",
                     Intrinsic(bytes, "max_epi32", words, Intrinsic(bytes, Cat("setzero_", Si(bytes)))));
  if (program_.masks) return Intrinsic(bytes, "cvtsepi32_" + Epi(to), words);
  const std::string halves = Rejoined(Intrinsic(bytes, "packs_epi32", words, words), lanes);
  if (to == Dtype::kS16) return halves;
  return Intrinsic(kXmmBytes, to == Dtype::kU8 ? "packus_epi16" : "packs_epi16", halves, halves);
}

// Rounds to nearest, ties to even, by integers: adds 0x7fff, and 1 more if the upper half is odd, then takes
// the upper half. A NaN could become infinity that way. It stays a NaN instead: its upper half with one bit
// set, the rest of its payload cut.
std::vector<std::string> CVectors::StoreBf16(const Var& from, const std::string& to,
                                             const CCount& count) const {
  const int bytes = from.bytes();
  const std::string type = Cat("const ", IntegerType(bytes), " ");
  const auto constant = [&](const char* number) { return Intrinsic(bytes, "set1_epi32", number); };
  const std::string half = Intrinsic(
      bytes, "add_epi32", Intrinsic(bytes, "and_" + Si(bytes), "upper", constant("1")), constant("0x7fff"));
  std::vector<std::string> statements = {
      Cat(type, "bits = ", Intrinsic(bytes, Cat("castps_", Si(bytes)), from.name), ";"),
      Cat(type, "upper = ", Intrinsic(bytes, "srli_epi32", "bits", 16), ";"),
      Cat(type, "half = ", half, ";"),
      Cat(type, "rounded = ",
          Intrinsic(bytes, "srli_epi32", Intrinsic(bytes, "add_epi32", "bits", "half"), 16), ";"),
  };
  const std::string unordered =
      Intrinsic(bytes, program_.masks ? "cmp_ps_mask" : "cmp_ps", from.name, from.name, "_CMP_UNORD_Q");
  const std::string value =
      program_.masks ? Intrinsic(bytes, "mask_or_epi32", "rounded", unordered, "upper", constant("0x40"))
                     : Intrinsic(bytes, "blendv_epi8", "rounded",
                                 Intrinsic(bytes, "or_" + Si(bytes), "upper", constant("0x40")),
                                 Intrinsic(bytes, Cat("castps_", Si(bytes)), unordered));
  statements.push_back(Cat("const ", IntegerType(bytes / 2), " narrow = ", CutTo16(value, from.lanes), ";"));
  for (std::string& statement : StoreNarrow("narrow", to, Dtype::kBf16, from.lanes, count))
    statements.push_back(std::move(statement));
  return statements;
}

// There is an instruction that rounds to nearest, ties to even.
std::vector<std::string> CVectors::StoreF16(const Var& from, const std::string& to,
                                            const CCount& count) const {
  const int bytes = from.bytes();
  std::vector<std::string> statements = {
      Cat("const ", IntegerType(bytes / 2),
          " narrow = ", Intrinsic(bytes, "cvtps_ph", from.name, "_MM_FROUND_TO_NEAREST_INT"), ";")};
  for (std::string& statement : StoreNarrow("narrow", to, Dtype::kF16, from.lanes, count))
    statements.push_back(std::move(statement));
  return statements;
}

// As LoadReal: whole vectors, single elements, then by a mask.
std::string CVectors::StoreReal(const Var& from, const std::string& to, const CCount& count) const {
  const int bytes = from.bytes();
  const std::string type = RealSuffix(from.dtype);
  if (count.Is(from.lanes)) return Intrinsic(bytes, "storeu_" + type, to, Get(from)) + ";";
  if (count.Is(1) && bytes == kXmmBytes)
    return Intrinsic(bytes, Cat("store_", ScalarSuffix(from.dtype)), to, Get(from)) + ";";
  if (program_.masks)
    return Intrinsic(bytes, "mask_storeu_" + type, to, MaskOf(from.lanes, count), Get(from)) + ";";
  return Intrinsic(bytes, "maskstore_" + type, to, MaskVector(from.lanes, count, from.dtype), Get(from)) +
         ";";
}

// f64 is rounded to f32 first.
std::vector<std::string> CVectors::StoreOfFloats(const Var& from, const std::string& to, Dtype memory,
                                                 const CCount& count) const {
  const Var floats = InFloats(from, "floats");
  std::vector<std::string> statements = {
      Cat("const ", CVectorType(floats), " floats = ", Intrinsic(from.bytes(), "cvtpd_ps", from.name), ";")};
  for (std::string& statement : Store(floats, to, memory, count)) statements.push_back(std::move(statement));
  return statements;
}

std::string CVectors::Stream(const Var& from, const std::string& to) const {
  const int bytes = from.bytes();
  if (IsReal(from.dtype))
    return Intrinsic(bytes, Cat("stream_", RealSuffix(from.dtype)), to, Get(from)) + ";";
  const std::string words = Cat("(", IntegerType(bytes), "*)(", to, ")");
  return Intrinsic(bytes, Cat("stream_", Si(bytes)), words, Get(from)) + ";";
}

std::vector<std::string> CVectors::Store(const Var& from, const std::string& to, Dtype memory,
                                         const CCount& count) const {
  if (WidensTwice(from, memory)) return StoreOfFloats(from, to, memory, count);
  if (IsReal(memory)) return {StoreReal(from, to, count)};
  if (from.dtype == Dtype::kF32)
    return memory == Dtype::kF16 ? StoreF16(from, to, count) : StoreBf16(from, to, count);
  if (from.dtype != memory)
    return StoreNarrow(Saturated(Get(from), from.lanes, memory), to, memory, from.lanes, count);
  if (memory == Dtype::kS32 && !count.Is(from.lanes) && !program_.masks)
    return {
        Cat(Intrinsic(from.bytes(), "maskstore_epi32", to, MaskVector(from.lanes, count, memory), Get(from)),
            ";")};
  return StoreNarrow(Get(from), to, memory, from.lanes, count);
}

// GCC reassociates the additions of integers in a block: it adds the products first, which takes more
// registers than there are. An addition that is given as the instruction stays where it is.
std::string CVectors::AddInPlace(const Var& accumulator, const std::string& product) const {
  if (macros_.empty())
    return Cat("__asm__(\"vpaddd {%1, %0, %0|%0, %0, %1}\" : \"+v\"(", accumulator.name, ") : \"v\"(",
               product, "));");
  const int bits = 8 * std::max(accumulator.bytes(), kXmmBytes);
  return Cat(macros_, "ADD", bits, "(", accumulator.name, ", ", product, ");");
}

std::string CVectors::MultiplyAdd(const Var& accumulator, const Var& a, const Var& b, bool again) const {
  const int bytes = accumulator.bytes();
  const auto [row, exchanged] = InstructionFor(a.dtype, b.dtype);
  KIRSCH_CHECK(row != nullptr);
  const Encoding* const encoding =
      FindEncoding(*row, bytes, [&](std::string_view feature) { return program_.HasFeature(feature); });
  KIRSCH_CHECK(encoding != nullptr);
  // Intrinsics of bf16 have a type of vectors of their own; variables of h16 have the type already.
  const std::string cast = row->lhs == Dtype::kBf16 ? Cat("(__m", 8 * bytes, "bh)") : "";
  const auto get = [&](const Var& var) { return IsOfHalves(var) ? var.name : Get(var); };
  const std::string sum = get(accumulator), x = cast + get(exchanged ? b : a),
                    y = cast + get(exchanged ? a : b);
  const std::string name(encoding->c);
  // Where the sum is among the instruction's operands: the last one, the first one, or added to a product.
  switch (encoding->form) {
    case EncodingForm::kLast:
      return Cat(accumulator.name, " = ", Intrinsic(bytes, name, x, y, sum), ";");
    case EncodingForm::kFirst:
      return Set(accumulator, Intrinsic(bytes, name, sum, x, y));
    case EncodingForm::kProduct: {
      const std::string product = Intrinsic(bytes, name, x, y);
      return again ? AddInPlace(accumulator, product)
                   : Set(accumulator, Intrinsic(bytes, "add_epi32", sum, product));
    }
  }
  KIRSCH_BUG("no such form");
}

// Floats are given by their bits, so that a NaN or -0 stays what it is.
std::string CVectors::Fill(const Var& to, uint64_t word) const {
  const int bytes = to.bytes();
  if (to.dtype == Dtype::kF64)
    return Intrinsic(bytes, Cat("cast", Si(bytes), "_pd"),
                     Intrinsic(bytes, bytes == 64 ? "set1_epi64" : "set1_epi64x",
                               Cat("(long long)0x", absl::Hex(word), "u")));
  if (IsOfHalves(to)) return Intrinsic(bytes, "set1_epi16", Cat("(short)0x", absl::Hex(word)));
  const std::string words = Intrinsic(bytes, "set1_epi32", Cat("(int)0x", absl::Hex(word)));
  return to.dtype == Dtype::kF32 ? Intrinsic(bytes, Cat("cast", Si(bytes), "_ps"), words) : words;
}

std::string CVectors::FillIndex(const Var& to, const std::string& first, bool ascending) const {
  const std::string all = Intrinsic(to.bytes(), "set1_ps", Cat("(float)(", first, ")"));
  if (!ascending) return all;
  std::string lanes;
  for (int lane = 0; lane < to.lanes; ++lane) Append(&lanes, lane == 0 ? "" : ", ", lane);
  return Intrinsic(to.bytes(), "add_ps", all, Intrinsic(to.bytes(), "setr_ps", lanes));
}

std::string CVectors::Convert(const Var& to, const Var& from) const {
  return Intrinsic(to.bytes(), to.dtype == Dtype::kF32 ? "cvtepi32_ps" : "cvtps_epi32", Get(from));
}

// Adds halves until 4 lanes are left, then makes two horizontal additions. LlvmVectors has the same order, so
// both have the same bits. For one vector of 8 lanes, and three that are zero:
//   q0 = lower half + upper half           (4 lanes)
//   to = hadd(hadd(q0, q1), hadd(q2, q3))  (lane i is the sum of qi)
// Halves of zmm are taken under a mask: unmasked, they would trip GCC 12's warning about uninitialised
// variables in its own header.
std::vector<std::string> CVectors::LaneSums(const Var& to, const std::array<const Var*, 4>& from) const {
  if (to.dtype == Dtype::kF64) return LaneSumsOfPairs(to, from);
  if (IsOfHalves(to)) return LaneSumsOfHalves(to, from);
  const bool floating = to.dtype == Dtype::kF32;
  const std::string add = floating ? "add_ps" : "add_epi32";
  const auto half = [&](const std::string& value, int part) {
    return floating ? Cat("_mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xff, _mm512_castps_pd(", value,
                          "), ", part, "))")
                    : Cat("_mm512_maskz_extracti64x4_epi64(0xff, ", value, ", ", part, ")");
  };
  std::vector<std::string> statements;
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string q = Cat("const ", CVectorType(to), " q", i, " = ");
    if (from[i] == nullptr) {
      statements.push_back(Cat(q, Zero(to), ";"));
      continue;
    }
    std::string value = Get(*from[i]);
    if (from[i]->lanes == 16) {
      statements.push_back(Cat(floating ? "const __m256 h" : "const __m256i h", i, " = ",
                               Intrinsic(32, add, half(value, 0), half(value, 1)), ";"));
      value = Cat("h", i);
    }
    if (from[i]->lanes > 4)
      value = Intrinsic(
          16, add, Cat(floating ? "_mm256_castps256_ps128(" : "_mm256_castsi256_si128(", value, ")"),
          Cat(floating ? "_mm256_extractf128_ps(" : "_mm256_extracti128_si256(", value, ", 1)"));
    statements.push_back(Cat(q, value, ";"));
  }
  const std::string hadd = floating ? "hadd_ps" : "hadd_epi32";
  statements.push_back(
      Set(to, Intrinsic(16, hadd, Intrinsic(16, hadd, "q0", "q1"), Intrinsic(16, hadd, "q2", "q3"))));
  return statements;
}

// The same of f64: adds halves until 2 lanes are left, then makes one horizontal addition. Its two results
// are joined.
std::vector<std::string> CVectors::LaneSumsOfPairs(const Var& to,
                                                   const std::array<const Var*, 4>& from) const {
  const auto half_of_zmm = [](const std::string& value, int part) {
    return Cat("_mm512_maskz_extractf64x4_pd(0xff, ", value, ", ", part, ")");
  };
  std::vector<std::string> statements;
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string pair = Cat("const __m128d p", i, " = ");
    if (from[i] == nullptr) {
      statements.push_back(Cat(pair, "_mm_setzero_pd();"));
      continue;
    }
    std::string value = Get(*from[i]);
    if (from[i]->lanes == 8) {
      statements.push_back(Cat("const __m256d h", i, " = ",
                               Intrinsic(32, "add_pd", half_of_zmm(value, 0), half_of_zmm(value, 1)), ";"));
      value = Cat("h", i);
    }
    if (from[i]->lanes > 2)
      value = Intrinsic(kXmmBytes, "add_pd", Intrinsic(32, "castpd256_pd128", value),
                        Intrinsic(32, "extractf128_pd", value, 1));
    statements.push_back(Cat(pair, value, ";"));
  }
  const auto sums = [](const char* a, const char* b) { return Intrinsic(kXmmBytes, "hadd_pd", a, b); };
  statements.push_back(
      Set(to, Intrinsic(32, "insertf128_pd", Intrinsic(32, "castpd128_pd256", sums("p0", "p1")),
                        sums("p2", "p3"), 1)));
  return statements;
}

// The same of h16: adds halves until one lane is left. There is no horizontal addition for it, so the sums
// are then put side by side.
std::vector<std::string> CVectors::LaneSumsOfHalves(const Var& to,
                                                    const std::array<const Var*, 4>& from) const {
  const auto add = [&](int bytes, const std::string& a, const std::string& b) {
    return AsIntegers(
        to.dtype, bytes,
        Intrinsic(bytes, "add_ph", OfIntegers(to.dtype, bytes, a), OfIntegers(to.dtype, bytes, b)));
  };
  std::vector<std::string> statements;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == nullptr) {
      statements.push_back(Cat("const __m128i q", i, " = _mm_setzero_si128();"));
      continue;
    }
    std::string value = Get(*from[i]);
    if (from[i]->bytes() == 64) {
      const auto half = [&](int part) {
        return Cat("_mm512_maskz_extracti64x4_epi64(0xff, ", value, ", ", part, ")");
      };
      statements.push_back(Cat("const __m256i h", i, " = ", add(32, half(0), half(1)), ";"));
      value = Cat("h", i);
    }
    if (from[i]->bytes() > kXmmBytes) value = add(kXmmBytes, Quarter(value, 32, 0), Quarter(value, 32, 1));
    statements.push_back(Cat("__m128i q", i, " = ", value, ";"));
    for (int bytes = kXmmBytes / 2; bytes >= Bytes(to.dtype); bytes /= 2)
      statements.push_back(
          Cat("q", i, " = ",
              add(kXmmBytes, Cat("q", i), Intrinsic(kXmmBytes, "srli_si128", Cat("q", i), bytes)), ";"));
  }
  const auto beside = [](int bits, const std::string& a, const std::string& b) {
    return Intrinsic(kXmmBytes, Cat("unpacklo_epi", bits), a, b);
  };
  statements.push_back(Set(to, beside(32, beside(16, "q0", "q1"), beside(16, "q2", "q3"))));
  return statements;
}

std::string CVectors::Integers(const Var& var) const {
  const int bytes = var.bytes();
  if (!IsReal(var.dtype)) return Get(var);
  return Intrinsic(bytes, Cat("cast", RealSuffix(var.dtype), "_", Si(bytes)), var.name);
}

std::string CVectors::SetIntegers(const Var& to, const std::string& value) const {
  const int bytes = to.bytes();
  if (!IsReal(to.dtype)) return Set(to, value);
  return Set(to, Intrinsic(bytes, Cat("cast", Si(bytes), "_", RealSuffix(to.dtype)), value));
}

// Interleaves pairs of rows, then the results, as in a butterfly:
//   low01 = a0 b0 a1 b1, low23 = c0 d0 c1 d1  ->  a0 b0 c0 d0 and a1 b1 c1 d1
// Rows of 16 bytes and more are done by 32 bits, then 64. A row of 8 or 4 bytes fills only a part of its
// register: low01 then has all of two rows, and one register gets several results, which are shifted down.
// Two vectors of f64 take a single step.
std::vector<std::string> CVectors::Transpose(const std::array<const Var*, 4>& rows) const {
  const int bytes = rows[0]->bytes();
  std::array<std::string, 4> row;
  for (size_t i = 0; i < 4 && rows[i] != nullptr; ++i) row[i] = Integers(*rows[i]);
  const auto low = [&](int bits, const std::string& a, const std::string& b) {
    return Shuffled(bytes, Cat("unpacklo_epi", bits), a, b);
  };
  const auto high = [&](int bits, const std::string& a, const std::string& b) {
    return Shuffled(bytes, Cat("unpackhi_epi", bits), a, b);
  };
  std::vector<std::string> statements;
  const auto define = [&](const char* name, const std::string& value) {
    statements.push_back(Cat("const ", IntegerType(bytes), " ", name, " = ", value, ";"));
  };
  const auto set = [&](size_t i, const std::string& value) {
    statements.push_back(SetIntegers(*rows[i], value));
  };
  if (rows[2] == nullptr) {
    define("low", low(64, row[0], row[1]));
    define("high", high(64, row[0], row[1]));
    set(0, "low");
    set(1, "high");
    return statements;
  }
  // A quarter of a vector, or of each 16 bytes: 8 * bytes / 4.
  const int quarter = 2 * std::min(bytes, kXmmBytes);  // bits
  define("low01", low(quarter, row[0], row[1]));
  define("low23", low(quarter, row[2], row[3]));
  if (bytes >= kXmmBytes) {
    define("high01", high(quarter, row[0], row[1]));
    define("high23", high(quarter, row[2], row[3]));
    set(0, low(64, "low01", "low23"));
    set(1, high(64, "low01", "low23"));
    set(2, low(64, "high01", "high23"));
    set(3, high(64, "high01", "high23"));
  } else if (bytes == 8) {
    set(0, low(32, "low01", "low23"));
    set(2, high(32, "low01", "low23"));
    for (size_t i : {1, 3}) set(i, Intrinsic(kXmmBytes, "srli_si128", row[i - 1], bytes));
  } else {
    set(0, low(16, "low01", "low23"));
    for (size_t i = 1; i < 4; ++i)
      set(i, Intrinsic(kXmmBytes, "srli_si128", row[0], bytes * static_cast<int>(i)));
  }
  return statements;
}

// Turns a square of parts of 16 bytes. Ymm has two parts, so one step takes the first ones of both vectors,
// another the second ones. Of zmm, the even and the odd parts of two vectors are put into one, twice:
//   even01 = a0 a2 b0 b2, even23 = c0 c2 d0 d2  ->  a0 b0 c0 d0 (even) and a2 b2 c2 d2 (odd)
std::vector<std::string> CVectors::TransposeParts(const std::array<const Var*, 4>& rows) const {
  std::array<std::string, 4> row;
  for (size_t i = 0; i < 4 && rows[i] != nullptr; ++i) row[i] = Integers(*rows[i]);
  std::vector<std::string> statements;
  const auto define = [&](const char* name, const std::string& value) {
    statements.push_back(Cat("const ", IntegerType(rows[0]->bytes()), " ", name, " = ", value, ";"));
  };
  if (rows[2] == nullptr) {
    define("first", Intrinsic(32, "permute2x128_si256", row[0], row[1], "0x20"));
    define("second", Intrinsic(32, "permute2x128_si256", row[0], row[1], "0x31"));
    return {statements[0], statements[1], SetIntegers(*rows[0], "first"), SetIntegers(*rows[1], "second")};
  }
  const auto even = [](const std::string& a, const std::string& b) {
    return Shuffled(64, "shuffle_i32x4", a, b, "0x88");
  };
  const auto odd = [](const std::string& a, const std::string& b) {
    return Shuffled(64, "shuffle_i32x4", a, b, "0xdd");
  };
  define("even01", even(row[0], row[1]));
  define("even23", even(row[2], row[3]));
  define("odd01", odd(row[0], row[1]));
  define("odd23", odd(row[2], row[3]));
  statements.push_back(SetIntegers(*rows[0], even("even01", "even23")));
  statements.push_back(SetIntegers(*rows[1], even("odd01", "odd23")));
  statements.push_back(SetIntegers(*rows[2], odd("even01", "even23")));
  statements.push_back(SetIntegers(*rows[3], odd("odd01", "odd23")));
  return statements;
}

// Widens the elements of each vector to a group, shifts them to their place in it, and joins all.
std::string CVectors::Interleave(const Var& to, const std::array<const Var*, 4>& from) const {
  const int bytes = to.bytes(), bits = 8 * Bytes(to.dtype);
  const std::string group = Cat("epi", bits * to.lanes / from[0]->lanes);
  std::string sum;
  for (size_t place = 0; place < from.size() && from[place] != nullptr; ++place) {
    std::string part = Intrinsic(bytes, Cat("cvt", Epi(to.dtype, false), "_", group), Get(*from[place]));
    if (place > 0) part = Intrinsic(bytes, Cat("slli_", group), part, place * static_cast<size_t>(bits));
    sum = place == 0 ? part : Intrinsic(bytes, Cat("or_", Si(bytes)), sum, part);
  }
  return sum;
}

// Groups of up to four are within the 16 bytes that a shuffle of immediate lanes has. Of larger ones, a
// shuffle takes the numbers of lanes from a vector.
std::string CVectors::GroupLane(const Var& from, int group, int lane) const {
  constexpr int kOfShuffle = 4;
  const int bytes = from.bytes();
  if (group <= kOfShuffle) {
    int lanes = 0;
    for (int at = kOfShuffle; at-- > 0;) lanes = 4 * lanes + at - at % group + lane;
    return Intrinsic(bytes, "permute_ps", from.name, Cat("0x", absl::Hex(lanes)));
  }
  std::string numbers;
  for (int at = 0; at < from.lanes; ++at) Append(&numbers, at > 0 ? ", " : "", at - at % group + lane);
  const std::string order = Intrinsic(bytes, "setr_epi32", numbers);
  return bytes == 32 ? Intrinsic(bytes, "permutevar8x32_ps", from.name, order)
                     : Intrinsic(bytes, "permutexvar_ps", order, from.name);
}

// Both vectors are read before either is set, hence the temporary.
std::vector<std::string> CVectors::Deinterleave(const Var& a, const Var& b) const {
  return {Cat("const ", CVectorType(a), " even = ", EverySecond(a, b, 0), ";"),
          Cat(b.name, " = ", EverySecond(a, b, 1), ";"), Cat(a.name, " = even;")};
}

// A bf16 is the upper half of an f32: the lower element is shifted up, the upper one is masked.
std::string CVectors::Half(const Var& words, int half) const {
  const int bytes = words.bytes();
  const std::string word = half == 0 ? Intrinsic(bytes, "slli_epi32", words.name, 16)
                                     : Intrinsic(bytes, "and_" + Si(bytes), words.name,
                                                 Intrinsic(bytes, "set1_epi32", "(int)0xffff0000"));
  return Intrinsic(bytes, Cat("cast", Si(bytes), "_ps"), word);
}

}  // namespace kirsch
