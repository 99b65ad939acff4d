// SPDX-License-Identifier: Apache-2.0
// Says which page a point is on. All solutions of a spec, for any number of lines, are on one page, so a
// lookup reads one page only.
#ifndef KIRSCH_MEMO_PAGE_KEY_H_
#define KIRSCH_MEMO_PAGE_KEY_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "memo/coordinates.h"

namespace kirsch {

// The plane of a point, and the point's coordinates without the last one (the lines available), each divided
// by kPageSide. Ordered by plane, then block.
struct PageKey {
  CoordinateList plane;
  CoordinateList block;

  // All usual sizes have an index below this (SizeIndex), so their points are on one page.
  static constexpr uint32_t kPageSide = 1024;
  static PageKey Of(const Coordinates& coordinates);

  // The bytes of a key as FORMAT.md has them, and back. DataLoss if the bytes are no key.
  std::string Encode() const;
  static absl::StatusOr<PageKey> Decode(std::string_view bytes);

  friend std::strong_ordering operator<=>(const PageKey&, const PageKey&) = default;
  friend bool operator==(const PageKey&, const PageKey&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_PAGE_KEY_H_
