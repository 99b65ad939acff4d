// SPDX-License-Identifier: Apache-2.0
// Which page a point is on.
#ifndef KIRSCH_MEMO_PAGE_KEY_H_
#define KIRSCH_MEMO_PAGE_KEY_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "memo/coordinates.h"

namespace kirsch {

// Its plane, and its point without the last coordinate (the lines available), each divided by kPageSide.
// Ordered by plane, then block.
struct PageKey {
  CoordinateList plane;
  CoordinateList block;

  static constexpr uint32_t kPageSide = 1024;
  static PageKey Of(const Coordinates& coordinates);

  // The bytes of FORMAT.md, and back. DataLoss if they are not such bytes.
  std::string Encode() const;
  static absl::StatusOr<PageKey> Decode(std::string_view bytes);

  friend std::strong_ordering operator<=>(const PageKey&, const PageKey&) = default;
  friend bool operator==(const PageKey&, const PageKey&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_PAGE_KEY_H_
