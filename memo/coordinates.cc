#include "memo/coordinates.h"

#include <algorithm>
#include <array>
#include <limits>

#include "spec/check.h"
#include "spec/usual_sizes.h"

namespace kirsch {
namespace {

constexpr auto kUsual = static_cast<uint32_t>(kUsualSizes.size());

constexpr uint32_t kMaxThreads = std::numeric_limits<uint8_t>::max();
constexpr uint32_t kMaxPanel = std::numeric_limits<uint8_t>::max();
constexpr uint32_t kLayoutKinds = 4;

// Reads a coordinate list from the front; `ok` turns false at the first one that is missing or out of range.
class Reader {
 public:
  explicit Reader(const CoordinateList& list) : list_(list) {}

  uint32_t Next(uint32_t low, uint32_t high) {
    if (next_ >= list_.size() || list_[next_] < low || list_[next_] > high) {
      ok_ = false;
      return low;
    }
    return list_[next_++];
  }
  uint32_t Below(size_t end) { return Next(0, static_cast<uint32_t>(end - 1)); }
  bool Complete() const { return ok_ && next_ == list_.size(); }
  bool ok() const { return ok_; }

 private:
  const CoordinateList& list_;
  size_t next_ = 0;
  bool ok_ = true;
};

uint32_t Contiguity(const Spec& spec, int operand) {
  const Layout& layout = spec.operand[static_cast<size_t>(operand)].layout;
  if (layout.kind != LayoutKind::kStrided || layout.ld == ExtentOf(spec, operand).inner) return 0;
  return 1 + SizeIndex(layout.ld);
}

// The leading dimension of a given contiguity; nothing if the layout can't have it.
std::optional<uint32_t> LeadingDimension(const Spec& spec, int operand, uint32_t contiguity) {
  if (spec.operand[static_cast<size_t>(operand)].layout.kind != LayoutKind::kStrided)
    return contiguity == 0 ? std::optional<uint32_t>(0) : std::nullopt;
  const int64_t inner = ExtentOf(spec, operand).inner;
  if (contiguity == 0)
    return inner <= std::numeric_limits<uint32_t>::max() ? std::optional(static_cast<uint32_t>(inner))
                                                         : std::nullopt;
  const uint32_t ld = SizeAt(contiguity - 1);
  return ld > inner ? std::optional(ld) : std::nullopt;
}

void ReadTensor(Reader* reader, TensorSpec* tensor) {
  tensor->dtype = static_cast<Dtype>(reader->Below(kDtypes.size()));
  tensor->level = static_cast<Level>(reader->Below(kNumLevels));
  tensor->moved = static_cast<uint8_t>(reader->Below(2));
  tensor->constant = static_cast<uint8_t>(reader->Below(2));
  tensor->layout.kind = static_cast<LayoutKind>(reader->Below(kLayoutKinds));
  tensor->layout.order = static_cast<Order>(reader->Below(2));
  tensor->layout.panel = static_cast<uint8_t>(reader->Next(0, kMaxPanel));
  tensor->layout.group = static_cast<uint8_t>(reader->Next(1, kMaxPanel));
}

bool ReadPlane(const CoordinateList& plane, Spec* spec) {
  Reader reader(plane);
  spec->op = static_cast<OpKind>(reader.Below(kOps.size()));
  spec->accumulate = reader.Below(2) != 0;
  spec->threads = static_cast<uint8_t>(reader.Next(1, kMaxThreads));
  spec->sharers = static_cast<uint8_t>(reader.Next(1, kMaxThreads));
  if (!reader.ok()) return false;
  for (int operand = 0; operand < spec->op_info().num_operands; ++operand)
    ReadTensor(&reader, &spec->operand[static_cast<size_t>(operand)]);
  return reader.Complete();
}

bool ReadPoint(const CoordinateList& point, Spec* spec, Lines* available) {
  Reader reader(point);
  constexpr uint32_t kMaxIndex = std::numeric_limits<uint32_t>::max() - 1;
  for (int dim = 0; dim < spec->op_info().num_dims; ++dim) {
    spec->size[static_cast<size_t>(dim)] = SizeAt(reader.Next(0, kMaxIndex));
    if (spec->size[static_cast<size_t>(dim)] > kMaxSide) return false;
  }
  for (int operand = 0; operand < spec->op_info().num_operands; ++operand) {
    const auto ld = LeadingDimension(*spec, operand, reader.Next(0, kMaxIndex + 1));
    if (!ld) return false;
    spec->operand[static_cast<size_t>(operand)].layout.ld = *ld;
  }
  *available = static_cast<Lines>(reader.Next(0, kUnlimited));
  return reader.Complete();
}

}  // namespace

uint32_t SizeIndex(uint32_t size) {
  KIRSCH_CHECK(size > 0);
  const auto found = std::lower_bound(kUsualSizes.begin(), kUsualSizes.end(), size);
  const auto usual_below = static_cast<uint32_t>(found - kUsualSizes.begin());
  return found != kUsualSizes.end() && *found == size ? usual_below : kUsual + (size - 1 - usual_below);
}

uint32_t SizeAt(uint32_t index) {
  if (index < kUsual) return kUsualSizes[index];
  uint32_t size = index - kUsual + 1;  // as if no usual size were below it; each that is pushes it up by one
  for (uint32_t usual : kUsualSizes) size += usual <= size ? 1 : 0;
  return size;
}

Coordinates CoordinatesOf(const Spec& spec, Lines available) {
  KIRSCH_CHECK(!spec.ideal);
  Coordinates coordinates;
  CoordinateList& plane = coordinates.plane;
  CoordinateList& point = coordinates.point;
  plane = {static_cast<uint32_t>(spec.op), spec.accumulate ? 1u : 0u, spec.threads, spec.sharers};
  const OpInfo& info = spec.op_info();
  for (int dim = 0; dim < info.num_dims; ++dim)
    point.push_back(SizeIndex(spec.size[static_cast<size_t>(dim)]));
  for (int operand = 0; operand < info.num_operands; ++operand) {
    const TensorSpec& tensor = spec.operand[static_cast<size_t>(operand)];
    for (const uint32_t coordinate :
         {static_cast<uint32_t>(tensor.dtype), static_cast<uint32_t>(tensor.level), uint32_t{tensor.moved},
          uint32_t{tensor.constant}, static_cast<uint32_t>(tensor.layout.kind),
          static_cast<uint32_t>(tensor.layout.order), uint32_t{tensor.layout.panel},
          uint32_t{tensor.layout.group}})
      plane.push_back(coordinate);
    point.push_back(Contiguity(spec, operand));
  }
  point.push_back(static_cast<uint32_t>(available));
  return coordinates;
}

std::optional<Question> QuestionAt(const Coordinates& coordinates) {
  Question question;
  if (!ReadPlane(coordinates.plane, &question.spec)) return std::nullopt;
  if (!ReadPoint(coordinates.point, &question.spec, &question.available)) return std::nullopt;
  return question;
}

}  // namespace kirsch
