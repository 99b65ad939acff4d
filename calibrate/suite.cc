// SPDX-License-Identifier: Apache-2.0
#include "calibrate/suite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "bench/workload/entries.h"
#include "bench/workload/workload.h"
#include "search/sampling/draw_tiles.h"
#include "spec/check.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr double kQuickShare = 0.24;  // of the problems
constexpr size_t kHeldOut = 5;        // of so many problems, one is held out of the fit
constexpr int kOddShapes = 50;        // drawn
constexpr int kLongTiles = 160;
constexpr uint64_t kSuiteSeed = 17;  // of draws
// Operands of about a cache's size are partly there and partly beyond, which no formula prices. Problems
// between these shares of a cache are left out, since the keys of neither level can be found from them.
constexpr double kAlmostFills = 0.75, kFarMore = 1.5;

// Types that matmuls are measured with beside f32: floats that are widened, products of integers, and s32.
constexpr std::string_view kOtherTypes[] = {
    "bf16*bf16->f32", "f32*bf16->f32", "f16*f16->f32", "bf16*f8_e4m3->f32",
    "u8*s8->s32",     "s8*s8->s32",    "s32"};

// Returns a matmul whose operands take about so many bytes of f32. `m` and `k` are given; n follows, a whole
// number of lines: 4 * (m * k + k * n + m * n) = bytes.
std::string Matmul(int64_t bytes, int64_t m, int64_t k, std::string_view options = "") {
  const int64_t n = (bytes / 4 - m * k) / (m + k) / 16 * 16;
  return Cat("matmul f32 ", m, "x", k, "x", std::max<int64_t>(16, n), options);
}

// Returns the side of a square matmul of so many bytes, a multiple of 8. Its three operands take 12 bytes for
// each of side^2.
int64_t Side(int64_t bytes) {
  return static_cast<int64_t>(std::sqrt(static_cast<double>(bytes) / 12)) / 8 * 8;
}

// Returns the bytes of all operands of a problem of the suite.
int64_t OperandBytes(const std::string& problem) {
  const absl::StatusOr<std::vector<BenchEntry>> entries = ReadEntries(problem, "problem");
  KIRSCH_CHECK(entries.ok() && entries->size() == 1);
  const absl::StatusOr<Workload> workload = MakeWorkload(entries->front().kernel(), 1);
  KIRSCH_CHECK(workload.ok());
  int64_t bytes = 0;
  for (const Workload::Operand& operand : workload->operands) bytes += static_cast<int64_t>(operand.bytes());
  return bytes;
}

// Collects the experiments, group by group. Groups are what held_out.h compares, so that a gain for some kind
// of problem does not hide a loss for another.
class SuiteBuilder {
 public:
  explicit SuiteBuilder(const Target& target) : target_(target) {}

  std::vector<Experiment> All() {
    // Operands in caches.
    Group("f32", [&] {
      RegisterTiles();
      LongTiles();
      for (Level level : {Level::kL2, Level::kL3}) Cache(level);
    });
    Group("odd f32", [&] { OddShapes(); });
    Group("RAM", [&] { Ram(); });
    Group("other types", [&] {
      for (std::string_view types : kOtherTypes) OtherTypes(types);
    });
    Group("blocks", [&] {
      for (const DtypeInfo& info : kDtypes)
        if (IsOfBlocks(info.dtype) && IsOfCallers(info.dtype)) Blocks(info);
    });
    Group("convolutions", [&] { Convolutions(); });
    Group("rows", [&] { Rows(); });
    // Held-out problems are chosen last, so that none of them is left out again.
    std::erase_if(experiments_, [&](const Experiment& one) { return IsOnTheEdge(one.problem); });
    HoldOut();
    return std::move(experiments_);
  }

 private:
  // Gives all problems that `add` adds the name of their group.
  template <typename AddAll>
  void Group(std::string_view group, const AddAll& add) {
    const size_t first = experiments_.size();
    add();
    for (size_t i = first; i < experiments_.size(); ++i) experiments_[i].group = group;
  }

  // Holds out one of every five problems of a group, but one at least. Each is drawn from its five by chance.
  // Shapes repeat from type to type, so that every fifth problem would be the same shape of each type.
  // Problems with a schedule leave no choice to a model and are not held out.
  void HoldOut() {
    std::mt19937_64 random(kSuiteSeed);
    std::map<std::string, std::vector<Experiment*>> groups;
    for (Experiment& experiment : experiments_)
      if (experiment.schedule.empty()) groups[experiment.group].push_back(&experiment);
    for (const auto& [name, problems] : groups)
      for (size_t first = 0; first == 0 || first + kHeldOut <= problems.size(); first += kHeldOut)
        problems[first + random() % std::min(kHeldOut, problems.size())]->held_out = true;
  }

  void Add(std::string problem, int programs) { experiments_.push_back({std::move(problem), programs}); }

  // Adds a single program. It is for what draws from the space seldom have.
  void AddProgram(std::string problem, std::string schedule) {
    experiments_.push_back({std::move(problem), 1, false, std::move(schedule)});
  }

  // Adds sizes that nobody would choose: rows that begin anywhere in a line, and in few or in many of the
  // sets of L1. Every fourth is a narrow product of a wide matrix, which reads the same slab again and again
  // at the matrix' stride. Only these problems tell what packing is worth.
  void OddShapes() {
    std::mt19937_64 random(kSuiteSeed);
    const auto draw = [&](double low,
                          double high) {  // log-uniform, odd or a multiple of 4 that is none of 16
      const double place = static_cast<double>(random() >> 11) * 0x1p-53;
      const auto size = static_cast<int64_t>(low * std::pow(high / low, place));
      return random() % 4 == 0 ? size / 16 * 16 + 4 : size / 2 * 2 + 1;
    };
    // A narrow product has a leading dimension that is far larger than n.
    for (int i = 0; i < kOddShapes; ++i) {
      const bool is_narrow = i % 4 == 0;
      const int64_t m = draw(16, 1000), k = draw(24, 1000), n = is_narrow ? draw(8, 80) : draw(24, 1000);
      Add(Cat("matmul f32 ", m, "x", k, "x", n, is_narrow ? Cat(" ldb=", n + draw(300, 2000)) : ""), 5);
    }
  }

  // Adds every class of register tiles, whole and masked, with operands in L1.
  void RegisterTiles() {
    for (std::string_view shape :
         {"4x64x32", "1x64x64", "6x128x16", "5x48x40", "16x16x16", "32x32x32", "8x64x24", "7x63x13",
          "3x96x24", "12x32x48", "2x128x8", "24x24x24", "4x64x8", "5x64x11", "9x40x19"})
      Add(Cat("matmul f32 ", shape), 8);
    for (std::string_view shape : {"12x48x16", "4x128x8", "1x128x32", "3x256x5", "2x96x7"})
      Add(Cat("matmul f32 ", shape, " rhs=col"), 8);
  }

  // Adds single register tiles of every type, form and width. Their operands are in L1, and their reductions
  // are so long that only a trip of the loop counts. Other programs spend too much beside it to tell one tile
  // from the next.
  void LongTiles() {
    for (const TileKernel& tile : DrawTileKernels(target_, kLongTiles, kSuiteSeed))
      AddProgram(tile.parsed.text, PrintSchedule(tile.impl));
  }

  // Adds streams, pieces, copies and write-back of one cache. Operands take half of it; or much less, so that
  // noise from those who share the cache stays out.
  void Cache(Level level) {
    const int64_t whole = target_.at(level).bytes;
    const int64_t closer = target_.at(static_cast<Level>(Index(level) - 1)).bytes;
    const int64_t bytes = std::min(whole / 2, 16 * closer), little = std::min(whole / 2, 4 * closer);
    const int64_t side = Side(bytes), small = Side(little), row = small * 2;
    for (int64_t s : {side, small}) Add(Cat("matmul f32 ", s, "x", s, "x", s), 8);
    Add(Cat("matmul f32 ", small - 4, "x", small + 4, "x", small), 8);
    for (int64_t m : {1, 2, 4, 8, 32}) Add(Matmul(bytes, m, row), 8);
    for (int64_t m : {1, 8}) Add(Matmul(bytes, m, row, " rhs=col"), 8);
    for (int64_t m : {16, 64}) Add(Matmul(little, m, row), 8);
    // Here rhs is so small that it is read from this level again and again, for one row of lhs after the
    // other.
    for (int64_t k : {64, 96, 192}) {
      Add(Cat("matmul f32 ", small * 4, "x", k, "x128"), 10);
      Add(Cat("matmul f32 ", small * 2, "x", k, "x", small), 8);
    }
    Add(Matmul(little, 64, row, " rhs=col"), 8);
    Add(Matmul(little, 64, row, " lhs=col"), 8);
    // Rows that are a power of two apart fall into the same sets, and into many pages.
    const int64_t power = int64_t{1} << std::bit_width(static_cast<uint64_t>(Side(bytes)));
    for (int64_t m : {1, 8, 32}) Add(Cat("matmul f32 ", m, "x", power / 2, "x", power), 8);
    for (int64_t m : {1, 8}) Add(Cat("matmul f32 ", m, "x", power, "x", 2 * power), 8);
    if (level == Level::kL3)
      for (int64_t between : {int64_t{0}, int64_t{16}}) PrefetchedRows(power, 2 * power + between);
  }

  // Adds rows side by side that microkernels prefetch: ever more of them, for one row of lhs and for several.
  // Draws from the space seldom have them, but the choice often does.
  void PrefetchedRows(int64_t k, int64_t n) {
    const int lanes = target_.vectors.front().lanes(Dtype::kF32);
    const std::string microkernel = Cat("move out VRF vectors", lanes, "\n    microkernel k 8\n");
    for (int rows : {32, 64, 128})
      AddProgram(Cat("matmul f32 1x", k, "x", n),
                 Cat("tile k ", rows, "\n tile n ", 8 * lanes, "\n  ", microkernel));
    for (int rows : {32, 64, 128})
      AddProgram(Cat("matmul f32 8x", k, "x", n),
                 Cat("tile m 4\n tile k ", rows, "\n  tile n ", 3 * lanes, "\n   ", microkernel));
  }

  // Adds problems whose operands no cache holds: rows, columns, tall and wide shapes, and the programs by
  // hand below.
  void Ram() {
    const int64_t bytes = SurelyBeyond(target_);
    for (int64_t m : {1, 2, 4, 8, 16, 32}) Add(Matmul(bytes, m, 4096), m < 16 ? 6 : 4);
    Add(Matmul(bytes, 1, 2048), 6);
    Add(Matmul(bytes, 4, 8192), 6);
    for (int64_t m : {1, 4}) Add(Matmul(bytes, m, 4096, " rhs=col"), 6);
    for (int64_t m : {1, 8, 32}) Add(Cat("matmul f32 ", m, "x", bytes / 4 / 4096, "x4096"), 4);
    for (int64_t n : {4096, 4160}) WalkedRows(bytes / 4 / 4096, n);
    for (int64_t k : {512, 2048}) SideBySide(k, bytes / 4 / k);
    FarColumns(bytes);
  }

  // Adds columns of rhs from RAM, by vectors of each width. Their row of lhs is in L1, or comes from L2
  // beside them.
  void FarColumns(int64_t bytes) {
    for (int64_t k : {2048, 8192})
      for (const VectorUnit& unit : target_.vectors)
        for (int columns : {1, 4}) {
          const bool fits = k == 2048;
          const char* indent = fits ? " " : "";
          AddProgram(Cat("matmul f32 1x", k, "x", bytes / 4 / k, " rhs=col"),
                     Cat(fits ? "move lhs L1\n" : "", indent, "tile n ", columns, "\n", indent,
                         " move out VRF sums", unit.lanes(Dtype::kF32), "\n", indent, "  microkernel\n"));
        }
  }

  // Adds columns of rhs from RAM for one row of lhs. One column after the other is one long stream; a few
  // side by side are as many short ones. This tells how short streams may be, and whether it helps to
  // prefetch them.
  void SideBySide(int64_t k, int64_t n) {
    const int lanes = target_.vectors.front().lanes(Dtype::kF32);
    for (int columns : {1, 2, 4, 8})
      for (const std::string& ahead : {std::string(), Cat(" k ", k / 4), Cat(" n ", columns)}) {
        const std::string tile =
            Cat("   tile n ", columns, "\n    move out VRF sums", lanes, "\n     microkernel", ahead, "\n");
        AddProgram(Cat("matmul f32 1x", k, "x", n / 4096 * 4096, " rhs=col"),
                   Cat("move lhs L1\n tile n 4096\n  move out L1\n", tile));
        experiments_.back().may_lack = true;  // what is asked for ahead may not stay in L1
      }
  }

  // Adds walks along a few rows side by side, for one row of lhs. Choices of programs from RAM depend on how
  // many rows the prefetchers follow, and on whether microkernels had better prefetch them. Draws seldom
  // differ in that alone.
  void WalkedRows(int64_t k, int64_t n) {
    const int lanes = target_.vectors.front().lanes(Dtype::kF32);
    for (int rows : {4, 8, 16, 32})
      for (int vectors : {4, 8})
        for (int ahead : {0, 4 * lanes, 32 * lanes}) {
          const std::string tile = Cat("    tile n ", vectors * lanes, "\n     move out VRF vectors", lanes,
                                       "\n      microkernel", ahead == 0 ? "" : Cat(" n ", ahead), "\n");
          AddProgram(Cat("matmul f32 1x", k, "x", n),
                     Cat("move out L3\n move out L1\n  move lhs L1\n   tile k ", rows, "\n", tile, tile));
          experiments_.back().may_lack = true;  // what is asked for ahead may not stay in L1
        }
  }

  // Adds matmuls of other types in L1 and beyond: small ones for the arithmetic, larger ones for widening
  // copies.
  void OtherTypes(std::string_view types) {
    for (std::string_view shape : {"4x64x32", "6x128x16", "16x32x16", "1x128x64", "7x63x13", "128x128x128",
                                   "8x256x512", "1x1024x1024", "8x1024x1024"})
      Add(Cat("matmul ", types, " ", shape), 6);
    for (std::string_view shape : {"4x128x8", "32x256x128"})
      Add(Cat("matmul ", types, " ", shape, " rhs=col"), 6);
  }

  // Adds weights in blocks of bits, which are decoded by copies and by microkernels.
  void Blocks(const DtypeInfo& type) {
    const std::string matmul = Cat("matmul f32*", type.name, "->f32 ");
    for (std::string_view shape : {"1x512x64", "1x1024x2048", "32x512x64"})
      Add(Cat(matmul, shape, " rhs=col"), 4);
    Add(Cat(matmul, "64x512x128 rhs=col lhs-as=bf16"), 4);
    if (HasIntegerCodes(type.dtype)) Add(Cat(matmul, "1x1024x512 rhs=col lhs-as=q8_0"), 4);
    constexpr int64_t k = 2048;
    Add(Cat(matmul, "1x", k, "x", SurelyBeyond(target_) / Bytes(type.dtype, k), " rhs=col"), 3);
  }

  // Adds convolutions: windows of an image, and depthwise ones, which are products lane by lane.
  void Convolutions() {
    for (std::string_view size : {"16x14x14 filters=32", "64x28x28 filters=64", "64x56x56 filters=64"})
      Add(Cat("conv2d f32 1x", size, " kernel=3x3 layout=nhwc"), 6);
    for (std::string_view size : {"32x14x14 filters=32 groups=32", "96x28x28 filters=96 groups=96",
                                  "144x56x56 filters=144 groups=144"})
      Add(Cat("conv2d f32 1x", size, " kernel=3x3 layout=nhwc"), 6);
  }

  // Adds row programs: softmax and norms in several passes, functions of single elements in one.
  void Rows() {
    const int64_t far = SurelyBeyond(target_) / 8 / 4096;
    for (std::string_view operation : {"softmax", "layernorm"})
      for (const std::string& shape : {std::string("32x64"), std::string("32x1024"), std::string("512x1024")})
        Add(Cat(operation, " f32 ", shape), 5);
    Add(Cat("softmax f32 ", far, "x4096"), 5);
    for (int64_t rows : {int64_t{32}, int64_t{512}, far})
      for (std::string_view function : {"gelu", "relu"})
        Add(Cat("kernel rows(x: f32[", rows, ",1024]):\n  return ", function, "(x)\n"), 5);
  }

  // True if the operands take about as much as some cache has.
  bool IsOnTheEdge(const std::string& problem) const {
    const auto bytes = static_cast<double>(OperandBytes(problem));
    for (Level level : {Level::kL1, Level::kL2, Level::kL3}) {
      const auto cache = static_cast<double>(target_.at(level).bytes);
      if (bytes > kAlmostFills * cache && bytes < kFarMore * cache) return true;
    }
    return false;
  }

  const Target& target_;
  std::vector<Experiment> experiments_;
};

}  // namespace

std::vector<Experiment> CalibrationSuite(const Target& target, bool quick) {
  std::vector<Experiment> all = SuiteBuilder(target).All();
  if (!quick) return all;
  std::vector<Experiment> some;
  // Takes every fourth experiment or so, evenly from all groups.
  double share = 0;
  for (Experiment& experiment : all) {
    share += kQuickShare;
    if (share < 1) continue;
    share -= 1;
    experiment.programs = std::max(2, experiment.programs / 2);
    some.push_back(std::move(experiment));
  }
  return some;
}

}  // namespace kirsch
