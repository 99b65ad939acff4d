// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/drawn_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "spec/matmul_types.h"
#include "spec/text/cat.h"
#include "tests/testing/plain_block.h"

namespace kirsch::testing {
namespace {

class Dice {
 public:
  explicit Dice(std::mt19937& random) : random_(random) {}

  uint32_t Below(size_t end) { return static_cast<uint32_t>(random_() % end); }
  bool Chance(uint32_t in) { return Below(in) == 0; }
  template <typename List>
  auto OneOf(const List& list) {
    return list[Below(std::size(list))];
  }
  template <typename List>
  void Shuffle(List* list) {
    std::shuffle(list->begin(), list->end(), random_);
  }

 private:
  std::mt19937& random_;
};

// What matmuls may combine and every target sums, and the same with lhs and rhs exchanged.
std::vector<MatmulTypes> InEitherOrder() {
  std::vector<MatmulTypes> all;
  for (const MatmulTypes& types : kMatmulTypes) {
    if (!IsOfCallers(types.lhs)) continue;
    all.push_back(types);
    if (types.lhs != types.rhs) all.push_back({types.rhs, types.lhs, types.out});
  }
  return all;
}

// A size, or a range of them.
struct Sizes {
  uint32_t low = 1, high = 1;

  bool varies() const { return low < high; }
  std::string Text() const { return varies() ? Cat(low, "..", high) : Cat(low); }
};

Sizes DrawRange(Dice& dice) {
  const uint32_t low = 1 + dice.Below(6);
  return {low, low + 1 + dice.Below(5)};
}

std::string WrongRange(Dice& dice) {
  static constexpr std::array kRanges = {
      "0..5",   "5..1",    "1..99999999999", "0..",        "..5",
      "..",     "1..5..9", "-1..3",          "1..0x4",     "0",
      "1.5..2", "1e1",     "a..b",           "1..1048577", "99999999999999999999",
      "+1"};
  return dice.OneOf(kRanges);
}

std::string RightMixture(const Sizes& sizes, Dice& dice) {
  static constexpr std::array kShares = {"1", "0.5", "3e-3", "1e9", "1e-9", "7"};
  std::vector<std::string> parts;
  for (uint32_t size = sizes.low; size <= sizes.high; ++size)
    if (dice.Chance(2) || (parts.empty() && size == sizes.high))
      parts.push_back(Cat(size, ":", dice.OneOf(kShares)));
  dice.Shuffle(&parts);
  return absl::StrJoin(parts, ",");
}

std::string WrongMixture(const Sizes& sizes, Dice& dice) {
  static constexpr std::array kShares = {"",   "-1",  "0",  "nan", "inf", "-inf", "1e10",   "1e-10", "1e400",
                                         "+1", "0x1", "1e", "1:2", "x",   "1;2",  "1e-400", "1..2"};
  const std::string first = Cat(sizes.low, ":");
  switch (dice.Below(6)) {
    case 0:
      return Cat(sizes.high + 1 + dice.Below(100), ":1");
    case 1:
      return Cat(first, "1,", first, "2");
    case 2:
      return Cat(first, "1,");
    case 3: {
      static constexpr std::array kMixtures = {"",     ",",  ":", ":1", "1", "0:1", "99999999999:1",
                                               "-1:1", "a:1"};
      return dice.OneOf(kMixtures);
    }
    default:
      return Cat(first, dice.OneOf(kShares));
  }
}

// What README says that lhs may be rounded to: "bf16", "f16", "q8_0".
bool MayRound(std::string_view as, std::string_view lhs, std::string_view rhs) {
  const PlainBlockType* const blocks = FindPlainBlockType(rhs);
  if (as == "q8_0") return lhs == "f32" && blocks != nullptr && blocks->integers;
  if (as == "f16") return lhs == "f32" && rhs == "f16";
  return (lhs == "f32" && (rhs == "bf16" || blocks != nullptr)) || (lhs == "bf16" && blocks != nullptr);
}

constexpr std::array kRoundings = {"bf16", "f16", "q8_0"};
constexpr std::array kNoRoundings = {"f32", "", "q4_0", "BF16", "itself", "bf16|q8_0", "8"};

// One more than a multiple of the block, or several.
uint32_t OffBlocks(const PlainBlockType& blocks, uint32_t k, Dice& dice) {
  return k + 1 + dice.Below(static_cast<size_t>(blocks.elements) - 1);
}

class SpecDrawer {
 public:
  explicit SpecDrawer(std::mt19937& random) : dice_(random) {
    DrawTypes();
    DrawSizes();
    DrawOptions();
  }

  DrawnText Text() const {
    DrawnText text;
    text.pieces = {"matmul", " ", TypesText(), " ", SizesText()};
    for (const std::string& option : options_) {
      text.pieces.emplace_back(" ");
      text.pieces.push_back(option);
    }
    return text;
  }

  DrawnText WrongText() {
    static constexpr std::array kFlaws = {
        &SpecDrawer::OddDepth,       &SpecDrawer::OddLeading, &SpecDrawer::ShortLeading,
        &SpecDrawer::LongLeading,    &SpecDrawer::Rows,       &SpecDrawer::ColumnsOfOut,
        &SpecDrawer::OtherTypes,     &SpecDrawer::NoRounding, &SpecDrawer::OtherRounding,
        &SpecDrawer::RoundedInOrder, &SpecDrawer::Twice,      &SpecDrawer::NoRange,
        &SpecDrawer::NoSizes,        &SpecDrawer::Unknown,    &SpecDrawer::NoMixture,
        &SpecDrawer::LoneMixture,    &SpecDrawer::NoBlocks};
    int wrong = -1;
    while (wrong < 0) wrong = (this->*dice_.OneOf(kFlaws))();
    DrawnText text = Text();
    if (!sizes_.empty()) text.pieces[kSizes] = sizes_;
    text.wrong = wrong;
    return text;
  }

 private:
  // The pieces of a text. Options have blanks before them.
  static constexpr int kTypes = 2, kSizes = 4, kFirstOption = 6;

  void DrawTypes() {
    static const std::vector<MatmulTypes> kTypes = InEitherOrder();
    const MatmulTypes types = dice_.OneOf(kTypes);
    lhs_ = Info(types.lhs).name, rhs_ = Info(types.rhs).name, out_ = Info(types.out).name;
    if (dice_.Chance(3)) return;
    blocks_ = &PlainBlockTypes()[dice_.Below(PlainBlockTypes().size())];
    lhs_ = dice_.Chance(4) ? "bf16" : "f32", rhs_ = blocks_->name, out_ = "f32";
  }

  void DrawSizes() {
    const auto any = [&](uint32_t most) {
      const uint32_t size = 1 + dice_.Below(most);
      return Sizes{size, size};
    };
    m_ = any(20), n_ = any(40), k_ = any(70);
    if (blocks_ != nullptr) {
      const auto block = static_cast<uint32_t>(blocks_->elements);
      k_.low = k_.high = block * (1 + dice_.Below(block > 100 ? 2 : 4));
    } else if (dice_.Chance(8)) {
      k_ = DrawRange(dice_);
    }
    if (dice_.Chance(2)) m_ = DrawRange(dice_);
    if (dice_.Chance(8)) n_ = DrawRange(dice_);
    batch_ = dice_.Chance(8) ? 2 : 1;
  }

  bool IsOfFloats() const { return out_ == "f32"; }
  bool MayBeRounded(std::string_view as) const { return MayRound(as, lhs_, rhs_); }
  bool Turned(const char* operand) const { return Find(Cat(operand, "=col")) >= 0; }
  uint32_t LeastLeading(char operand) const {
    if (operand == 'a') return Turned("lhs") ? m_.high : k_.high;
    if (operand == 'b') return Turned("rhs") ? k_.high : n_.high;
    return Turned("out") ? m_.high : n_.high;
  }
  // Is an operand constant that all members share?
  const Sizes* Shared() const {
    const int varying = int{m_.varies()} + int{k_.varies()} + int{n_.varies()};
    if (varying == 1 && m_.varies() && Find("const-rhs") >= 0) return &m_;
    return varying == 1 && n_.varies() && Find("const-lhs") >= 0 ? &n_ : nullptr;
  }

  void DrawOptions() {
    if (blocks_ != nullptr || dice_.Chance(2)) Put("rhs=col");
    if (dice_.Chance(6)) Put("lhs=col");
    const std::string as = dice_.OneOf(kRoundings);
    if (MayBeRounded(as) && dice_.Chance(2)) {
      Put(Cat("lhs-as=", as));
    } else {
      if (dice_.Chance(6)) Put("fixed-order");
      if (blocks_ == nullptr && dice_.Chance(8)) Put("out=col");
    }
    const auto step = blocks_ == nullptr ? 1u : static_cast<uint32_t>(blocks_->elements);
    if (dice_.Chance(6)) Put(Cat("lda=", LeastLeading('a') + dice_.Below(6)));
    if (dice_.Chance(6)) Put(Cat("ldb=", LeastLeading('b') + step * dice_.Below(3)));
    if (dice_.Chance(6)) Put(Cat("ldc=", LeastLeading('c') + dice_.Below(6)));
    if (dice_.Chance(4)) Put("accumulate");
    if (dice_.Chance(2)) Put(dice_.Chance(5) ? "const-lhs" : "const-rhs");
    if (dice_.Chance(8)) Put(Cat("column-blocks=", 1 + dice_.Below(40)));
    static constexpr std::array kEpilogues = {"relu", "add:n,gelu", "mul:m,add:mn", "exp,mul:0.5",
                                              "add:scalar"};
    if (IsOfFloats() && dice_.Chance(5)) Put(Cat("epilogue=", dice_.OneOf(kEpilogues)));
    if (Shared() != nullptr && dice_.Chance(2)) Put(Cat("mixture=", RightMixture(*Shared(), dice_)));
    dice_.Shuffle(&options_);
  }

  static std::string_view KeyOf(std::string_view option) { return option.substr(0, option.find('=')); }
  int PieceOf(size_t option) const { return kFirstOption + 2 * static_cast<int>(option); }
  // The piece that such an option is, word by word or by its key; -1: there is none.
  int Find(std::string_view option) const {
    for (size_t i = 0; i < options_.size(); ++i)
      if (options_[i] == option || KeyOf(options_[i]) == option) return PieceOf(i);
    return -1;
  }
  // In the place of the one with its key, or behind all. The piece that it is.
  int Put(const std::string& option) {
    for (size_t i = 0; i < options_.size(); ++i)
      if (KeyOf(options_[i]) == KeyOf(option)) {
        options_[i] = option;
        return PieceOf(i);
      }
    return Add(option);
  }
  int Add(const std::string& option) {
    options_.push_back(option);
    return PieceOf(options_.size() - 1);
  }
  void Drop(std::initializer_list<std::string_view> keys) {
    std::erase_if(options_, [&](const std::string& option) {
      return std::find(keys.begin(), keys.end(), KeyOf(option)) != keys.end();
    });
  }

  std::string TypesText() const { return Cat(lhs_, "*", rhs_, "->", out_); }
  std::string SizesText() const {
    return Cat(batch_ > 1 ? Cat(batch_, ":") : "", m_.Text(), "x", k_.Text(), "x", n_.Text());
  }

  // What makes a text wrong, and where: the piece, or -1 where it would not.
  int OddDepth() {
    if (blocks_ == nullptr) return -1;
    Drop({"lda", "ldb"});
    const uint32_t odd = OffBlocks(*blocks_, k_.low, dice_);
    k_ = dice_.Chance(2) ? Sizes{odd, odd} : Sizes{k_.low, odd};
    if (dice_.Chance(4)) k_.high = k_.low + static_cast<uint32_t>(blocks_->elements);
    return k_.low == odd || k_.varies() ? kSizes : -1;
  }
  int OddLeading() { return blocks_ == nullptr ? -1 : Put(Cat("ldb=", OffBlocks(*blocks_, k_.high, dice_))); }
  int ShortLeading() {
    const char operand = dice_.OneOf(std::string_view("abc"));
    return Put(Cat("ld", std::string(1, operand), "=", LeastLeading(operand) - 1));
  }
  int LongLeading() {
    static constexpr std::array kNumbers = {"",     "4294967296", "99999999999999999999", "-64", "1e3",
                                            "0x40", "64.0"};
    return Put(Cat("ld", std::string(1, dice_.OneOf(std::string_view("abc"))), "=", dice_.OneOf(kNumbers)));
  }
  int Rows() {
    if (blocks_ == nullptr) return -1;
    Drop({"ldb", "rhs"});
    if (dice_.Chance(2)) Put("rhs=row");
    return kTypes;
  }
  int ColumnsOfOut() {
    if (blocks_ == nullptr) return -1;
    Drop({"ldc"});
    const int out = Put("out=col");
    return Find("lhs-as") >= 0 ? Find("lhs-as") : out >= 0 ? kTypes : -1;
  }
  int OtherTypes() {
    static constexpr std::array<std::array<const char*, 3>, 13> kOthers = {{{"q8_0", "f32", "f32"},
                                                                            {"f16", "q8_0", "f32"},
                                                                            {"f32", "q4_k", "bf16"},
                                                                            {"f32", "f32", "q8_0"},
                                                                            {"q4_0", "q4_0", "f32"},
                                                                            {"f32", "q8", "f32"},
                                                                            {"f32", "p8", "f32"},
                                                                            {"f32", "o8", "f32"},
                                                                            {"f32", "Q8_0", "f32"},
                                                                            {"f32", "", "f32"},
                                                                            {"f32", "q8_0", ""},
                                                                            {"f32", "q8_0->f32", "f32"},
                                                                            {"s8", "q8_0", "s32"}}};
    const std::array<const char*, 3> types = dice_.OneOf(kOthers);
    lhs_ = types[0], rhs_ = types[1], out_ = types[2];
    Drop({"epilogue"});
    return kTypes;
  }
  int NoRounding() { return Put(Cat("lhs-as=", dice_.OneOf(kNoRoundings))); }
  int OtherRounding() {
    const std::string as = dice_.OneOf(kRoundings);
    return MayBeRounded(as) ? -1 : Put(Cat("lhs-as=", as));
  }
  int RoundedInOrder() {
    const std::string as = dice_.OneOf(kRoundings);
    if (!MayBeRounded(as)) return -1;
    Put("fixed-order");
    return Put(Cat("lhs-as=", as));
  }
  int Twice() { return options_.empty() ? -1 : Add(std::string(dice_.OneOf(options_))); }
  int NoRange() {
    const std::string range = WrongRange(dice_);
    const uint32_t side = dice_.Below(3);
    sizes_ = Cat(side == 0 ? range : m_.Text(), "x", side == 1 ? range : k_.Text(), "x",
                 side == 2 ? range : n_.Text());
    return kSizes;
  }
  int NoSizes() {
    static constexpr std::array kTexts = {"4x64",     "4x64x4x4",   "4*64*4", "x64x4", "4x64x",
                                          ":4x64x4",  "1:2:4x64x4", "::",     "x",     "4X64X4",
                                          "4x64x4:2", "0:4x64x4",   "4,64,4"};
    sizes_ = dice_.OneOf(kTexts);
    return kSizes;
  }
  int Unknown() {
    static constexpr std::array kWords = {
        "threads=2",    "lhs_as=bf16", "rhs-as=bf16", "mixture",   "const", "const-out",     "lhs-as",
        "block=32",     "=",           "--",          "q8_0",      "\xff",  "column-blocks", "accumulate=1",
        "fixed-order=", "lhs=diag",    "rhs=",        "const-rhs="};
    return Add(dice_.OneOf(kWords));
  }
  int NoMixture() { return Shared() == nullptr ? -1 : Put(Cat("mixture=", WrongMixture(*Shared(), dice_))); }
  int LoneMixture() { return Shared() != nullptr ? -1 : Put("mixture=1:1"); }
  int NoBlocks() {
    static constexpr std::array kNumbers = {"0", "65536", "-1", "", "1.5", "99999999999", "8..16"};
    return Put(Cat("column-blocks=", dice_.OneOf(kNumbers)));
  }

  Dice dice_;
  std::string lhs_, rhs_, out_;
  const PlainBlockType* blocks_ = nullptr;
  Sizes m_, k_, n_;
  uint32_t batch_ = 1;
  std::string sizes_;  // what stands in their place
  std::vector<std::string> options_;
};

// kernel drawn[SIZES](x: X, w: W) -> RESULT: return VALUE
class KernelDrawer {
 public:
  explicit KernelDrawer(std::mt19937& random)
      : dice_(random), blocks_(PlainBlockTypes()[dice_.Below(PlainBlockTypes().size())]) {
    const auto block = static_cast<uint32_t>(blocks_.elements);
    k_ = block * (1 + dice_.Below(block > 100 ? 2 : 4));
    columns_ = 1 + dice_.Below(20);
    if (dice_.Chance(2)) {
      rows_ = DrawRange(dice_);
      mixed_ = constant_ && dice_.Chance(2);
      sizes_ = FamilyText(rows_.Text(), mixed_ ? RightMixture(rows_, dice_) : "");
    } else {
      rows_.low = rows_.high = 1 + dice_.Below(20);
    }
    x_ = XText(dice_.Chance(4) ? "bf16" : "f32");
    w_ = Cat(constant_ ? "const " : "", blocks_.name, "[", columns_, ",", k_, "]");
    value_ = DrawValue();
  }

  DrawnText Text() const {
    return {{"kernel drawn", sizes_, "(x: ", x_, ", ", Cat("w: ", w_), ")", result_, ":\n  return ", value_,
             "\n"}};
  }

  DrawnText WrongText() {
    static constexpr std::array kFlaws = {
        &KernelDrawer::OddDepth,   &KernelDrawer::OtherDepth,    &KernelDrawer::Strides,
        &KernelDrawer::NoWeights,  &KernelDrawer::OtherLhs,      &KernelDrawer::OtherUse,
        &KernelDrawer::NoRounding, &KernelDrawer::OtherResult,   &KernelDrawer::NoRange,
        &KernelDrawer::NoMixture,  &KernelDrawer::VaryingWeights};
    int wrong = -1;
    while (wrong < 0) wrong = (this->*dice_.OneOf(kFlaws))();
    DrawnText text = Text();
    text.wrong = wrong;
    return text;
  }

 private:
  static constexpr int kSizes = 1, kW = 5, kValue = 9;

  static std::string FamilyText(const std::string& values, const std::string& mixture) {
    return Cat("[m = ", values, mixture.empty() ? "" : " mixture=", mixture, "]");
  }
  std::string XText(std::string_view type) {
    x_type_ = type;
    return Cat(type, "[", RowsText(), ",", k_, "]");
  }
  std::string RowsText() const { return sizes_.empty() ? Cat(rows_.low) : "m"; }
  std::string DrawValue() {
    static constexpr std::array kAround = {"relu(", "add(1, ", "softmax(", "mul(0.5, "};
    const std::string as = dice_.OneOf(kRoundings);
    const bool rounds = MayRound(as, x_type_, blocks_.name) && dice_.Chance(2);
    const std::string product = Cat("matmul(x, transpose(w)", rounds ? Cat(", lhs_as=", as) : "", ")");
    return dice_.Chance(2) ? product : Cat(dice_.OneOf(kAround), product, ")");
  }

  int OddDepth() {
    w_ = Cat(blocks_.name, "[", columns_, ",", OffBlocks(blocks_, k_, dice_), "]");
    return kW;
  }
  int OtherDepth() {
    w_ = Cat(blocks_.name, "[", columns_, ",", k_ + static_cast<uint32_t>(blocks_.elements), "]");
    return kValue;
  }
  int Strides() {
    Append(&w_, " strides=[", k_, ",1]");
    return kW;
  }
  int NoWeights() {
    static constexpr std::array kTexts = {"q8_0[]",
                                          "q8_0[0,32]",
                                          "q8_0[8,32",
                                          "q8_0",
                                          "q8[8,32]",
                                          "const",
                                          "q8_0[8,,32]",
                                          "q8_0[1,1,1,1,1,1,1,1,32]",
                                          "q4_k[8,32]",
                                          "sfp8[8,-32]",
                                          "q8_0[1048576,1048576]"};
    w_ = dice_.OneOf(kTexts);
    return kW;
  }
  int OtherLhs() {
    static constexpr std::array kTypes = {"f16", "s8", "u8", "s32", "f8_e4m3", "q8_0"};
    const std::string type = dice_.OneOf(kTypes);
    if (type == "q8_0" && k_ % 32 != 0) return -1;
    x_ = XText(type);
    return kValue;
  }
  int OtherUse() {
    static constexpr std::array kValues = {"matmul(x, w)",
                                           "matmul(transpose(w), x)",
                                           "matmul(w, transpose(w))",
                                           "w",
                                           "transpose(w)",
                                           "relu(w)",
                                           "add(w, 1)",
                                           "softmax(w)",
                                           "cast(w, f32)",
                                           "reduce_sum(w, axis=0)",
                                           "matmul(x, transpose(transpose(w)))",
                                           "matmul(x, transpose(cast(w, f32)))",
                                           "cast(x, q8_0)",
                                           "cast(x, sfp8)",
                                           "matmul(x, transpose(w), 1)",
                                           "conv2d(x, w)",
                                           "conv2d_transpose(x, w)",
                                           "mul(x, transpose(w))"};
    value_ = dice_.OneOf(kValues);
    return kValue;
  }
  int NoRounding() {
    const std::string as = dice_.OneOf(kRoundings);
    static constexpr std::array kOptions = {"lhs_as",
                                            "lhs-as=bf16",
                                            "rhs_as=bf16",
                                            "lhs_as=f16",
                                            "lhs_as=",
                                            "lhs_as=8",
                                            "lhs_as=bf16, lhs_as=bf16"};
    const bool fits = MayRound(as, x_type_, blocks_.name);
    value_ = Cat("matmul(x, transpose(w), ", fits ? dice_.OneOf(kOptions) : Cat("lhs_as=", as), ")");
    return kValue;
  }
  int OtherResult() {
    result_ = dice_.Chance(2) ? Cat(" -> ", blocks_.name, "[8,256]") : Cat(" -> f32[", columns_, ",1,1]");
    return kValue;
  }
  int NoRange() {
    static constexpr std::array kTexts = {"", "1|1", "3|2", "1..2|2", "1|2..5000", "1,2", "|", "1||3"};
    sizes_ = FamilyText(dice_.Chance(2) ? WrongRange(dice_) : dice_.OneOf(kTexts), "");
    x_ = XText(x_type_);
    return kSizes;
  }
  // Of one that is right but for that, or where nothing is constant.
  int NoMixture() {
    if (sizes_.empty()) return -1;
    const std::string mixture = constant_ ? WrongMixture(rows_, dice_) : RightMixture(rows_, dice_);
    if (mixture.empty()) return -1;  // the text would be one without
    sizes_ = FamilyText(rows_.Text(), mixture);
    return kSizes;
  }
  int VaryingWeights() {
    if (sizes_.empty() || mixed_) return -1;
    w_ = Cat("const ", blocks_.name, "[m,", k_, "]");
    return kW;
  }

  Dice dice_;
  const PlainBlockType& blocks_;
  const bool constant_ = dice_.Chance(2);
  bool mixed_ = false;
  Sizes rows_;
  uint32_t k_ = 0, columns_ = 0;
  std::string x_type_, sizes_, x_, w_, result_, value_;
};

}  // namespace

std::string DrawnText::Text() const { return absl::StrJoin(pieces, ""); }

bool DrawnText::IsWrongAt(int line, int column) const {
  const std::string text = Text();
  size_t at = 0;
  for (int i = 1; i < line; ++i) at = text.find('\n', at) + 1;
  at += static_cast<size_t>(column) - 1;
  size_t begin = 0;
  for (int i = 0; i < wrong; ++i) begin += pieces[static_cast<size_t>(i)].size();
  return begin <= at && at <= begin + pieces[static_cast<size_t>(wrong)].size();
}

DrawnText RightSpec(std::mt19937& random) { return SpecDrawer(random).Text(); }
DrawnText WrongSpec(std::mt19937& random) { return SpecDrawer(random).WrongText(); }
DrawnText RightKernel(std::mt19937& random) { return KernelDrawer(random).Text(); }
DrawnText WrongKernel(std::mt19937& random) { return KernelDrawer(random).WrongText(); }

}  // namespace kirsch::testing
