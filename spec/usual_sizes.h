// SPDX-License-Identifier: Apache-2.0
// Lists the sizes that tiles usually have. Decisions are likely to change there.
#ifndef KIRSCH_SPEC_USUAL_SIZES_H_
#define KIRSCH_SPEC_USUAL_SIZES_H_

#include <array>
#include <cstdint>

namespace kirsch {

// Ascending. The file format numbers sizes by this list (memo/FORMAT.md): another list is another format.
inline constexpr std::array<uint32_t, 36> kUsualSizes = {
    1,   2,    3,    4,    5,    6,     7,     8,     9,      10,     11,     12,
    13,  14,   16,   24,   32,   40,    48,    64,    80,     96,     128,    256,
    512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_USUAL_SIZES_H_
