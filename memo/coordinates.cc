// SPDX-License-Identifier: Apache-2.0
#include "memo/coordinates.h"

#include <algorithm>
#include <limits>

#include "spec/check.h"
#include "spec/microkernel.h"
#include "spec/usual_sizes.h"

namespace kirsch {
namespace {

// How many sizes come before all others.
constexpr auto kUsual = static_cast<uint32_t>(kUsualSizes.size());

// The most that a byte of a spec holds.
constexpr uint32_t kMaxThreads = std::numeric_limits<uint8_t>::max();
constexpr uint32_t kMaxPanel = std::numeric_limits<uint8_t>::max();

// A plane begins with the sum of the codes that apply. kLongNumberCode stands for a step's number of more
// than 32 bits; it follows the codes of EpilogueOperand.
constexpr uint32_t kLongNumberCode = kEpilogueOperands.size();
constexpr uint32_t kEpilogueCode = 1, kWindowCode = 2, kBaseCode = 4;  // times the basic operation's number

// Reads a coordinate list from the front. `ok` turns false at the first number that is missing or out of
// range; from then on numbers are the least of their range.
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
  // A number from 0 to before `end`.
  uint32_t Below(size_t end) { return Next(0, static_cast<uint32_t>(end - 1)); }
  // True if there were no errors and nothing is left.
  bool Complete() const { return ok_ && next_ == list_.size(); }
  bool ok() const { return ok_; }

 private:
  const CoordinateList& list_;
  size_t next_ = 0;
  bool ok_ = true;
};

// 0 if rows follow each other, whatever their length. So contiguous operands of all sizes have the same
// contiguity.
uint32_t Contiguity(const Spec& spec, int operand) {
  const Layout& layout = spec.tensor(operand).layout;
  if (layout.kind != LayoutKind::kStrided || layout.ld == ExtentOf(spec, operand).inner) return 0;
  return 1 + SizeIndex(layout.ld);
}

// The inverse of Contiguity, once the sizes are known. Returns nothing if the layout cannot have it.
std::optional<uint32_t> LeadingDimension(const Spec& spec, int operand, uint32_t contiguity) {
  if (spec.tensor(operand).layout.kind != LayoutKind::kStrided)
    return contiguity == 0 ? std::optional<uint32_t>(0) : std::nullopt;
  const int64_t inner = ExtentOf(spec, operand).inner;
  if (contiguity == 0)
    return inner <= std::numeric_limits<uint32_t>::max() ? std::optional(static_cast<uint32_t>(inner))
                                                         : std::nullopt;
  // Contiguous rows have the number 0, so no other number may mean them.
  const uint32_t ld = SizeAt(contiguity - 1);
  // Only rows of an input may overlap.
  const bool apart = operand < spec.op_info().output() ? ld != inner : ld > inner;
  return apart ? std::optional(ld) : std::nullopt;
}

// Reads in the order of CoordinatesOf.
void ReadTensor(Reader* reader, TensorSpec* tensor) {
  tensor->dtype = static_cast<Dtype>(reader->Below(kDtypes.size()));
  tensor->level = static_cast<Level>(reader->Below(kNumLevels));
  tensor->resident = static_cast<uint8_t>(reader->Below(kPrefetched + 1));
  tensor->constant = static_cast<uint8_t>(reader->Below(2));
  tensor->layout.kind = static_cast<LayoutKind>(reader->Below(kNumLayoutKinds));
  tensor->layout.order = static_cast<Order>(reader->Below(2));
  tensor->layout.panel = static_cast<uint8_t>(reader->Next(0, kMaxPanel));
  tensor->layout.group = static_cast<uint8_t>(reader->Next(1, kMaxPanel));
}

// The digits of a window's axis. The last digit has no count, as it goes on as long as the size says.
void AppendAxis(const DigitAxis& axis, CoordinateList* plane) {
  plane->push_back(static_cast<uint32_t>(axis.digits));
  for (int i = 0; i < axis.digits; ++i) {
    const Digit& digit = axis.digit[static_cast<size_t>(i)];
    if (i + 1 < axis.digits) plane->push_back(digit.count);
    plane->push_back(digit.stride);
  }
}

// Appends the op's code, then its window and its epilogue, if it has them. ReadOp is the inverse.
void AppendOp(const OpInfo& info, CoordinateList* plane) {
  const Epilogue& epilogue = info.epilogue;
  const Window& window = info.window;
  plane->push_back((epilogue.empty() ? 0 : kEpilogueCode) + (window.empty() ? 0 : kWindowCode) +
                   kBaseCode * static_cast<uint32_t>(info.base));
  if (!window.empty()) {
    plane->push_back(static_cast<uint32_t>(window.operand));
    for (const DigitAxis& axis : window.axes) AppendAxis(axis, plane);
    if (info.lanewise()) AppendAxis(window.filters, plane);
  }
  if (epilogue.empty()) return;
  plane->push_back(static_cast<uint32_t>(epilogue.count));
  for (const EpilogueStep& step : epilogue) {
    // A number of 64 bits takes two coordinates only if its upper half is not 0, so each step has one form.
    const auto low = static_cast<uint32_t>(step.number), high = static_cast<uint32_t>(step.number >> 32);
    plane->push_back(static_cast<uint32_t>(step.op));
    plane->push_back(high != 0 ? kLongNumberCode : static_cast<uint32_t>(step.operand));
    plane->push_back(low);
    if (high != 0) plane->push_back(high);
  }
}

// `fewest`: the least number of digits that is legal here. `least`: the least distance of the first one.
DigitAxis ReadAxis(Reader* reader, uint32_t fewest, uint32_t least) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  DigitAxis axis;
  axis.digits = static_cast<int>(reader->Next(fewest, kMaxDigits));
  for (int i = 0; i < axis.digits; ++i) {
    Digit& digit = axis.digit[static_cast<size_t>(i)];
    if (i + 1 < axis.digits) digit.count = reader->Next(2, kMaxSide);
    digit.stride = reader->Next(i == 0 ? least : 1, kMost);
  }
  return axis;
}

// Reads an epilogue; returns nothing if no spec has such an epilogue.
std::optional<Epilogue> ReadEpilogue(Reader* reader) {
  Epilogue epilogue;
  epilogue.count = static_cast<int>(reader->Next(1, kMaxEpilogueSteps));
  for (int i = 0; i < epilogue.count && reader->ok(); ++i) {
    EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    step.op = static_cast<Operation>(reader->Below(kStepOperations));
    const uint32_t operand = reader->Below(kLongNumberCode + 1);
    step.operand =
        operand == kLongNumberCode ? EpilogueOperand::kNumber : static_cast<EpilogueOperand>(operand);
    step.number = reader->Next(0, std::numeric_limits<uint32_t>::max());
    if (operand == kLongNumberCode)
      step.number |= uint64_t{reader->Next(1, std::numeric_limits<uint32_t>::max())} << 32;
    // Only steps with an operand or a number have one, and only numbers have a value.
    const bool takes = reader->ok() && Info(step.op).operands() == 2;
    if (takes != (step.operand != EpilogueOperand::kNone) ||
        (step.operand != EpilogueOperand::kNumber && step.number != 0))
      return std::nullopt;
  }
  if (!reader->ok() || epilogue.operands() > kMaxEpilogueOperands) return std::nullopt;
  return epilogue;
}

// Reads an op; returns nothing if there is no such op.
std::optional<OpKind> ReadOp(Reader* reader) {
  const uint32_t code = reader->Below(kBaseCode * kBasicOps.size());
  const auto base = static_cast<OpKind>(code / kBaseCode);
  const bool lanewise = Info(base).lanewise();
  // A lanewise operation is always one of a window.
  if (lanewise && (code & kWindowCode) == 0) return std::nullopt;
  Window window;
  if ((code & kWindowCode) != 0) {
    window.operand = static_cast<int>(reader->Below(lanewise ? 1 : 2));
    window.axes = {ReadAxis(reader, 1, 1), ReadAxis(reader, 1, lanewise ? 0 : 1)};
    if (lanewise) window.filters = ReadAxis(reader, 0, 1);
    // A window that is a plain matrix has a layout instead.
    if (!reader->ok() || (window.IsStrided() && !lanewise)) return std::nullopt;
  }
  std::optional<Epilogue> epilogue = Epilogue{};
  if ((code & kEpilogueCode) != 0) epilogue = ReadEpilogue(reader);
  if (!epilogue || !reader->ok()) return std::nullopt;
  return OpWith(*epilogue, window, base);
}

// True if the operand of the window, and no other, is laid out as one, and the window has just the digits
// that the sizes need. Otherwise two points would stand for one spec.
bool WindowSuits(const Spec& spec) {
  for (int operand = 0; operand <= spec.op_info().output(); ++operand)
    if (IsWindow(spec, operand) != (spec.op_info().window.operand == operand)) return false;
  Spec narrowed = spec;
  NarrowWindow(&narrowed);
  return narrowed.op == spec.op;
}

// Reads everything that does not depend on sizes.
bool ReadPlane(const CoordinateList& plane, Spec* spec) {
  Reader reader(plane);
  const std::optional<OpKind> op = ReadOp(&reader);
  if (!op) return false;
  spec->op = *op;
  spec->accumulate = reader.Below(2) != 0;
  spec->threads = static_cast<uint8_t>(reader.Next(1, kMaxThreads));
  spec->active_threads = static_cast<uint8_t>(reader.Next(1, kMaxThreads));
  spec->fixed_order = static_cast<uint8_t>(reader.Below(2)) & 1;
  spec->lhs_as = static_cast<LhsAs>(reader.Below(1 + kRoundings.size()));
  spec->block = static_cast<uint16_t>(reader.Next(0, std::numeric_limits<uint16_t>::max()));
  spec->block_rows = static_cast<uint8_t>(reader.Below(spec->block == 0 ? 1 : 2)) & 1;
  if (!reader.ok()) return false;
  const OpInfo& info = spec->op_info();
  for (int operand = 0; operand <= info.output(); ++operand)
    ReadTensor(&reader, &spec->operand[static_cast<size_t>(operand)]);
  for (int operand = info.output() + 1; operand < info.num_operands; ++operand)
    // Of the epilogue's operands only the level is free; LayOutEpilogue finds the rest.
    spec->operand[static_cast<size_t>(operand)].level = static_cast<Level>(reader.Below(kNumLevels));
  return reader.Complete();
}

// Reads sizes first, since the meaning of a contiguity depends on them.
bool ReadPoint(const CoordinateList& point, Spec* spec, Lines* available) {
  Reader reader(point);
  constexpr uint32_t kMaxIndex = std::numeric_limits<uint32_t>::max() - 1;
  for (int dim = 0; dim < spec->op_info().num_dims; ++dim) {
    spec->size[static_cast<size_t>(dim)] = SizeAt(reader.Next(0, kMaxIndex));
    if (spec->size[static_cast<size_t>(dim)] > kMaxSide) return false;
  }
  for (int operand = 0; operand <= spec->op_info().output(); ++operand) {
    const auto ld = LeadingDimension(*spec, operand, reader.Next(0, kMaxIndex + 1));
    if (!ld) return false;
    spec->operand[static_cast<size_t>(operand)].layout.ld = *ld;
  }
  LayOutEpilogue(spec);
  *available = static_cast<Lines>(reader.Next(0, kUnlimited));
  return reader.Complete();
}

}  // namespace

uint32_t SizeIndex(uint32_t size) {
  KIRSCH_CHECK(size > 0);
  // Usual sizes have the lowest indices. Any other size comes behind all of them, and before it are the other
  // sizes below it.
  const auto found = std::ranges::lower_bound(kUsualSizes, size);
  const auto usual_below = static_cast<uint32_t>(found - kUsualSizes.begin());
  return found != kUsualSizes.end() && *found == size ? usual_below : kUsual + (size - 1 - usual_below);
}

uint32_t SizeAt(uint32_t index) {
  if (index < kUsual) return kUsualSizes[index];
  uint32_t size = index - kUsual + 1;  // as if no usual size were below it; each that is pushes it up by one
  for (uint32_t usual : kUsualSizes) size += usual <= size ? 1 : 0;
  return size;
}

// Plane and point are written together, operand by operand; each list keeps its own order.
Coordinates CoordinatesOf(const Spec& spec, Lines available) {
  // Ideal specs are easier ones for bounds, and never stored.
  KIRSCH_CHECK(!spec.ideal);
  Coordinates coordinates;
  CoordinateList& plane = coordinates.plane;
  CoordinateList& point = coordinates.point;
  const OpInfo& info = spec.op_info();
  AppendOp(info, &plane);
  for (const uint32_t coordinate :
       {spec.accumulate ? 1u : 0u, uint32_t{spec.threads}, uint32_t{spec.active_threads},
        uint32_t{spec.fixed_order}, static_cast<uint32_t>(spec.lhs_as), uint32_t{spec.block},
        uint32_t{spec.block_rows}})
    plane.push_back(coordinate);
  for (int dim = 0; dim < info.num_dims; ++dim)
    point.push_back(SizeIndex(spec.size[static_cast<size_t>(dim)]));
  for (int operand = 0; operand <= info.output(); ++operand) {
    const TensorSpec& tensor = spec.tensor(operand);
    for (const uint32_t coordinate :
         {static_cast<uint32_t>(tensor.dtype), static_cast<uint32_t>(tensor.level), uint32_t{tensor.resident},
          uint32_t{tensor.constant}, static_cast<uint32_t>(tensor.layout.kind),
          static_cast<uint32_t>(tensor.layout.order), uint32_t{tensor.layout.panel},
          uint32_t{tensor.layout.group}})
      plane.push_back(coordinate);
    point.push_back(Contiguity(spec, operand));
  }
  for (int operand = info.output() + 1; operand < info.num_operands; ++operand)
    plane.push_back(static_cast<uint32_t>(spec.tensor(operand).level));
  point.push_back(static_cast<uint32_t>(available));
  return coordinates;
}

// Every step of reading checks, since the numbers may come from a damaged file.
std::optional<Question> QuestionAt(const Coordinates& coordinates) {
  Question question;
  if (!ReadPlane(coordinates.plane, &question.spec)) return std::nullopt;
  if (!ReadPoint(coordinates.point, &question.spec, &question.available)) return std::nullopt;
  if (!WindowSuits(question.spec)) return std::nullopt;
  return question;
}

}  // namespace kirsch
