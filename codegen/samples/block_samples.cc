// SPDX-License-Identifier: Apache-2.0
#include "codegen/samples/block_samples.h"

#include <cstring>

#include "absl/strings/str_replace.h"
#include "codegen/c/c_signature.h"
#include "codegen/samples/block_data.h"
#include "spec/block.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Elements of all samples of a type together: 24 blocks of 32, or 3 of 256.
constexpr int kElements = 768;

int BlockCount(Dtype dtype) { return kElements / BlockOf(dtype); }

// Chooses the sample that a block of an array is: as C text, and the same here.
constexpr char kChosenBlock[] = "((uint32_t)($BLOCK) * 2654435761u >> 16) % $COUNT";
size_t ChoiceOf(int64_t block, Dtype dtype) {
  return (static_cast<uint32_t>(block) * 2654435761u >> 16) % static_cast<uint32_t>(BlockCount(dtype));
}

// Returns the samples of a type, one after the other. All elements are integers.
std::vector<uint8_t> Samples(Dtype dtype) {
  std::vector<uint8_t> blocks(static_cast<size_t>(BlockCount(dtype) * Bytes(dtype)));
  FillBlocks(
      dtype, InputKind::kIntegers, BlockCount(dtype),
      [](int64_t block) { return Mix(static_cast<uint64_t>(block) + 1); }, blocks.data());
  return blocks;
}

constexpr char kFillBlocks[] = R"(
// Blocks of $TYPE, which all are some of these.
static const unsigned char $FILE_blocks_$TYPE[$COUNT][$BYTES] = {
$BLOCKS};
static void $FILE_fill_$TYPE($CTYPE* data, size_t first, size_t elements) {
  size_t block;
  for (block = first / $ELEMENTS; block < (first + elements) / $ELEMENTS; ++block)
    memcpy(data + block * $BYTES, $FILE_blocks_$TYPE[$CHOICE], $BYTES);
}
)";
constexpr char kBlockElements[] = R"(// Their elements.
static const signed char $FILE_elements_$TYPE[$COUNT][$ELEMENTS] = {
$NUMBERS};
static double $FILE_get_$TYPE(size_t element) {
  const size_t block = element / $ELEMENTS;
  return $FILE_elements_$TYPE[$CHOICE][element % $ELEMENTS];
}
)";

// Prints the rows of a C array, a line for each block: number(i, j) is entry j of row i.
template <typename Number>
std::string TableText(int count, int length, const Number& number) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::vector<int> row;
    for (int j = 0; j < length; ++j) row.push_back(number(i, j));
    Append(&text, "    {", Join(row, ", "), "},\n");
  }
  return text;
}

}  // namespace

std::vector<std::byte> SampledBlocks(Dtype dtype, int64_t elements) {
  const std::vector<uint8_t> samples = Samples(dtype);
  const auto bytes = static_cast<size_t>(Bytes(dtype));
  std::vector<std::byte> data(static_cast<size_t>(Bytes(dtype, elements)));
  for (size_t block = 0; block < data.size() / bytes; ++block)
    memcpy(&data[block * bytes], &samples[ChoiceOf(static_cast<int64_t>(block), dtype) * bytes], bytes);
  return data;
}

std::string BlockSamplesText(Dtype dtype, bool gets) {
  const std::vector<uint8_t> samples = Samples(dtype);
  const int block = BlockOf(dtype), bytes = Bytes(dtype);
  const std::string blocks = TableText(
      BlockCount(dtype), bytes, [&](int i, int j) { return samples[static_cast<size_t>(i * bytes + j)]; });
  const std::string numbers = TableText(BlockCount(dtype), block, [&](int i, int j) {
    return static_cast<int>(BlockElement(dtype, samples.data(), i * block + j));
  });
  // Texts with names in them come first: $CHOICE has $BLOCK and $COUNT.
  const std::string text =
      absl::StrReplaceAll(Cat(kFillBlocks, gets ? kBlockElements : ""),
                          {{"$CHOICE", kChosenBlock}, {"$BLOCKS", blocks}, {"$NUMBERS", numbers}});
  return absl::StrReplaceAll(text, {{"$BLOCK)", "block)"},
                                    {"$COUNT", Cat(BlockCount(dtype))},
                                    {"$BYTES", Cat(bytes)},
                                    {"$ELEMENTS", Cat(block)},
                                    {"$CTYPE", CType(dtype)},
                                    {"$TYPE", std::string(Info(dtype).name)}});
}

std::string BytesText(Dtype dtype, const std::string& elements) {
  return Cat(elements, " / ", BlockOf(dtype), " * ", Bytes(dtype));
}

}  // namespace kirsch
