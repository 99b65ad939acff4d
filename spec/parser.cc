#include "spec/parser.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "spec/canonical.h"
#include "spec/cat.h"
#include "spec/convolution_parser.h"
#include "spec/epilogue_parser.h"
#include "spec/printer.h"
#include "spec/shorthand.h"
#include "spec/text.h"
#include "spec/types_parser.h"

namespace kirsch {
namespace {

constexpr std::string_view kSource = "spec";

absl::Status Expected(const Word& word, std::string_view expected) {
  return ExpectedAt(kSource, word, expected);
}

// Reads one matmul: sizes, then options in any order.
class MatmulParser {
 public:
  explicit MatmulParser(const MatmulTypes& types) {
    spec_.op = OpKind::kMatmul;
    spec_.operand[MatmulDims::kLhs].dtype = types.lhs;
    spec_.operand[MatmulDims::kRhs].dtype = types.rhs;
    spec_.operand[MatmulDims::kOut].dtype = types.out;
  }

  // `words`: what follows the dtype, with the empty word at the end. The result is not canonical yet.
  absl::StatusOr<Spec> Parse(absl::Span<const Word> words) {
    const Word& sizes = words.front();
    if (absl::Status status = ParseSizes(sizes); !status.ok()) return status;
    words.remove_prefix(1);
    for (; !words.empty() && !words.front().text.empty(); words.remove_prefix(1))
      if (absl::Status status = ParseOption(words.front()); !status.ok()) return status;
    for (int operand = 0; operand <= spec_.op_info().output(); ++operand)
      if (absl::Status status = SetLd(operand, sizes); !status.ok()) return status;
    if (epilogue_ && spec_.accumulate)
      return Expected(*epilogue_, "no epilogue where the output is added to");
    return spec_;
  }

 private:
  static constexpr std::string_view kOptions =
      "an option (lhs=row|col rhs=row|col out=row|col lda=N ldb=N ldc=N accumulate const-lhs const-rhs "
      "fixed-order column-blocks=N epilogue=STEPS)";

  // [B:]MxKxN
  absl::Status ParseSizes(const Word& word) {
    Word rest = word;
    spec_.size[MatmulDims::kB] = 1;
    if (const size_t colon = word.text.find(':'); colon != std::string_view::npos) {
      if (absl::Status status = ParseSize(word.Part(0, colon), MatmulDims::kB); !status.ok()) return status;
      rest = word.Part(colon + 1);
    }
    const std::vector<Word> sides = Split(rest, 'x');
    if (sides.size() != 3) return Expected(word, "sizes as MxKxN or BATCH:MxKxN");
    for (size_t i = 0; i < 3; ++i)
      if (absl::Status status = ParseSize(sides[i], MatmulDims::kM + static_cast<int>(i)); !status.ok())
        return status;
    return absl::OkStatus();
  }

  absl::Status ParseSize(const Word& word, int dim) {
    if (word.text.find("..") != std::string_view::npos)
      return Expected(word, "a single size (a range stands for many specs, and one is wanted here)");
    absl::StatusOr<uint32_t> size = ParseNumber(kSource, word, "a size", 1, kMaxSide);
    if (size.ok()) spec_.size[static_cast<size_t>(dim)] = *size;
    return size.status();
  }

  absl::Status ParseOption(const Word& word) {
    const size_t equals = std::min(word.text.find('='), word.text.size());
    const std::string_view key = word.text.substr(0, equals);
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end())
      return Expected(word, Cat("each option once"));
    seen_.push_back(key);
    if (word.text == kAccumulateWord) {
      spec_.accumulate = true;
      return absl::OkStatus();
    }
    if (word.text == kFixedOrderWord) {
      spec_.fixed_order = 1;
      return absl::OkStatus();
    }
    if (word.text.starts_with(kConstantPrefix)) return ParseConstant(word);
    if (equals == word.text.size()) return Expected(word, kOptions);
    if (key == kBlocksWord) {
      absl::StatusOr<uint32_t> block = ParseNumber(kSource, word.Part(equals + 1), "columns of a block", 1,
                                                   std::numeric_limits<uint16_t>::max());
      if (block.ok()) spec_.block = static_cast<uint16_t>(*block);
      return block.status();
    }
    if (key == kEpilogueWord) {
      absl::StatusOr<Epilogue> epilogue = ParseEpilogue(kSource, word.Part(equals + 1), AccumulatorOf(spec_));
      if (epilogue.ok()) spec_.op = OpWith(*epilogue);
      epilogue_ = word;
      return epilogue.status();
    }
    for (int operand = 0; operand <= spec_.op_info().output(); ++operand) {
      if (key == spec_.op_info().operands[static_cast<size_t>(operand)].name)
        return ParseOrder(word.Part(equals + 1), operand);
      if (key == kLdWords[static_cast<size_t>(operand)]) {
        ld_[static_cast<size_t>(operand)] = word.Part(equals + 1);
        return absl::OkStatus();
      }
    }
    return Expected(word, kOptions);
  }

  // const-lhs or const-rhs. Sizes come first, so the batch is known.
  absl::Status ParseConstant(const Word& word) {
    const std::string_view name = word.text.substr(kConstantPrefix.size());
    for (int operand = 0; operand < spec_.op_info().output(); ++operand) {
      if (name != spec_.op_info().operands[static_cast<size_t>(operand)].name) continue;
      if (ConstantOperand(spec_) >= 0)
        return Expected(word, "one constant operand (of two, the product would be constant, too)");
      if (spec_.size[MatmulDims::kB] > 1) return Expected(word, "a batch of 1 where an operand is constant");
      spec_.operand[static_cast<size_t>(operand)].constant = 1;
      return absl::OkStatus();
    }
    return Expected(word, kOptions);
  }

  absl::Status ParseOrder(const Word& word, int operand) {
    for (Order order : {Order::kRow, Order::kCol}) {
      if (word.text != OrderWord(order)) continue;
      spec_.operand[static_cast<size_t>(operand)].layout.order = order;
      return absl::OkStatus();
    }
    return Expected(word, "row or col");
  }

  // Needs sizes and orders, hence last.
  absl::Status SetLd(int operand, const Word& sizes) {
    const TileExtent extent = ExtentOf(spec_, operand);
    const int64_t rows = extent.batch * extent.outer;  // of the stored matrices; at most 2^40
    const std::string_view name = spec_.op_info().operands[static_cast<size_t>(operand)].name;
    if (rows * extent.inner > kMaxElements)
      return Expected(sizes, Cat("at most ", kMaxElements, " elements in ", name));
    uint32_t& ld = spec_.operand[static_cast<size_t>(operand)].layout.ld;
    ld = static_cast<uint32_t>(extent.inner);
    if (!ld_[static_cast<size_t>(operand)]) return absl::OkStatus();
    const int64_t largest = std::min<int64_t>(kMaxElements / rows, std::numeric_limits<uint32_t>::max());
    absl::StatusOr<uint32_t> given = ParseNumber(kSource, *ld_[static_cast<size_t>(operand)],
                                                 Cat("a leading dimension of ", name), ld, largest);
    if (given.ok()) ld = *given;
    return given.status();
  }

  Spec spec_;
  std::array<std::optional<Word>, 3> ld_;
  std::optional<Word> epilogue_;
  std::vector<std::string_view> seen_;
};

}  // namespace

absl::StatusOr<ParsedSpec> ParseSpec(std::string_view text) {
  const std::vector<Word> words = SplitWords(text);
  if (words[0].text == kConvolutionWord) return ParseConvolution(kSource, words);
  if (words[0].text != kMatmulInfo.name)
    return Expected(words[0], Cat("an operation (", kMatmulInfo.name, "|", kConvolutionWord, ")"));
  absl::StatusOr<MatmulTypes> types = ParseTypes(kSource, words[1]);
  if (!types.ok()) return types.status();
  absl::StatusOr<Spec> asked = MatmulParser(*types).Parse(absl::MakeConstSpan(words).subspan(2));
  if (!asked.ok()) return asked.status();
  if (absl::Status status = CheckTypes(kSource, words[1], *types, asked->op_info().epilogue); !status.ok())
    return status;
  const CanonicalSpec canonical = Canonicalise(*asked);
  return ParsedSpec{canonical.spec, canonical.swapped, PrintSpec(*asked)};
}

}  // namespace kirsch
