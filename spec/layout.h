// SPDX-License-Identifier: Apache-2.0
// Says how an operand's elements lie in memory or in registers.
#ifndef KIRSCH_SPEC_LAYOUT_H_
#define KIRSCH_SPEC_LAYOUT_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kirsch {

enum class LayoutKind : uint8_t {
  kStrided,  // the caller's matrix: consecutive outer indices are `ld` elements apart
  kPacked,   // our own copy, contiguous: panels [inner / panel][outer][panel], or one panel when panel == 0
  kVectors,  // registers: each row of the tile is ceil(inner / panel) vectors of `panel` lanes
  kPartialSums,  // registers: one vector of `panel` lanes per element, its lanes still to be summed
  kWindow,       // as the op's window says (spec/window.h); order is kRow
  kLanewise,     // registers: as kVectors; both inputs have the dim that the vectors run along
  kChains,       // registers: as kVectors; each sum is one chain, where others are split to hide latency
  kTiles,        // registers of a matrix unit: as kVectors, up to kTileRows rows of a vector in each
};

// What is known of a layout by its kind. A register file of its own begins as a row here.
struct LayoutInfo {
  std::string_view word;        // in texts, before its panel; empty: none
  bool decided = false;         // decisions may say the word
  bool whole_vectors = false;   // registers: each row is in whole vectors along the output's inner dim
  bool steps_in_lanes = false;  // registers: the lanes of a vector of inputs are steps of the reduction
};

inline constexpr uint32_t kNumLayoutKinds = static_cast<uint32_t>(LayoutKind::kTiles) + 1;
// Indexed by LayoutKind.
inline constexpr std::array<LayoutInfo, kNumLayoutKinds> kLayouts = {{
    {.word = ""},
    {.word = "packed", .decided = true},
    {.word = "vectors", .decided = true, .whole_vectors = true},
    {.word = "sums", .decided = true, .steps_in_lanes = true},
    {.word = "window"},
    {.word = "lanes", .decided = true},
    {.word = "chains", .decided = true, .whole_vectors = true},
    {.word = "tiles", .decided = true, .whole_vectors = true, .steps_in_lanes = true},
}};

constexpr const LayoutInfo& Info(LayoutKind kind) { return kLayouts[static_cast<size_t>(kind)]; }
constexpr bool IsOfVectors(LayoutKind registers) { return Info(registers).whole_vectors; }

// The one of an operand's last two axes that is contiguous.
enum class Order : uint8_t { kRow, kCol };  // kRow: the last axis; kCol: the one before it

// The order of the same elements as their transpose sees them.
constexpr Order Turned(Order order) { return order == Order::kRow ? Order::kCol : Order::kRow; }

// The axes of images beside channels. An image of one axis has the width, one of two axes also the height.
struct ImageAxes {
  static constexpr size_t kDepth = 0, kHeight = 1, kWidth = 2, kCount = 3;
};

enum class ImageLayout : uint8_t { kNchw, kNhwc, kNchw8c, kNchw16c };
inline constexpr size_t kNumImageLayouts = static_cast<size_t>(ImageLayout::kNchw16c) + 1;
// The layouts' names, for images of one axis, of two, of three.
inline constexpr std::array<std::array<std::string_view, kNumImageLayouts>, ImageAxes::kCount> kImageLayouts =
    {{{"ncw", "nwc", "ncw8c", "ncw16c"},
      {"nchw", "nhwc", "nchw8c", "nchw16c"},
      {"ncdhw", "ndhwc", "ncdhw8c", "ncdhw16c"}}};

// How many channels of a pixel lie side by side, where channels are in blocks, each block a plane of its own:
// [images][channels / block][h][w][block]. 0: they are not in blocks.
constexpr uint32_t ChannelBlock(ImageLayout layout) {
  return layout == ImageLayout::kNchw8c ? 8 : layout == ImageLayout::kNchw16c ? 16 : 0;
}

// How an operand lies. It is a plain value without padding, so that specs can be compared and hashed as
// bytes.
struct Layout {
  LayoutKind kind = LayoutKind::kStrided;
  Order order = Order::kRow;
  uint8_t panel = 0;  // elements: panel width (kPacked) or lanes (registers)
  // Consecutive steps of the reduction that one lane multiplies and adds at once. kPacked with panels: they
  // lie side by side, [inner / panel][outer / group][panel][group], the last group filled up with zeros.
  uint8_t group = 1;
  uint32_t ld = 0;  // elements between consecutive outer indices; only kStrided, else 0

  friend auto operator<=>(const Layout&, const Layout&) = default;
};
static_assert(sizeof(Layout) == 8);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LAYOUT_H_
