// SPDX-License-Identifier: Apache-2.0
// Writes numbers as bytes and reads them: seven bits a byte, the lowest first, the top bit set in all but the
// last byte (LEB128). Small numbers, which most coordinates are, take one byte. Example: 300 is 0xac 0x02.
#ifndef KIRSCH_MEMO_VARINT_H_
#define KIRSCH_MEMO_VARINT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kirsch {

inline void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value >= 0x80; value >>= 7) bytes->push_back(static_cast<char>(value | 0x80));
  bytes->push_back(static_cast<char>(value));
}

// Writes signed numbers so that small ones stay short: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
inline void AppendSigned(int64_t value, std::string* bytes) {
  AppendVarint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63), bytes);
}

// Reads what was appended. After an error ok() is false, and all further numbers are 0; callers may look at
// ok() once, at the end. Errors are the end of the bytes, a number of too many bytes, and a number out of
// range.
class VarintReader {
 public:
  explicit VarintReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t Next() {
    uint64_t value = 0;
    for (int shift = 0; ok_ && shift < 64; shift += 7) {
      if (next_ == bytes_.size()) break;
      const auto byte = static_cast<uint8_t>(bytes_[next_++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }

  // Reads a number that must not exceed `highest`.
  uint64_t AtMost(uint64_t highest) {
    const uint64_t value = Next();
    if (value <= highest) return value;
    ok_ = false;
    return 0;
  }

  int64_t NextSigned() {
    const uint64_t value = Next();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }

  // Reads a number, and then as many bytes.
  std::string_view NextBytes() {
    const uint64_t size = AtMost(remaining());
    const std::string_view bytes = bytes_.substr(next_, ok_ ? size : 0);
    next_ += bytes.size();
    return bytes;
  }

  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size() - next_; }

 private:
  std::string_view bytes_;
  size_t next_ = 0;
  bool ok_ = true;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_VARINT_H_
