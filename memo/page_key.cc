// SPDX-License-Identifier: Apache-2.0
#include "memo/page_key.h"

#include <limits>

#include "memo/varint.h"

namespace kirsch {
namespace {

// A list is its length, then its numbers.
void AppendList(const CoordinateList& list, std::string* bytes) {
  AppendVarint(list.size(), bytes);
  for (uint32_t coordinate : list) AppendVarint(coordinate, bytes);
}

CoordinateList ReadList(VarintReader* reader) {
  // More than any spec has; a damaged key could claim a huge list.
  constexpr uint64_t kLongest = 256;
  CoordinateList list(reader->AtMost(kLongest));
  for (uint32_t& coordinate : list)
    coordinate = static_cast<uint32_t>(reader->AtMost(std::numeric_limits<uint32_t>::max()));
  return list;
}

}  // namespace

PageKey PageKey::Of(const Coordinates& coordinates) {
  PageKey key{coordinates.plane, coordinates.point};
  // The lines are left out, so that all answers for a spec are on one page.
  key.block.pop_back();
  for (uint32_t& coordinate : key.block) coordinate /= kPageSide;
  return key;
}

std::string PageKey::Encode() const {
  std::string bytes;
  AppendList(plane, &bytes);
  AppendList(block, &bytes);
  return bytes;
}

absl::StatusOr<PageKey> PageKey::Decode(std::string_view bytes) {
  VarintReader reader(bytes);
  PageKey key;
  key.plane = ReadList(&reader);
  key.block = ReadList(&reader);
  if (!reader.ok() || reader.remaining() > 0) return absl::DataLossError("not the key of a page");
  return key;
}

}  // namespace kirsch
