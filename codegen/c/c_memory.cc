// SPDX-License-Identifier: Apache-2.0
// Prints how CVectors loads and stores: elements of all types, whole vectors and parts of them.
#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/c/c_intrinsics.h"
#include "codegen/c/c_signature.h"
#include "codegen/c/c_vectors.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

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
    return OfIntegers(Dtype::kF32, bytes,
                      Intrinsic(bytes, "slli_epi32", Intrinsic(bytes, "cvtepu16_epi32", value), 16));
  return Intrinsic(bytes, Cat("cvt", Epi(from, Info(from).has_sign), "_", Epi(to)), value);
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

// Returns the 16 bytes of that number. (Those of zmm under a mask: see HalfOf.)
std::string Quarter(const std::string& value, int bytes, int number) {
  if (bytes <= kXmmBytes) return value;
  if (bytes == 64) return Intrinsic(bytes, "maskz_extracti32x4_epi32", "0xf", value, number);
  return HalfOf(Dtype::kS32, bytes, value, number);
}

// AVX2 packs each 16 bytes by itself. After a vector was packed with itself, words 0 and 2 of 64 bits hold
// the result; this moves them together, into the lower half.
std::string Rejoined(const std::string& packed, int lanes) {
  if (lanes == 4) return packed;
  return Cat("_mm256_castsi256_si128(_mm256_permute4x64_epi64(", packed, ", 8))");
}

// The statements with another one before them.
std::vector<std::string> Behind(std::string first, std::vector<std::string> statements) {
  statements.insert(statements.begin(), std::move(first));
  return statements;
}

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
    return OfIntegers(
        Dtype::kF32, bytes,
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
  return Behind(Cat("const ", IntegerType(bytes / 2),
                    " narrow = ", Intrinsic(bytes, "cvtps_ph", from.name, "_MM_FROUND_TO_NEAREST_INT"), ";"),
                StoreNarrow("narrow", to, Dtype::kF16, from.lanes, count));
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
  return Behind(
      Cat("const ", CVectorType(floats), " floats = ", Intrinsic(from.bytes(), "cvtpd_ps", from.name), ";"),
      Store(floats, to, memory, count));
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

}  // namespace kirsch
