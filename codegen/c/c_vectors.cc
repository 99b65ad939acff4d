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

std::string IntegerType(int bytes) {
  return bytes <= kXmmBytes ? "__m128i" : bytes == 32 ? "__m256i" : "__m512i";
}

// "epi16", or "epu16".
std::string Epi(Dtype dtype, bool with_sign = true) {
  return Cat(with_sign ? "epi" : "epu", 8 * Bytes(dtype));
}

std::string Offset(const std::string& pointer, int elements) {
  return elements == 0 ? pointer : Cat(pointer, " + ", elements);
}

// Elements first .. first + count - 1 as an unsigned number, the rest being zero.
std::string GatheredWord(const std::string& from, Dtype memory, int first, int count) {
  const int bits = 8 * Bytes(memory);
  std::string word;
  for (int i = 0; i < count; ++i) {
    Append(&word, i == 0 ? "" : " | ", "(uint32_t)(uint", bits, "_t)(", from, ")[", first + i, "]");
    if (i > 0) Append(&word, " << ", i * bits);
  }
  return word;
}

// By way of f16, the bits of which come first. What is no number is to have the largest exponent there.
// `words`: an element in the lower part of 16 bits each, whose upper part is shifted out.
std::string WordsByF16(const std::string& words, Dtype from, int lanes) {
  const int half = lanes * Bytes(Dtype::kF16), bytes = lanes * kWordBytes;
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

std::string WidenedByF16(const std::string& value, Dtype from, int lanes) {
  const int half = lanes * Bytes(Dtype::kF16);
  return WordsByF16(from == Dtype::kF16 ? value : Intrinsic(half, "cvtepu8_epi16", value), from, lanes);
}

// Memory's elements, as LoadNarrow has them, as elements of type `to`.
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

// Within 16 bytes by one shuffle; of ymm, pairs of elements are then put in order.
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

// Of zmm under a mask of all lanes: see LaneSums.
template <typename... Arguments>
std::string Shuffled(int bytes, const std::string& name, const Arguments&... arguments) {
  if (bytes != 64) return Intrinsic(bytes, name, arguments...);
  return Intrinsic(bytes, "maskz_" + name, name.ends_with("64") ? "0xff" : "0xffff", arguments...);
}

bool IsOfWords(const Var& var) { return var.dtype == Dtype::kS32; }

// Values of such variables are vectors of integers but to its arithmetic.
bool IsOfHalves(const Var& var) { return var.dtype == Dtype::kF16Sums; }

// Are vectors of the type floats to C?
bool IsReal(Dtype dtype) { return dtype == Dtype::kF32 || dtype == Dtype::kF64; }

}  // namespace

// Of elements of 64 bits, which setr is not there for in 128 bits, from the last lane to the first.
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

std::string CVectors::Zero(const Var& to) const {
  const int bytes = to.bytes();
  return Intrinsic(bytes, Cat("setzero_", IsReal(to.dtype) ? std::string(RealSuffix(to.dtype)) : Si(bytes)));
}

// Are there masked accesses to such elements? AVX2 and AVX-512F have them for words and wider ones only.
bool CVectors::Maskable(Dtype memory) const {
  return program_.masks && (Bytes(memory) >= kWordBytes || program_.HasFeature("avx512bw"));
}

std::string CVectors::LoadReal(Dtype dtype, int lanes, const std::string& from, const CCount& count) const {
  const int bytes = lanes * Bytes(dtype);
  const std::string type = RealSuffix(dtype);
  if (count.Is(lanes)) return Intrinsic(bytes, "loadu_" + type, from);
  if (count.Is(1) && bytes == kXmmBytes) return Intrinsic(bytes, Cat("load_", ScalarSuffix(dtype)), from);
  if (program_.masks) return Intrinsic(bytes, "maskz_loadu_" + type, MaskOf(lanes, count), from);
  return Intrinsic(bytes, "maskload_" + type, from, MaskVector(lanes, count, dtype));
}

// A partial load of elements that cannot be masked: whole words under a mask, then the rest of a word.
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
  const std::string word = Cat("(int)(", GatheredWord(from, memory, words * in_word, rest), ")");
  if (bytes == 64)
    return Intrinsic(bytes, "mask_set1_epi32", value, Cat("(__mmask16)0x", absl::Hex(1u << words)), word);
  return Intrinsic(bytes, "insert_epi32", value, word, words);
}

// Without a conversion, in the lower part of the vector.
std::string CVectors::LoadNarrow(const std::string& from, Dtype memory, int lanes,
                                 const CCount& count) const {
  const int bytes = lanes * Bytes(memory);
  if (!count.Is(lanes)) {
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
  if (IsReal(memory)) return LoadReal(memory, to.lanes, from, count);
  return Widened(LoadNarrow(from, memory, to.lanes, count), memory, to.dtype, to.lanes);
}

std::string CVectors::Broadcast(const Var& to, const std::string& from, Dtype memory, int count) const {
  const int bytes = to.bytes(), group = WordElements(to.dtype), narrow = to.lanes * Bytes(memory);
  const std::string element = Cat("*(", from, ")");
  if (IsReal(memory)) return Intrinsic(bytes, Cat("set1_", RealSuffix(memory)), element);
  if (memory == Dtype::kBf16 && to.dtype == Dtype::kF32)
    // In both halves of the word: that takes no instruction more, and the lower one is shifted out.
    return Intrinsic(
        bytes, Cat("cast", Si(bytes), "_ps"),
        Intrinsic(bytes, "slli_epi32", Intrinsic(bytes, "set1_epi16", Cat("(short)", element)), 16));
  if (WidensByF16(memory) && Bytes(memory) == 1)  // likewise
    return WordsByF16(Intrinsic(to.lanes * Bytes(Dtype::kF16), "set1_epi8", Cat("(char)", element)), memory,
                      to.lanes);
  // GCC makes it a part of the multiply-add that takes it, if it is of floats from the beginning.
  if (IsOfHalves(to))
    return AsIntegers(
        to.dtype, bytes,
        Intrinsic(bytes, "set1_ph",
                  Intrinsic(kXmmBytes, "cvtsh_h",
                            OfIntegers(to.dtype, kXmmBytes, Intrinsic(kXmmBytes, "loadu_si16", from)))));
  const int bits = 8 * Bytes(memory) * group;  // of a group in memory
  std::string value;
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

// Byte by byte, as C lets no pointer to bytes stand for one to wider elements.
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

// The 16 bytes of that number. (Those of zmm under a mask: see LaneSums.)
std::string Quarter(const std::string& value, int bytes, int number) {
  if (bytes <= kXmmBytes) return value;
  if (bytes == 64) return Cat("_mm512_maskz_extracti32x4_epi32(0xf, ", value, ", ", number, ")");
  return number == 0 ? Cat("_mm256_castsi256_si128(", value, ")")
                     : Cat("_mm256_extracti128_si256(", value, ", 1)");
}

// Pieces of 16, 8, 4, 2 and 1 bytes where there are no masks.
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

// The lower half of a ymm whose 16-bit elements came out of packing each half with itself.
std::string Rejoined(const std::string& packed, int lanes) {
  if (lanes == 4) return packed;
  return Cat("_mm256_castsi256_si128(_mm256_permute4x64_epi64(", packed, ", 8))");
}

// Of words that hold 16 bits.
std::string CVectors::CutTo16(const std::string& words, int lanes) const {
  const int bytes = 4 * lanes;
  if (program_.masks) return Intrinsic(bytes, "cvtepi32_epi16", words);
  return Rejoined(Intrinsic(bytes, "packus_epi32", words, words), lanes);
}

// Of words of any value. Unsigned saturation takes its input for unsigned, but for the last of AVX2's steps.
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

// To nearest, ties to even; what is no number stays none, though its payload is cut.
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

std::string CVectors::Stream(const Var& from, const std::string& to) const {
  const int bytes = from.bytes();
  if (IsReal(from.dtype))
    return Intrinsic(bytes, Cat("stream_", RealSuffix(from.dtype)), to, Get(from)) + ";";
  const std::string words = Cat("(", IntegerType(bytes), "*)(", to, ")");
  return Intrinsic(bytes, Cat("stream_", Si(bytes)), words, Get(from)) + ";";
}

std::vector<std::string> CVectors::Store(const Var& from, const std::string& to, Dtype memory,
                                         const CCount& count) const {
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

// Of integers GCC reassociates the additions of a block: it adds the products first, which takes more
// registers than there are. What is given to it as the instruction stays where it is.
std::string CVectors::AddInPlace(const Var& accumulator, const std::string& product) const {
  if (macros_.empty())
    return Cat("__asm__(\"vpaddd {%1, %0, %0|%0, %0, %1}\" : \"+v\"(", accumulator.name, ") : \"v\"(",
               product, "));");
  const int bits = 8 * std::max(accumulator.bytes(), kXmmBytes);
  return Cat(macros_, "ADD", bits, "(", accumulator.name, ", ", product, ");");
}

std::string CVectors::MultiplyAdd(const Var& accumulator, const Var& a, const Var& b, bool subtracts,
                                  bool again) const {
  const int bytes = accumulator.bytes();
  const auto [row, exchanged] = InstructionFor(a.dtype, b.dtype);
  KIRSCH_CHECK(row != nullptr);
  const Encoding* const encoding =
      FindEncoding(*row, bytes, [&](std::string_view feature) { return program_.HasFeature(feature); });
  KIRSCH_CHECK(encoding != nullptr);
  // Vectors of bf16 have a type of their own there, and variables of h16 are what it takes.
  const std::string cast = row->lhs == Dtype::kBf16 ? Cat("(__m", 8 * bytes, "bh)") : "";
  const auto get = [&](const Var& var) { return IsOfHalves(var) ? var.name : Get(var); };
  const std::string sum = get(accumulator), x = cast + get(exchanged ? b : a),
                    y = cast + get(exchanged ? a : b);
  const std::string name =
      subtracts ? Cat("fmsub_", RealSuffix(accumulator.dtype)) : std::string(encoding->c);
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

// Floats by their bits: no text of theirs could say more.
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

std::string CVectors::Convert(const Var& to, const Var& from) const {
  return Intrinsic(to.bytes(), to.dtype == Dtype::kF32 ? "cvtepi32_ps" : "cvtps_epi32", Get(from));
}

// As in LlvmVectors: halves are added until 4 lanes are left, then two horizontal additions. Halves of zmm
// are taken under a mask: unmasked, they would trip GCC 12's warning about uninitialised variables in its own
// header.
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

// The same of f64: halves are added until 2 lanes are left, then one horizontal addition.
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

// The same of h16: halves are added until one lane is left. Lanes of several sums are then put side by side.
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

// A variable as a vector of integers, and set to one.
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

// Of quarters of vectors of 16, 8 and 4 bytes, of which the latter two fill one register; or of words; or of
// two vectors of f64.
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

// Of zmm, the even and the odd parts of two vectors are put into one, twice.
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

std::vector<std::string> CVectors::Deinterleave(const Var& a, const Var& b) const {
  return {Cat("const ", CVectorType(a), " even = ", EverySecond(a, b, 0), ";"),
          Cat(b.name, " = ", EverySecond(a, b, 1), ";"), Cat(a.name, " = even;")};
}

std::string CVectors::Half(const Var& words, int half) const {
  const int bytes = words.bytes();
  const std::string word = half == 0 ? Intrinsic(bytes, "slli_epi32", words.name, 16)
                                     : Intrinsic(bytes, "and_" + Si(bytes), words.name,
                                                 Intrinsic(bytes, "set1_epi32", "(int)0xffff0000"));
  return Intrinsic(bytes, Cat("cast", Si(bytes), "_ps"), word);
}

}  // namespace kirsch
