// SPDX-License-Identifier: Apache-2.0
#include "spec/language/parser.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "spec/canonical.h"
#include "spec/check.h"
#include "spec/language/epilogue_parser.h"
#include "spec/language/functions.h"
#include "spec/language/graph_shorthand.h"
#include "spec/language/printer.h"
#include "spec/language/shorthand.h"
#include "spec/language/types_parser.h"
#include "spec/language/varying_size.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr std::string_view kDots = "..";

// The number of the operand that `name` names; -1: none.
int OperandCalled(std::string_view name) {
  for (int operand = 0; operand <= kMatmulInfo.output(); ++operand)
    if (name == kMatmulInfo.operands[static_cast<size_t>(operand)].name) return operand;
  return -1;
}

// The name of an option: what its form begins with, up to "=".
std::string OptionName(std::string_view form) { return std::string(form.substr(0, form.find('='))); }

}  // namespace

const OpInfo* FindContraction(std::string_view name) {
  for (const OpInfo* op : kBasicOps)
    if (op->name == name && !op->meaning.empty()) return op;
  return nullptr;
}

std::vector<std::string_view> ContractionsOfSizes() {
  std::vector<std::string_view> names;
  for (const OpInfo* op : kBasicOps)
    if (!op->meaning.empty()) names.push_back(op->name);
  return names;
}

std::vector<std::string> MatmulOptions() {
  std::vector<std::string> options;
  for (int operand = 0; operand <= kMatmulInfo.output(); ++operand)
    options.push_back(Cat(kMatmulInfo.operands[static_cast<size_t>(operand)].name, "=",
                          OrderWord(Order::kRow), "|", OrderWord(Order::kCol)));
  for (std::string_view ld : kLdWords) options.push_back(Cat(ld, "=N"));
  options.emplace_back(kAccumulateWord);
  for (int operand = 0; operand < kMatmulInfo.output(); ++operand)
    options.push_back(Cat(kConstantPrefix, kMatmulInfo.operands[static_cast<size_t>(operand)].name));
  options.emplace_back(kFixedOrderWord);
  options.push_back(Cat(kLhsAsWord, "=", Join(kRoundings, "|", [](LhsAs as) { return NameOf(as); })));
  options.push_back(Cat(kBlocksWord, "=N"));
  options.push_back(Cat(kEpilogueWord, "=STEPS"));
  return options;
}

absl::Status ParsedMatmul::ExpectedOption(const Word& word) const {
  std::vector<std::string> keys;
  for (const std::string& option : MatmulOptions()) keys.push_back(OptionName(option));
  return ExpectedAt(source_, word, Cat("an option (", Join(MatmulOptions(), " "), ")"),
                    DidYouMean(OptionName(word.text), keys));
}

absl::StatusOr<ParsedMatmul> ParsedMatmul::Parse(absl::Span<const Word> words, std::string_view source) {
  ParsedMatmul parsed(source);
  // Types come first: the epilogue's numbers are parsed as the type of the sums.
  parsed.types_word_ = words[1];
  KIRSCH_ASSIGN_OR_RETURN(MatmulTypes types, ParseTypes(source, words[1]));
  const OpInfo* const contraction = FindContraction(words[0].text);
  KIRSCH_CHECK(contraction != nullptr);
  parsed.form_.op = contraction->base;
  parsed.form_.size = {1, 1, 1, 1};
  parsed.form_.operand[MatmulDims::kLhs].dtype = types.lhs;
  parsed.form_.operand[MatmulDims::kRhs].dtype = types.rhs;
  parsed.form_.operand[MatmulDims::kOut].dtype = types.out;
  parsed.sizes_word_ = words[2];
  KIRSCH_RETURN_IF_ERROR(parsed.ParseSizes());
  for (const Word& word : words.subspan(3))
    KIRSCH_RETURN_IF_ERROR(word.text.empty() ? absl::OkStatus() : parsed.ParseOption(word));
  // Checks of several words come when all options are read, as these are in any order.
  if (!contraction->transposes() && parsed.form_.out().layout.order == Order::kCol)
    return parsed.Expected(words[0], "an operation that is its own transpose, with out=col");
  absl::Status status = CheckTypes(source, words[1], types, parsed.form_.op_info().epilogue);
  if (status.ok()) status = parsed.CheckRounding();
  if (status.ok() && parsed.form_.accumulate) status = CheckAccumulation(source, words[1], types);
  if (!status.ok()) return status;
  return parsed;
}

// [B:]MxKxN
absl::Status ParsedMatmul::ParseSizes() {
  const Word& word = sizes_word_;
  Word rest = word;
  std::vector<Word> sizes;
  if (const size_t colon = word.text.find(':'); colon != std::string_view::npos) {
    sizes.push_back(word.Part(0, colon));
    rest = word.Part(colon + 1);
  }
  const std::vector<Word> sides = Split(rest, 'x');
  if (sides.size() != 3)
    return Expected(
        word, Cat("sizes as MxKxN or BATCH:MxKxN",
                  word.text.find(kDots) == std::string_view::npos ? "" : ", each a size or a range a..b"));
  sizes.insert(sizes.end(), sides.begin(), sides.end());
  const size_t first = ranges_.size() - sizes.size();  // the batch may be left out
  for (size_t i = 0; i < sizes.size(); ++i) {
    KIRSCH_ASSIGN_OR_RETURN(SizeRange range, ParseRange(sizes[i]));
    ranges_[first + i] = range;
  }
  return absl::OkStatus();
}

// N or N..N, both included; the ends may be the same. Or N.., with no end.
absl::StatusOr<SizeRange> ParsedMatmul::ParseRange(const Word& word) {
  const size_t dots = word.text.find(kDots);
  KIRSCH_ASSIGN_OR_RETURN(uint32_t low, ParseNumber(source_, word.Part(0, dots), "a size", 1, kMaxSide));
  if (dots == std::string_view::npos) return SizeRange{low, low};
  // The first range is kept for the error where a single size is wanted.
  if (!range_) range_ = word;
  KIRSCH_ASSIGN_OR_RETURN(const uint32_t high, ParseLastSize(source_, word.Part(dots + kDots.size()), low));
  return SizeRange{low, high};
}

// An option is a word alone, or NAME=VALUE; each name once.
absl::Status ParsedMatmul::ParseOption(const Word& word) {
  const size_t equals = std::min(word.text.find('='), word.text.size());
  const std::string_view key = word.text.substr(0, equals);
  if (std::ranges::find(seen_, key) != seen_.end()) return Expected(word, "each option once");
  seen_.push_back(key);
  // Words without a value first, then those with one.
  if (word.text == kAccumulateWord) {
    form_.accumulate = true;
    return absl::OkStatus();
  }
  if (word.text == kFixedOrderWord) {
    form_.fixed_order = 1;
    return absl::OkStatus();
  }
  if (word.text.starts_with(kConstantPrefix)) return ParseConstant(word);
  if (equals == word.text.size()) return ExpectedOption(word);
  const Word value = word.Part(equals + 1);
  if (key == kBlocksWord) {
    absl::StatusOr<uint32_t> block =
        ParseNumber(source_, value, "columns of a block", 1, std::numeric_limits<uint16_t>::max());
    if (block.ok()) form_.block = static_cast<uint16_t>(*block);
    return block.status();
  }
  if (key == kLhsAsWord) {
    lhs_as_ = word;
    const absl::StatusOr<LhsAs> as = ParseLhsAs(source_, value);
    if (as.ok()) form_.lhs_as = *as;
    return as.status();
  }
  if (key == kEpilogueWord) {
    absl::StatusOr<Epilogue> epilogue = ParseEpilogue(source_, value, AccumulatorOf(form_));
    if (epilogue.ok()) form_.op = OpWith(*epilogue, {}, form_.op_info().base);
    epilogue_ = word;
    return epilogue.status();
  }
  if (const int operand = OperandCalled(key); operand >= 0) return ParseOrder(value, operand);
  const auto ld = std::ranges::find(kLdWords, key);
  if (ld == kLdWords.end()) return ExpectedOption(word);
  ld_[static_cast<size_t>(ld - kLdWords.begin())] = value;
  return absl::OkStatus();
}

// lhs-as suits some types only. It excludes out=col, as the transposed problem has lhs for its rhs. It
// excludes fixed-order, whose results have the same bits in whatever matmul they are computed.
absl::Status ParsedMatmul::CheckRounding() const {
  if (!lhs_as_) return absl::OkStatus();
  const std::string_view wanted = WantedBesideRounding(form_.lhs_as, form_.operand[MatmulDims::kLhs].dtype,
                                                       form_.operand[MatmulDims::kRhs].dtype);
  if (!wanted.empty()) return Expected(*lhs_as_, wanted);
  if (form_.out().layout.order == Order::kCol) return Expected(*lhs_as_, "out=row with it");
  if (form_.fixed_order != 0) return Expected(*lhs_as_, Cat("no ", kFixedOrderWord, " with it"));
  return absl::OkStatus();
}

// Blocks lie along the reduction, and rows of them begin and end with whole blocks. So rhs is column-major
// (each column of K elements is contiguous), and its K and leading dimension are multiples of the block.
absl::Status ParsedMatmul::CheckBlocks(const Spec& spec) const {
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  if (!IsOfBlocks(rhs.dtype)) return absl::OkStatus();
  const std::string_view name = Info(rhs.dtype).name;
  const auto block = static_cast<uint32_t>(BlockOf(rhs.dtype));
  if (rhs.layout.order != Order::kCol)
    return Expected(types_word_, Cat("rhs=col with ", name, ", whose blocks are along K"));
  if (spec.out().layout.order != Order::kRow) return Expected(types_word_, Cat("out=row with ", name));
  if (spec.size[MatmulDims::kK] % block != 0)
    return Expected(sizes_word_,
                    Cat("K that is a multiple of ", block, ", as ", name, " has blocks of so many"));
  if (rhs.layout.ld % block != 0)
    return Expected(*ld_[MatmulDims::kRhs],
                    Cat("ldb that is a multiple of ", block, ", as ", name, " has blocks of so many"));
  return absl::OkStatus();
}

// const-lhs or const-rhs. At most one operand is constant.
absl::Status ParsedMatmul::ParseConstant(const Word& word) {
  const int operand = OperandCalled(word.text.substr(kConstantPrefix.size()));
  // The output is what the kernel makes: it cannot be known ahead.
  if (operand < 0 || operand == MatmulDims::kOut) return ExpectedOption(word);
  if (constant_) return Expected(word, "one constant operand (of two, the product would be constant, too)");
  constant_ = word;
  form_.tensor(operand).constant = 1;
  return absl::OkStatus();
}

absl::Status ParsedMatmul::ParseOrder(const Word& word, int operand) {
  for (Order order : {Order::kRow, Order::kCol}) {
    if (word.text != OrderWord(order)) continue;
    form_.tensor(operand).layout.order = order;
    return absl::OkStatus();
  }
  return Expected(word, "row or col");
}

// Only sizes differ between members, so these are the checks that depend on sizes.
absl::StatusOr<Spec> ParsedMatmul::Member(const UserSizes& sizes) const {
  Spec spec = WithSizes(form_, sizes);
  for (int operand = 0; operand <= kMatmulInfo.output(); ++operand)
    KIRSCH_RETURN_IF_ERROR(SetLd(operand, &spec));
  KIRSCH_RETURN_IF_ERROR(CheckBlocks(spec));
  return spec;
}

// Checks the number of elements, gaps included, and sets a leading dimension that the text gives.
absl::Status ParsedMatmul::SetLd(int operand, Spec* spec) const {
  const TileExtent extent = ExtentOf(*spec, operand);
  const int64_t rows = extent.batch * extent.outer;  // of the stored matrices; at most 2^40
  const std::string_view name = kMatmulInfo.operands[static_cast<size_t>(operand)].name;
  if (rows * extent.inner > kMaxElements)
    return Expected(sizes_word_, Cat("at most ", kMaxElements, " elements in ", name));
  const std::optional<Word>& written = ld_[static_cast<size_t>(operand)];
  if (!written) return absl::OkStatus();
  // The operand may have gaps, but no more elements than any other.
  const int64_t largest = std::min<int64_t>(kMaxElements / rows, std::numeric_limits<uint32_t>::max());
  absl::StatusOr<uint32_t> given =
      ParseNumber(source_, *written, Cat("a leading dimension of ", name), extent.inner, largest);
  if (given.ok()) spec->operand[static_cast<size_t>(operand)].layout.ld = *given;
  return given.status();
}

Spec WithSizes(Spec form, const UserSizes& sizes) {
  std::ranges::copy(sizes, form.size.begin());
  for (int operand = 0; operand <= kMatmulInfo.output(); ++operand) {
    uint32_t& ld = form.tensor(operand).layout.ld;
    if (ld == 0) ld = static_cast<uint32_t>(ExtentOf(form, operand).inner);
  }
  return form;
}

ParsedSpec CanonicalRequest(const Spec& asked) {
  const CanonicalSpec canonical = Canonicalise(asked);
  ParsedSpec parsed{canonical.spec, canonical.swapped, PrintSpec(asked)};
  // The names and the order are the user's; `swapped` says which operand each is.
  for (int matrix : {MatmulDims::kLhs, MatmulDims::kRhs})
    parsed.parameters.push_back({std::string(kMatmulInfo.operands[static_cast<size_t>(matrix)].name),
                                 SwappedOperand(matrix, canonical.swapped)});
  int next = MatmulDims::kOut;
  for (std::string& name : EpilogueNames(asked.op_info().epilogue))
    parsed.parameters.push_back({std::move(name), ++next});
  parsed.parameters.push_back({"out", MatmulDims::kOut});
  return parsed;
}

absl::StatusOr<ParsedSpec> ParseSpec(const Word& text, std::string_view source) {
  const std::vector<Word> words = SplitWords(text);
  // A convolution has a shorthand of its own, whose spec form is wanted here.
  if (const OperationInfo* info = FindFunction(words[0].text); info != nullptr && info->image_axes > 0) {
    KIRSCH_ASSIGN_OR_RETURN(ShorthandKernel kernel, ParseShorthand(text, source));
    return std::move(kernel.spec);
  }
  if (FindContraction(words[0].text) == nullptr) {
    const std::vector<std::string_view> names = ContractionNames();
    return ExpectedAt(source, words[0], Cat("an operation (", Join(names, "|"), ")"),
                      DidYouMean(words[0].text, names));
  }
  KIRSCH_ASSIGN_OR_RETURN(const ParsedMatmul matmul, ParsedMatmul::Parse(words, source));
  if (matmul.range())
    return ExpectedAt(source, *matmul.range(),
                      "a single size (a range stands for many specs, and one is wanted here)");
  UserSizes sizes;
  for (size_t dim = 0; dim < sizes.size(); ++dim) sizes[dim] = matmul.ranges()[dim].low;
  KIRSCH_ASSIGN_OR_RETURN(const Spec asked, matmul.Member(sizes));
  return CanonicalRequest(asked);
}

}  // namespace kirsch
