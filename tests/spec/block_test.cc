// SPDX-License-Identifier: Apache-2.0
// Types of blocks against what others say of the same bytes: blocks that ggml's own Python package (gguf)
// quantised, or, for the types it can't quantise, drew, and dequantised; and a plain decoder, written from
// ggml's definitions of the blocks as structures.
#include "spec/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "spec/element_array.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;

std::vector<uint8_t> FromHex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::map<std::string, Dtype> TypesByName() {
  std::map<std::string, Dtype> types;
  for (const DtypeInfo& info : kDtypes)
    if (info.block > 1) types[std::string(info.name)] = info.dtype;
  return types;
}

TEST(BlockTest, GoldenBlocks) {
  std::ifstream file(std::string(KIRSCH_TEST_DATA) + "/golden_blocks.txt");
  ASSERT_TRUE(file.good());
  const std::map<std::string, Dtype> types = TypesByName();
  std::map<std::string, int> seen;
  std::string name, block, values;
  while (file >> name >> block >> values) {
    ASSERT_TRUE(types.contains(name)) << name;
    const Dtype dtype = types.at(name);
    const std::vector<uint8_t> bytes = FromHex(block), floats = FromHex(values);
    ASSERT_EQ(bytes.size(), static_cast<size_t>(Bytes(dtype)));
    ASSERT_EQ(floats.size(), 4 * static_cast<size_t>(BlockOf(dtype)));
    for (int i = 0; i < BlockOf(dtype); ++i) {
      float wanted;
      memcpy(&wanted, &floats[4 * static_cast<size_t>(i)], sizeof wanted);
      EXPECT_EQ(DecodeElement(dtype, bytes.data(), i), wanted) << name << " " << i;
    }
    ++seen[name];
  }
  EXPECT_EQ(seen.size(), 6u);  // those that ggml has
}

// An f16 by its definition.
double Half(const uint8_t* at) {
  const int bits = at[0] + 256 * at[1], exponent = bits / 1024 % 32, mantissa = bits % 1024;
  const double sign = bits >= 32768 ? -1 : 1;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

float Single(const uint8_t* at) {
  float number;
  memcpy(&number, at, sizeof number);
  return number;
}

// The elements of a block one after the other, as ggml's loops go over them.
std::vector<double> Plain(Dtype dtype, const uint8_t* b) {
  std::vector<double> y(static_cast<size_t>(BlockOf(dtype)));
  switch (dtype) {
    case Dtype::kQ8_0:
      for (int i = 0; i < 32; ++i)
        y[static_cast<size_t>(i)] = Half(b) * (b[2 + i] >= 128 ? b[2 + i] - 256 : b[2 + i]);
      break;
    case Dtype::kQ4_0:
      for (int i = 0; i < 16; ++i) {
        y[static_cast<size_t>(i)] = Half(b) * (b[2 + i] % 16 - 8);
        y[static_cast<size_t>(i + 16)] = Half(b) * (b[2 + i] / 16 - 8);
      }
      break;
    case Dtype::kQ4_1:
      for (int i = 0; i < 16; ++i) {
        y[static_cast<size_t>(i)] = Half(b) * (b[4 + i] % 16) + Half(b + 2);
        y[static_cast<size_t>(i + 16)] = Half(b) * (b[4 + i] / 16) + Half(b + 2);
      }
      break;
    case Dtype::kMxfp4: {
      const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
      for (int i = 0; i < 32; ++i) {
        const int code = i < 16 ? b[1 + i] % 16 : b[1 + i - 16] / 16;
        y[static_cast<size_t>(i)] = std::ldexp(values[code % 8], b[0] - 127) * (code >= 8 ? -1 : 1);
      }
      break;
    }
    case Dtype::kQ4K: {
      const uint8_t *q = b + 16, *s = b + 4;
      size_t next = 0;
      for (int group = 0; group < 8; ++group) {
        const int scale = group < 4 ? s[group] % 64 : s[group + 4] % 16 + s[group - 4] / 64 * 16;
        const int least = group < 4 ? s[group + 4] % 64 : s[group + 4] / 16 + s[group] / 64 * 16;
        for (int i = 0; i < 32; ++i) {
          const int code = group % 2 == 0 ? q[i] % 16 : q[i] / 16;
          y[next++] = Half(b) * scale * code - Half(b + 2) * least;
        }
        if (group % 2 == 1) q += 32;
      }
      break;
    }
    case Dtype::kQ6K:
      for (int i = 0; i < 256; ++i) {
        const int half = i / 128, quarter = i % 128 / 32, l = i % 32;
        const int low = b[64 * half + l + (quarter % 2 == 1 ? 32 : 0)], high = b[128 + 32 * half + l];
        const int code = (quarter < 2 ? low % 16 : low / 16) + 16 * (high >> (2 * quarter) & 3);
        const int scale = b[192 + 8 * half + 2 * quarter + l / 16];
        y[static_cast<size_t>(i)] = Half(b + 208) * (scale >= 128 ? scale - 256 : scale) * (code - 32);
      }
      break;
    case Dtype::kSfp8:  // as gemma.cpp's comments say of its floats
      for (size_t i = 0; i < 32; ++i) {
        const int x = b[i] % 128;
        const double size = x == 0   ? 0
                            : x < 64 ? std::ldexp(1 + x % 4 / 4.0, x / 4 - 23)
                                     : std::ldexp(1 + x % 8 / 8.0, x / 8 - 15);
        y[i] = b[i] >= 128 ? -size : size;
      }
      break;
    case Dtype::kQ8:
      for (size_t i = 0; i < 32; ++i)
        y[i] = double{Single(b)} * (b[24 + i] >= 128 ? b[24 + i] - 256 : b[24 + i]);
      break;
    case Dtype::kQ8Super:
      for (size_t i = 0; i < 256; ++i)
        y[i] = double{Single(b + 4 * (i / 32))} * (b[320 + i] >= 128 ? b[320 + i] - 256 : b[320 + i]);
      break;
    case Dtype::kPanel8:
      for (size_t i = 0; i < 32; ++i) y[i] = double{Single(b + 32)} * (b[i] - 128);
      break;
    case Dtype::kPanel8Offset:
      for (size_t i = 0; i < 32; ++i)
        y[i] = std::fma(Single(b + 32), static_cast<float>(b[i]), Single(b + 36));
      break;
    case Dtype::kPanel4:
      for (size_t i = 0; i < 32; ++i) y[i] = Half(b + 16) * (b[i % 16] / (i < 16 ? 1 : 16) % 16 - 8);
      break;
    case Dtype::kPanel4Offset:
      for (size_t i = 0; i < 32; ++i)
        y[i] = Half(b + 16) * (b[i % 16] / (i < 16 ? 1 : 16) % 16) + Half(b + 18);
      break;
    case Dtype::kPanel8Halves:
      for (size_t i = 0; i < 32; ++i) {
        const uint8_t* const half = b + (i < 16 ? 0 : 20);
        y[i] = double{Single(half + 16)} * (half[i % 16] - 32);
      }
      break;
    case Dtype::kPanel4Super:
      for (size_t i = 0; i < 256; ++i) {
        const size_t part =
            i / 32;  // scale factors of parts 0 to 3 at 16, of others at 92; of offsets 8 and 4 on
        const double scale = Half(b + 20) * b[part < 4 ? 16 + part : 92 + part - 4],
                     offset = Half(b + 22) * b[part < 4 ? 24 + part : 96 + part - 4];
        const size_t codes[] = {0, 28, 44, 60, 76, 100, 116, 132};
        const int byte = b[codes[part] + i % 16];
        y[i] = scale * (i % 32 < 16 ? byte % 16 : byte / 16) + offset;
      }
      break;
    case Dtype::kPanel6Super:
      for (size_t i = 0; i < 256; ++i) {
        const size_t quarters[] = {0, 54, 106, 158}, second[] = {38, 90, 142, 194};
        const size_t quarter = quarters[i / 64], word = quarter + i % 16 / 4 * 8 + i % 4;
        const int low = b[i % 64 < 32 ? word : second[i / 64] + i % 16], high = b[word + 4];
        const int code = (i % 32 < 16 ? low % 16 : low / 16) + 16 * (high >> (2 * (i / 16 % 4)) & 3);
        y[i] = Half(b + 36) * static_cast<int8_t>(b[quarter + 32 + i / 16 % 4]) * (code - 32);
      }
      break;
    default:
      ADD_FAILURE() << "no plain decoder";
  }
  return y;
}

bool SameNumber(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

// All values of every byte in turn, among random ones: every code, every scale, infinite and subnormal ones
// and what is no number.
TEST(BlockTest, AnyBytes) {
  std::mt19937 random(5);
  for (const auto& [name, dtype] : TypesByName()) {
    std::vector<uint8_t> block(static_cast<size_t>(Bytes(dtype)));
    for (size_t byte = 0; byte < block.size(); ++byte)
      for (int value = 0; value < 256; ++value) {
        for (uint8_t& other : block) other = static_cast<uint8_t>(random());
        block[byte] = static_cast<uint8_t>(value);
        const std::vector<double> wanted = Plain(dtype, block.data());
        for (int i = 0; i < BlockOf(dtype); ++i) {
          const auto rounded = static_cast<double>(static_cast<float>(wanted[static_cast<size_t>(i)]));
          ASSERT_TRUE(SameNumber(DecodeElement(dtype, block.data(), i), rounded))
              << name << " byte " << byte << " = " << value << ", element " << i;
        }
      }
  }
}

// What becomes integers is off by no more than half a step; exact where the largest is 127 steps.
TEST(BlockTest, Encoding) {
  std::mt19937 random(7);
  std::vector<uint8_t> block(static_cast<size_t>(Bytes(Dtype::kQ8)));
  std::vector<float> x(32);
  for (int round = 0; round < 2000; ++round) {
    const int exponent = static_cast<int>(random() % 220) - 110;
    float largest = 0;
    for (float& value : x) {
      value =
          std::ldexp(static_cast<float>(random() % 2001) - 1000, exponent - static_cast<int>(random() % 9));
      largest = std::max(largest, std::abs(value));
    }
    EncodeQ8(x.data(), block.data());
    const double step = std::max<double>(largest, 0x1p-100) / 127;
    for (int i = 0; i < 32; ++i)
      ASSERT_LE(
          std::abs(double{DecodeElement(Dtype::kQ8, block.data(), i)} - double{x[static_cast<size_t>(i)]}),
          step / 2 * 1.0001);
  }
  for (float& value : x) value = static_cast<float>(random() % 255) - 127;
  x[5] = -127;
  EncodeQ8(x.data(), block.data());
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(DecodeElement(Dtype::kQ8, block.data(), i), x[static_cast<size_t>(i)]);
  for (float odd : {INFINITY, -INFINITY, NAN}) {
    x[9] = odd;
    EncodeQ8(x.data(), block.data());
    for (int i = 0; i < 32; ++i) EXPECT_TRUE(std::isnan(DecodeElement(Dtype::kQ8, block.data(), i)));
  }
}

// What follows from the codes beside them is so for any codes.
TEST(BlockTest, SumsOfCodes) {
  std::mt19937 random(8);
  std::vector<uint8_t> block(static_cast<size_t>(Bytes(Dtype::kQ8)));
  std::vector<float> x(32);
  for (int round = 0; round < 100; ++round) {
    for (float& value : x) value = static_cast<float>(random() % 255) - 127;
    x[round % 32] = 127;
    EncodeQ8(x.data(), block.data());
    int32_t sum = 0, half = 0, start, half_starts[2], nibble_start;
    for (int i = 0; i < 32; ++i) (i < 16 ? half : sum) += static_cast<int>(x[static_cast<size_t>(i)]);
    sum += half;
    memcpy(&start, &block[8], sizeof start);
    memcpy(&nibble_start, &block[12], sizeof nibble_start);
    memcpy(half_starts, &block[16], sizeof half_starts);
    EXPECT_EQ(nibble_start, -8 * sum);
    EXPECT_EQ(Single(&block[4]), sum);
    EXPECT_EQ(start, -128 * sum);
    EXPECT_EQ(half_starts[0], -32 * half);
    EXPECT_EQ(half_starts[1], -32 * (sum - half));
  }
}

// A long block is eight others, with their numbers; starts are of both halves, and 0 in between.
TEST(BlockTest, LongBlocks) {
  std::mt19937 random(10);
  std::vector<uint8_t> block(static_cast<size_t>(Bytes(Dtype::kQ8Super)));
  std::vector<uint8_t> part(static_cast<size_t>(Bytes(Dtype::kQ8)));
  std::vector<float> x(256);
  for (int round = 0; round < 100; ++round) {
    for (float& value : x)
      value = std::ldexp(static_cast<float>(random() % 2001) - 1000, static_cast<int>(random() % 9));
    EncodeRounded(Dtype::kQ8Super, x.data(), block.data());
    for (int p = 0; p < 8; ++p) {
      EncodeRounded(Dtype::kQ8, &x[static_cast<size_t>(32 * p)], part.data());
      for (int i = 0; i < 32; ++i)
        ASSERT_EQ(DecodeElement(Dtype::kQ8Super, block.data(), 32 * p + i),
                  DecodeElement(Dtype::kQ8, part.data(), i));
      EXPECT_EQ(Single(&block[static_cast<size_t>(32 + 4 * p)]), Single(&part[4]));
      int32_t half_starts[2], starts[8];
      memcpy(half_starts, &part[16], sizeof half_starts);
      memcpy(starts, &block[static_cast<size_t>(64 + 32 * p)], sizeof starts);
      for (int i = 0; i < 8; ++i) EXPECT_EQ(starts[i], i % 4 == 0 ? half_starts[i / 4] : 0) << i;
    }
  }
}

std::vector<Dtype> PanelsOf(Dtype dtype) {
  std::vector<Dtype> all = {InPanels(dtype)};
  for (const DtypeInfo& info : kDtypes)
    if (KeepsBlocks(info.dtype, dtype)) all.push_back(info.dtype);
  return all;
}

// Every type of panels is what copies of some blocks have; those of 256 keep their factors.
TEST(BlockTest, PanelsOfEachType) {
  EXPECT_THAT(PanelsOf(Dtype::kQ8_0), ElementsAre(Dtype::kPanel8));
  EXPECT_THAT(PanelsOf(Dtype::kQ4_0), ElementsAre(Dtype::kPanel8, Dtype::kPanel4));
  EXPECT_THAT(PanelsOf(Dtype::kQ4_1), ElementsAre(Dtype::kPanel8Offset, Dtype::kPanel4Offset));
  EXPECT_THAT(PanelsOf(Dtype::kQ4K), ElementsAre(Dtype::kPanel8Offset, Dtype::kPanel4Super));
  EXPECT_THAT(PanelsOf(Dtype::kQ6K), ElementsAre(Dtype::kPanel8Halves, Dtype::kPanel6Super));
  EXPECT_THAT(PanelsOf(Dtype::kMxfp4), ElementsAre(Dtype::kPanel8));
}

// Numbers of 16 bits are side by side; before and behind them are whole words.
TEST(BlockTest, PanelsAreWordsAndF16s) {
  for (const DtypeInfo& info : kDtypes) {
    if (!info.in_panels) continue;
    const BlockFormat& format = FormatOf(info.dtype);
    const int f16s = BytesOfF16s(info.dtype);
    EXPECT_EQ(f16s > 0, format.scale == BlockScale::kF16) << info.name;
    if (f16s > 0) {
      EXPECT_EQ(format.scale_byte % 4, 0) << info.name;
      EXPECT_EQ(format.offset_byte, f16s == 4 ? format.scale_byte + 2 : -1) << info.name;
    }
    EXPECT_EQ((info.bytes - f16s) % 4, 0) << info.name;
    for (int byte = 0; byte < info.bytes; ++byte) {
      const PanelTurn turn = TurnOf(info.dtype, byte);
      EXPECT_TRUE(turn.begin <= byte && byte < turn.begin + turn.bytes) << info.name << " " << byte;
      EXPECT_EQ(IsOfF16s(info.dtype, byte), turn.bytes == 2);
    }
  }
}

// As products read a block, what is read for the first time is never far before what was read already, and
// each byte is of one thing only.
TEST(BlockTest, PanelsLieAsTheyAreRead) {
  constexpr int kNear = 5;  // bytes of words by turns, or a number behind its factors
  for (const DtypeInfo& info : kDtypes) {
    if (!info.in_panels) continue;
    const BlockFormat& format = FormatOf(info.dtype);
    std::vector<int> reads;
    const int part = format.part == 0 ? info.block : format.part;
    const auto number = [&](int byte, BlockBits (*factor)(int part), int i) {
      for (int at = 0; at < (factor != nullptr ? 4 : 0); ++at)
        reads.push_back(TurnOf(info.dtype, factor(i).byte).begin + at);
      for (int at = 0; at < (format.scale == BlockScale::kF16 ? 2 : 4); ++at) reads.push_back(byte + at);
    };
    for (int i = 0; i < info.block; ++i) {
      reads.push_back(format.code(i).byte);
      if (format.code(i).high_byte >= 0) reads.push_back(format.code(i).high_byte);
      if ((i + 1) % part != 0) continue;
      const int of_part = format.scale_factor == nullptr ? i / part * format.scale_step : 0;
      number(format.scale_byte + of_part, format.scale_factor, i / part);
      if (format.offset_byte >= 0) number(format.offset_byte, format.offset_factor, i / part);
    }
    std::vector<bool> read(static_cast<size_t>(info.bytes));
    int furthest = 0;
    for (const int byte : reads) {
      ASSERT_LT(byte, info.bytes) << info.name;
      if (!read[static_cast<size_t>(byte)]) {
        EXPECT_GE(byte, furthest - kNear) << info.name;
      }
      read[static_cast<size_t>(byte)] = true;
      furthest = std::max(furthest, byte);
    }
    EXPECT_THAT(read, testing::Each(true)) << info.name;
  }
}

// Blocks in panels have the elements of those they are made of.
TEST(BlockTest, RecodedForPanels) {
  std::mt19937 random(9);
  for (const auto& [name, dtype] : TypesByName()) {
    if (!HasIntegerCodes(dtype)) continue;
    std::vector<uint8_t> block(static_cast<size_t>(Bytes(dtype)));
    for (const Dtype panels : PanelsOf(dtype))
      for (int round = 0; round < 2000; ++round) {
        for (uint8_t& byte : block) byte = static_cast<uint8_t>(random());
        std::vector<uint8_t> recoded(static_cast<size_t>(Bytes(panels)), 0xff);
        const int count = BlockOf(panels);
        const int first = count * static_cast<int>(random() % static_cast<unsigned>(BlockOf(dtype) / count));
        RecodeForPanels(dtype, block.data(), first, panels, recoded.data());
        for (int i = 0; i < count; ++i)
          ASSERT_TRUE(SameNumber(DecodeElement(panels, recoded.data(), i),
                                 DecodeElement(dtype, block.data(), first + i)))
              << name << ", element " << first + i;
      }
  }
}

TEST(BlockTest, ArraysOfBlocks) {
  for (const auto& [name, dtype] : TypesByName()) {
    const int64_t block = BlockOf(dtype);
    EXPECT_EQ(Bytes(dtype, 3 * block), 3 * Bytes(dtype));
    std::vector<uint8_t> bytes(static_cast<size_t>(3 * Bytes(dtype)));
    std::mt19937 random(6);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() % 100);
    std::vector<double> run(static_cast<size_t>(3 * block));
    LoadRun(dtype, bytes.data(), 0, 1, 3 * block, run.data());
    for (int64_t i = 0; i < 3 * block; ++i) {
      const double wanted = DecodeElement(dtype, &bytes[static_cast<size_t>(i / block * Bytes(dtype))],
                                          static_cast<int>(i % block));
      EXPECT_EQ(run[static_cast<size_t>(i)], wanted) << name;
      EXPECT_EQ(LoadElement(dtype, bytes.data(), i), wanted) << name;
    }
  }
}

}  // namespace
}  // namespace kirsch
