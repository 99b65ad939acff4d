// SPDX-License-Identifier: Apache-2.0
#include "library/extension.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "library/error.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

// The most that a price may be of the built-in one. Costs are whole numbers of 64 bits, which is room for it.
constexpr double kMostShare = 1000;

// The interface's numbers are those of the enumerations, so that they are copied.
static_assert(KIRSCH_TILE == static_cast<int>(RewriteKind::kTile) &&
              KIRSCH_PARALLEL == static_cast<int>(RewriteKind::kParallelTile) &&
              KIRSCH_MOVE == static_cast<int>(RewriteKind::kMove) &&
              KIRSCH_PACK == static_cast<int>(RewriteKind::kPack) &&
              KIRSCH_MICROKERNEL == static_cast<int>(RewriteKind::kMicrokernel));
static_assert(KIRSCH_REGISTERS == Index(Level::kVrf) && KIRSCH_L1 == Index(Level::kL1) &&
              KIRSCH_RAM == Index(Level::kRam));
static_assert(kMaxDims <= KIRSCH_MAX_RANK && kMaxOperands <= KIRSCH_MAX_RANK);

kirsch_level InterfaceLevel(Level level) { return static_cast<kirsch_level>(Index(level)); }
kirsch_type InterfaceType(Dtype dtype) { return static_cast<kirsch_type>(CallersType(dtype)); }

// Names are literals, so they end in a zero.
kirsch_subproblem SubproblemOf(const Spec& spec) {
  const OpInfo& op = spec.op_info();
  kirsch_subproblem at = {};
  at.operation = Info(op.base).name.data();
  at.threads = spec.threads;
  at.num_dims = op.num_dims;
  for (size_t dim = 0; dim < static_cast<size_t>(op.num_dims); ++dim) {
    at.dim[dim] = op.dims[dim].name.data();
    at.size[dim] = spec.size[dim];
  }
  at.num_tiles = op.num_operands;
  for (int operand = 0; operand < op.num_operands; ++operand) {
    const TensorSpec& tensor = spec.tensor(operand);
    const TileExtent extent = ExtentOf(spec, operand);
    at.tile[operand] = {op.operands[static_cast<size_t>(operand)].name.data(),
                        InterfaceType(tensor.dtype),
                        InterfaceLevel(tensor.level),
                        extent.outer,
                        extent.inner,
                        tensor.layout.kind != LayoutKind::kStrided ? 1 : 0};
  }
  return at;
}

kirsch_decision DecisionOf(const Decision& decision) {
  kirsch_decision made = {};
  made.kind = static_cast<kirsch_decision_kind>(decision.kind);
  made.dim = decision.dim;
  made.operand = decision.operand;
  made.level = InterfaceLevel(decision.level);
  made.size = decision.size;
  made.parts = static_cast<int>(decision.parts);
  if (decision.kind == RewriteKind::kPack) made.type = InterfaceType(decision.dtype);
  made.lanes = decision.layout.panel;
  return made;
}

kirsch_step StepOf(const kirsch_subproblem& at, const Decision& decision, const Expansion& expansion,
                   double cycles) {
  kirsch_step step = {};
  step.at = &at;
  step.decision = DecisionOf(decision);
  step.cycles = cycles;
  step.num_children = expansion.num_children;
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    step.trips[i] = expansion.children[i].trips;
    step.in_turn[i] = expansion.children[i].weight;
  }
  step.num_transfers = expansion.num_transfers;
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_transfers); ++i) {
    const Transfer& transfer = expansion.transfers[i];
    step.transfer[i] = {InterfaceLevel(transfer.from), InterfaceLevel(transfer.to), transfer.read.lines,
                        transfer.written.lines};
  }
  step.copied_elements = expansion.copied_elements;
  return step;
}

// A name or a version: it becomes a part of a table's identity and of errors.
absl::StatusOr<std::string> ReadName(const char* text, std::string_view member) {
  constexpr size_t kLongest = 64;
  const std::string name = text == nullptr ? "" : text;
  const bool plain = std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
  });
  if (!plain || name.empty() || name.size() > kLongest)
    return absl::InvalidArgumentError(Cat("extension.", member, ": expected 1 to ", kLongest,
                                          " letters, digits, dots, dashes or underscores, got ",
                                          Quoted(name)));
  return name;
}

}  // namespace

absl::StatusOr<Callbacks> Callbacks::Read(const kirsch_extension& given) {
  KIRSCH_ASSIGN_OR_RETURN(const kirsch_extension functions, OptionsOf(&given));
  // Of another number nothing else can be understood.
  if (functions.abi != KIRSCH_EXTENSION_ABI)
    return absl::InvalidArgumentError(
        Cat("extension.abi: expected ", KIRSCH_EXTENSION_ABI, ", got ", functions.abi));
  KIRSCH_ASSIGN_OR_RETURN(const std::string name, ReadName(functions.name, "name"));
  KIRSCH_ASSIGN_OR_RETURN(const std::string version, ReadName(functions.version, "version"));
  if (!(functions.least_share >= 0 && functions.least_share <= kMostShare))
    return absl::InvalidArgumentError(
        Cat("extension.least_share: expected 0 to ", kMostShare, ", got ", functions.least_share));
  Callbacks callbacks;
  callbacks.functions_ = functions;
  callbacks.identity_ = Cat(name, " ", version);
  return callbacks;
}

// Without prices of its own, the built-in bounds hold as they are.
double CallbackExtension::least_share() const {
  return callbacks_.functions().price == nullptr ? 1 : callbacks_.functions().least_share;
}

double CallbackExtension::Price(const Spec& spec, const Decision& decision, const Expansion& expansion,
                                double cycles) const {
  const kirsch_extension& functions = callbacks_.functions();
  if (functions.price == nullptr) return cycles;
  const kirsch_subproblem at = SubproblemOf(spec);
  const kirsch_step step = StepOf(at, decision, expansion, cycles);
  const double price = functions.price(functions.user, &step);
  const double least = functions.least_share * cycles, most = kMostShare * std::max(cycles, 1.0);
  // Written so that a NaN is outside, too.
  if (price >= least && price <= most) return price;
  Blame(Cat("price: expected ", least, " to ", most, " cycles of '", PrintDecision(spec.op, decision),
            "', got ", price));
  return price > most ? most : least;
}

bool CallbackExtension::Allows(const Spec& spec, const Decision& decision) const {
  const kirsch_extension& functions = callbacks_.functions();
  if (functions.allow == nullptr) return true;
  const kirsch_subproblem at = SubproblemOf(spec);
  const kirsch_decision asked = DecisionOf(decision);
  return functions.allow(functions.user, &at, &asked) != 0;
}

void CallbackExtension::AppendTileSizes(const Spec& spec, int dim, std::vector<uint32_t>* sizes) const {
  const kirsch_extension& functions = callbacks_.functions();
  if (functions.tile_sizes == nullptr) return;
  const kirsch_subproblem at = SubproblemOf(spec);
  std::array<int64_t, 64> own = {};
  const size_t count = functions.tile_sizes(functions.user, &at, dim, own.data(), own.size());
  if (count > own.size()) Blame(Cat("tile_sizes: expected at most ", own.size(), " sizes, got ", count));
  for (size_t i = 0; i < std::min(count, own.size()); ++i)
    if (own[i] > 0 && own[i] < spec.size[static_cast<size_t>(dim)])
      sizes->push_back(static_cast<uint32_t>(own[i]));
}

absl::Status CallbackExtension::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (problem_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("extension '", Identity(), "': ", problem_));
}

void CallbackExtension::Blame(std::string problem) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (problem_.empty()) problem_ = std::move(problem);
}

}  // namespace kirsch
