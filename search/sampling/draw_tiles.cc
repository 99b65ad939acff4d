// SPDX-License-Identifier: Apache-2.0
#include "search/sampling/draw_tiles.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "rewrites/spec/rewrite.h"
#include "search/sampling/random.h"
#include "search/solver/placement.h"
#include "search/solver/residency.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Tiles are drawn of these types and options. A target without an instruction for a type has other tiles of
// it, or none.
constexpr std::string_view kTypes[] = {
    "f32", "bf16*bf16->f32", "f32*bf16->f32", "f16*f16->f32", "u8*s8->s32", "s8*s8->s32", "s32"};
constexpr std::string_view kOptions[] = {"", " const-rhs", " rhs=col", " lhs=col", " lhs=col const-rhs"};

// Bounds of what is drawn: steps of the reduction, draws in a row that find nothing new, rows, and vectors
// (or columns).
constexpr int64_t kMostSteps = 512, kStepUnit = 64;
constexpr int kTriesPerKernel = 200;
constexpr size_t kMostRows = 30, kMostVectors = 6;

struct Sizes {
  size_t m = 1, n = 1;
};

std::string TextOf(std::string_view type, const Sizes& sizes, int64_t k, std::string_view options) {
  return Cat("matmul ", type, " ", sizes.m, "x", k, "x", sizes.n, options);
}

// The longest reduction with which the operands take no more than half of L1. Elements count as 4 bytes,
// which is the most that any type here has.
int64_t StepsInL1(const Sizes& sizes, const Target& target) {
  constexpr int64_t kElement = 4;
  const int64_t bytes = target.at(Level::kL1).bytes / 2;
  const int64_t steps = bytes / (kElement * static_cast<int64_t>(sizes.m + sizes.n));
  return std::clamp(steps / kStepUnit * kStepUnit, kStepUnit, kMostSteps);
}

// True if what a decision copies takes no more than half of L1. StepsInL1 doesn't see to that: copies pad
// short rows to whole lines.
bool LeavesRoomInL1(const Expansion& expansion, const Target& target) {
  return expansion.filled == Level::kVrf ||
         2 * expansion.filled_lines * target.line_bytes <= target.at(Level::kL1).bytes;
}

// A move of the output to registers, which chooses the register tile.
bool EndsInRegisters(const Decision& decision) {
  return decision.kind == RewriteKind::kMove && decision.level == Level::kVrf;
}

// Takes decisions from the root down until there is a microkernel. `choose` picks one of those that are
// legal. Gives up if a decision makes several specs: then the output is no single tile.
template <typename Choose>
std::optional<TileKernel> Build(ParsedSpec parsed, const Target& target, Choose choose) {
  TileKernel kernel{std::move(parsed), {}, {}, {}};
  Impl* node = &kernel.impl;
  node->spec = PlaceOperands(kernel.parsed.spec, Residency::kWarm, target);
  while (true) {
    std::vector<Decision> decisions;
    EnumerateDecisions(node->spec, target, &decisions);
    const std::optional<Decision> chosen = choose(node->spec, decisions);
    if (!chosen) return std::nullopt;
    node->decision = *chosen;
    Expand(node->spec, node->decision, target, &kernel.expansion);
    if (node->decision.kind == RewriteKind::kMicrokernel) break;
    if (kernel.expansion.num_children != 1 || !LeavesRoomInL1(kernel.expansion, target)) return std::nullopt;
    node->children.push_back({1, {kernel.expansion.children[0].spec, {}, {}}});
    node = &node->children.back().impl;
  }
  kernel.microkernel = node->spec;
  return kernel;
}

// Chooses a decision: for a constant operand any copy ahead; then any register tile; then the plain
// microkernel, which is the first decision that is enumerated.
std::optional<Decision> Draw(const Spec& spec, std::vector<Decision> decisions, Random* random) {
  if (spec.out().level == Level::kVrf) return decisions.front();
  if (ConstantOperand(spec) < 0)
    std::erase_if(decisions, [](const Decision& decision) { return !EndsInRegisters(decision); });
  if (decisions.empty()) return std::nullopt;
  return decisions[random->Below(decisions.size())];
}

std::optional<TileKernel> DrawKernel(const Target& target, Random* random) {
  // A type, a way that operands lie, and sizes of whole vectors; now and then the last vector is partial.
  const std::string_view type = kTypes[random->Below(std::size(kTypes))];
  const std::string_view options = kOptions[random->Below(std::size(kOptions))];
  const bool dot = options.find("rhs=col") != std::string_view::npos;
  const VectorUnit& unit = target.vectors[random->Below(target.vectors.size())];
  Sizes sizes{1 + random->Below(kMostRows), 1 + random->Below(kMostVectors)};
  if (!dot) sizes.n *= static_cast<size_t>(unit.lanes(Dtype::kF32));
  if (!dot && random->Below(4) == 0) --sizes.n;  // the last vector is not whole
  const int64_t steps = StepsInL1(sizes, target);
  const int64_t row = dot ? steps : static_cast<int64_t>(sizes.n);
  const bool copied = options.ends_with("const-rhs");
  // Some rows begin anywhere within a line, as those of callers' matrices may.
  const std::string apart = !copied && random->Below(4) == 0 ? Cat(" ldb=", row + 1) : "";  // across lines
  absl::StatusOr<ParsedSpec> parsed = ParseSpec(Cat(TextOf(type, sizes, steps, options), apart));
  if (!parsed.ok()) return std::nullopt;
  return Build(*std::move(parsed), target,
               [random](const Spec& spec, const std::vector<Decision>& decisions) {
                 return Draw(spec, decisions, random);
               });
}

// True if both have the same register tile and types. How they came to it, by which options, makes no
// difference.
bool SameTile(const TileKernel& a, const TileKernel& b, const Target& target) {
  return RegisterTileOf(a.microkernel, a.microkernel.out().layout, target) ==
             RegisterTileOf(b.microkernel, b.microkernel.out().layout, target) &&
         a.microkernel.operand[MatmulDims::kLhs].dtype == b.microkernel.operand[MatmulDims::kLhs].dtype &&
         a.microkernel.operand[MatmulDims::kRhs].dtype == b.microkernel.operand[MatmulDims::kRhs].dtype;
}

}  // namespace

std::vector<TileKernel> DrawTileKernels(const Target& target, int count, uint64_t seed) {
  std::vector<TileKernel> kernels;
  Random random(seed);
  const auto is_new = [&](const TileKernel& drawn) {
    return std::ranges::none_of(kernels,
                                [&](const TileKernel& known) { return SameTile(known, drawn, target); });
  };
  DrawUntil(
      static_cast<size_t>(std::max(0, count)), kTriesPerKernel, [&] { return DrawKernel(target, &random); },
      is_new, &kernels);
  return kernels;
}

std::optional<TileKernel> WithSteps(const TileKernel& kernel, int64_t steps, const Target& target) {
  ParsedSpec parsed = kernel.parsed;
  const auto all = std::to_string(kernel.parsed.spec.size[MatmulDims::kK]);
  const size_t place = parsed.text.find(Cat("x", all, "x"));
  if (place == std::string::npos) return std::nullopt;
  absl::StatusOr<ParsedSpec> shorter =
      ParseSpec(Cat(parsed.text.substr(0, place), "x", steps, parsed.text.substr(place + all.size() + 1)));
  if (!shorter.ok()) return std::nullopt;
  // Take the decisions of the kernel at hand once more; each must be legal with the other length, too.
  const Impl* known = &kernel.impl;
  return Build(*std::move(shorter), target,
               [&known](const Spec&, const std::vector<Decision>& decisions) -> std::optional<Decision> {
                 const Decision wanted = known->decision;
                 if (!known->children.empty()) known = &known->children[0].impl;
                 if (std::ranges::find(decisions, wanted) == decisions.end()) return std::nullopt;
                 return wanted;
               });
}

}  // namespace kirsch
