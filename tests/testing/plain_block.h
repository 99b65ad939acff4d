// SPDX-License-Identifier: Apache-2.0
// Weights of blocks, made from what ggml and gemma.cpp say of their types alone: it shares nothing with
// spec/. The scales of a block follow from its number, so that what an element is says which code it has.
#ifndef KIRSCH_TESTS_TESTING_PLAIN_BLOCK_H_
#define KIRSCH_TESTS_TESTING_PLAIN_BLOCK_H_

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace kirsch::testing {

struct PlainBlockType {
  std::string_view name;
  int elements, bytes, codes;
  bool integers;  // elements are multiples of scales, so that lhs_as=q8_0 suits them
  // What a code makes of an element of a block; the block's bytes but for the codes, which are 0; puts a code
  // there.
  double (*number)(int64_t block, int element, int code);
  void (*put_scales)(int64_t block, uint8_t* bytes);
  void (*put_code)(int element, int code, uint8_t* bytes);
};
const std::vector<PlainBlockType>& PlainBlockTypes();
const PlainBlockType* FindPlainBlockType(std::string_view name);  // null: there is none

// Elements by any codes, and the blocks that have them. So many are whole blocks.
std::vector<double> RandomBlocks(const PlainBlockType& type, int64_t elements, std::mt19937& random);
void StoreBlocks(const PlainBlockType& type, const std::vector<double>& elements, void* data);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAIN_BLOCK_H_
