// Element types. One row of the table per type; everything else asks the table.
#ifndef KIRSCH_SPEC_DTYPE_H_
#define KIRSCH_SPEC_DTYPE_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace kirsch {

enum class Dtype : uint8_t { kF32 };

struct DtypeInfo {
  Dtype dtype;
  std::string_view name;
  int bytes;
};

inline constexpr std::array<DtypeInfo, 1> kDtypes = {{{Dtype::kF32, "f32", 4}}};

constexpr const DtypeInfo& Info(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }
constexpr int Bytes(Dtype dtype) { return Info(dtype).bytes; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_DTYPE_H_
