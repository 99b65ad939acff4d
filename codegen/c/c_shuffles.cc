// SPDX-License-Identifier: Apache-2.0
// Prints how CVectors moves elements between lanes: sums of lanes, squares turned, elements side by side.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/c/c_intrinsics.h"
#include "codegen/c/c_vectors.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

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

// Prints a shuffle; of zmm under a mask of all lanes, which changes nothing but a warning: see HalfOf.
template <typename... Arguments>
std::string Shuffled(int bytes, const std::string& name, const Arguments&... arguments) {
  if (bytes != 64) return Intrinsic(bytes, name, arguments...);
  return Intrinsic(bytes, "maskz_" + name, name.ends_with("64") ? "0xff" : "0xffff", arguments...);
}

}  // namespace

// Adds halves until 16 bytes are left, and in these of h16 until one lane is: there is no horizontal addition
// for it. The statements set NAME, which is zero if there is no vector.
std::vector<std::string> CVectors::AddHalves(const Var& to, const Var* from, const std::string& name,
                                             const std::string& half_name) const {
  const auto of_bytes = [&](int bytes) {
    Var var = to;
    var.lanes = bytes / Bytes(to.dtype);
    return var;
  };
  const auto sum = [&](int bytes, const std::string& a, const std::string& b) {
    const std::string suffix = to.dtype == Dtype::kS32 ? "epi32" : RealSuffix(to.dtype);
    if (!IsOfHalves(to)) return Intrinsic(bytes, "add_" + suffix, a, b);
    return AsIntegers(
        to.dtype, bytes,
        Intrinsic(bytes, "add_ph", OfIntegers(to.dtype, bytes, a), OfIntegers(to.dtype, bytes, b)));
  };
  const auto halves = [&](int bytes, const std::string& value) {
    return sum(bytes / 2, HalfOf(to.dtype, bytes, value, 0), HalfOf(to.dtype, bytes, value, 1));
  };
  const std::string type = CVectorType(of_bytes(kXmmBytes));
  if (from == nullptr) return {Cat("const ", type, " ", name, " = ", Zero(of_bytes(kXmmBytes)), ";")};
  std::vector<std::string> statements;
  std::string value = Get(*from);
  if (from->bytes() == 64) {
    statements.push_back(
        Cat("const ", CVectorType(of_bytes(32)), " ", half_name, " = ", halves(64, value), ";"));
    value = half_name;
  }
  if (from->bytes() > kXmmBytes) value = halves(32, value);
  statements.push_back(Cat(IsOfHalves(to) ? "" : "const ", type, " ", name, " = ", value, ";"));
  for (int bytes = kXmmBytes / 2; IsOfHalves(to) && bytes >= Bytes(to.dtype); bytes /= 2)
    statements.push_back(
        Cat(name, " = ", sum(kXmmBytes, name, Intrinsic(kXmmBytes, "srli_si128", name, bytes)), ";"));
  return statements;
}

// LlvmVectors has the same order, so both have the same bits. For one vector of 8 lanes, and three that are
// zero:
//   q0 = lower half + upper half           (4 lanes)
//   to = hadd(hadd(q0, q1), hadd(q2, q3))  (lane i is the sum of qi)
// Of f64 one horizontal addition of two vectors has two results, which are joined; of h16 the sums are put
// side by side.
std::vector<std::string> CVectors::LaneSums(const Var& to, const std::array<const Var*, 4>& from) const {
  const bool pairs = to.dtype == Dtype::kF64;
  std::vector<std::string> statements;
  std::array<std::string, 4> q;
  for (size_t i = 0; i < from.size(); ++i) {
    q[i] = Cat(pairs ? "p" : "q", i);
    for (std::string& statement : AddHalves(to, from[i], q[i], Cat("h", i)))
      statements.push_back(std::move(statement));
  }
  const auto joined = [&](const std::string& name, const std::string& a, const std::string& b) {
    return Intrinsic(kXmmBytes, name, a, b);
  };
  const std::string hadd = Cat("hadd_", to.dtype == Dtype::kS32 ? "epi32" : RealSuffix(to.dtype));
  const std::string inner = IsOfHalves(to) ? "unpacklo_epi16" : hadd;
  const std::string low = joined(inner, q[0], q[1]), high = joined(inner, q[2], q[3]);
  statements.push_back(
      Set(to, pairs ? Intrinsic(32, "insertf128_pd", Intrinsic(32, "castpd128_pd256", low), high, 1)
                    : joined(IsOfHalves(to) ? "unpacklo_epi32" : hadd, low, high)));
  return statements;
}

std::string CVectors::Integers(const Var& var) const {
  return IsReal(var.dtype) ? AsIntegers(var.dtype, var.bytes(), var.name) : Get(var);
}

std::string CVectors::SetIntegers(const Var& to, const std::string& value) const {
  return Set(to, IsReal(to.dtype) ? OfIntegers(to.dtype, to.bytes(), value) : value);
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
  return OfIntegers(Dtype::kF32, bytes, word);
}

}  // namespace kirsch
