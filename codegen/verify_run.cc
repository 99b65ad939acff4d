#include "codegen/verify_run.h"

#include <signal.h>

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/verify_fault.h"
#include "spec/element.h"

namespace kirsch {
namespace {

constexpr double kOutputGap = -8765.4321;
constexpr int kScratchFill = 0xff;
constexpr size_t kScratchAlignment = 64;

Dtype DtypeOf(const Spec& root, int operand) { return root.operand[static_cast<size_t>(operand)].dtype; }

// What no kernel may compute from: NaN, or an integer that is larger than those of InputKind::kIntegers.
double Poison(Dtype dtype) { return IsFloating(dtype) ? std::numeric_limits<double>::quiet_NaN() : 123; }

// Every element of an operand's buffer that belongs to no row holds kOutputGap, bit for bit.
bool GapsIntact(const Spec& root, int operand, const void* data) {
  const Dtype dtype = DtypeOf(root, operand);
  const size_t bytes = static_cast<size_t>(Bytes(dtype));
  std::array<char, sizeof(double)> gap;
  StoreElement(dtype, kOutputGap, gap.data(), 0);
  bool intact = true;
  int64_t end_of_row = 0;
  ForEachRun(root, operand, [&](int64_t offset, int64_t count) {
    for (int64_t i = end_of_row; i < offset; ++i)
      intact &=
          memcmp(static_cast<const char*>(data) + static_cast<size_t>(i) * bytes, gap.data(), bytes) == 0;
    end_of_row = offset + count;
  });
  return intact;
}

void FillOutput(const Spec& root, const Trial& trial, void* data) {
  const int output = root.op_info().output();
  const Dtype dtype = DtypeOf(root, output);
  FillOperand(root, output, trial.kind, trial.seed, kOutputGap, data);
  if (root.accumulate) return;
  ForEachRun(root, output, [&](int64_t offset, int64_t count) {
    for (int64_t i = 0; i < count; ++i) StoreElement(dtype, Poison(dtype), data, offset + i);
  });
}

// "wrote 4 bytes before the start of out".
std::string Explain(const Fault& fault, const GuardedBuffer& buffer, const std::string& name) {
  const char* const at = static_cast<const char*>(fault.address);
  const char* const start = static_cast<const char*>(buffer.data());
  const char* const end = start + buffer.bytes();
  const char* const did = fault.write ? "wrote " : "read ";
  if (at < start) return absl::StrCat(did, start - at, " bytes before the start of ", name);
  if (at >= end) return absl::StrCat(did, at - end, " bytes after the end of ", name);
  return absl::StrCat(did, "byte ", at - start, " of ", name, ", an input");
}

absl::Status FaultError(const Spec& root, const Fault& fault, const Operands& operands,
                        const GuardedBuffer& packed, const GuardedBuffer& scratch) {
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    if (operands.at(operand).Owns(fault.address))
      return absl::OutOfRangeError(
          Explain(fault, operands.at(operand),
                  std::string(root.op_info().operands[static_cast<size_t>(operand)].name)));
  if (packed.Owns(fault.address)) return absl::OutOfRangeError(Explain(fault, packed, "the packed operand"));
  if (scratch.Owns(fault.address))
    return absl::OutOfRangeError(Explain(fault, scratch, "the scratch memory"));
  return absl::OutOfRangeError(
      absl::StrCat("died of signal ", fault.signal, " (", strsignal(fault.signal), ")"));
}

// Aligned memory that ends at a guard page, after what aligning its end takes, full of NaN.
absl::StatusOr<GuardedBuffer> AlignedBuffer(int64_t bytes) {
  const size_t whole =
      (static_cast<size_t>(bytes) + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  absl::StatusOr<GuardedBuffer> scratch = GuardedBuffer::Create(whole, Placement::kAtEnd);
  if (scratch.ok()) memset(scratch->data(), kScratchFill, whole);
  return scratch;
}

// Leaves the packed operand read-only.
absl::Status PackGuarded(const Spec& root, const Kernel& kernel, const Operands& operands,
                         const void* operand, GuardedBuffer* packed) {
  const std::optional<Fault> fault = CatchFault([&] { kernel.pack(operand, packed->data()); });
  if (fault.has_value()) return FaultError(root, *fault, operands, *packed, *packed);
  if (!packed->SlackIntact()) return absl::OutOfRangeError("wrote beside the packed operand");
  packed->SetReadOnly(true);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Operands> Operands::Create(const Spec& root, const Trial& trial) {
  Operands operands;
  const int output = root.op_info().output();
  for (int operand = 0; operand < root.op_info().num_operands; ++operand) {
    const Dtype dtype = DtypeOf(root, operand);
    const size_t element = static_cast<size_t>(Bytes(dtype));
    absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Create(
        static_cast<size_t>(RootElements(root, operand)) * element, trial.placement, trial.shift * element);
    if (!buffer.ok()) return buffer.status();
    if (operand == output) {
      FillOutput(root, trial, buffer->data());
    } else {
      FillOperand(root, operand, trial.kind, trial.seed, Poison(dtype), buffer->data());
      buffer->SetReadOnly(true);
    }
    operands.buffers_.push_back(*std::move(buffer));
  }
  return operands;
}

ConstOperands Operands::pointers() const {
  ConstOperands pointers = {};
  for (size_t i = 0; i < buffers_.size(); ++i) pointers[i] = buffers_[i].data();
  return pointers;
}

absl::Status Operands::CheckOutside(const Spec& root) const {
  const int output = root.op_info().output();
  if (!at(output).SlackIntact()) return absl::OutOfRangeError("wrote beside out");
  if (!GapsIntact(root, output, at(output).data()))
    return absl::OutOfRangeError("wrote between the rows of out");
  return absl::OkStatus();
}

absl::Status RunGuarded(const Spec& root, const Kernel& kernel, const Trial& trial, Operands* operands) {
  ConstOperands in = operands->pointers();
  absl::StatusOr<GuardedBuffer> packed = AlignedBuffer(kernel.packed_bytes);
  if (!packed.ok()) return packed.status();
  if (kernel.pack) {
    const void*& operand = in[static_cast<size_t>(kernel.packed_operand)];
    const absl::Status status = PackGuarded(root, kernel, *operands, operand, &*packed);
    if (!status.ok()) return status;
    operand = packed->data();
  }
  void* const out = operands->at(root.op_info().output()).data();
  for (size_t thread = trial.n_threads; thread-- > 0;) {
    const absl::StatusOr<GuardedBuffer> scratch = AlignedBuffer(kernel.scratch_bytes);
    if (!scratch.ok()) return scratch.status();
    const std::optional<Fault> fault = CatchFault([&] {
      kernel.run(in[0], in[1], out, scratch->data(), thread, trial.n_threads, in[3], in[4], in[5]);
    });
    if (fault.has_value()) return FaultError(root, *fault, *operands, *packed, *scratch);
    if (!scratch->SlackIntact()) return absl::OutOfRangeError("wrote beside the scratch memory");
  }
  return operands->CheckOutside(root);
}

}  // namespace kirsch
