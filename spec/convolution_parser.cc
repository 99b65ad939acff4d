#include "spec/convolution_parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include "spec/canonical.h"
#include "spec/cat.h"
#include "spec/convolution.h"
#include "spec/epilogue_parser.h"
#include "spec/printer.h"
#include "spec/shorthand.h"
#include "spec/types_parser.h"

namespace kirsch {
namespace {

constexpr std::string_view kLayoutNames[] = {"nhwc", "nchw"};  // by ConvLayout

class ConvolutionParser {
 public:
  ConvolutionParser(std::string_view source, const MatmulTypes& types) : source_(source), types_(types) {}

  // `words`: what follows the types.
  absl::StatusOr<ParsedSpec> Parse(const Word& types, absl::Span<const Word> words) {
    const Word& sizes = words.front();
    if (absl::Status status = ParseInput(sizes); !status.ok()) return status;
    words.remove_prefix(1);
    for (; !words.empty() && !words.front().text.empty(); words.remove_prefix(1))
      if (absl::Status status = ParseOption(words.front()); !status.ok()) return status;
    if (absl::Status status = Check(sizes, words.empty() ? sizes : words.front()); !status.ok())
      return status;
    if (absl::Status status = CheckTypes(source_, types, types_, epilogue_); !status.ok()) return status;
    Spec spec = ConvolutionSpec(shape_, types_, epilogue_);
    spec.accumulate = accumulate_;
    spec.fixed_order = fixed_order_ ? 1 : 0;
    spec.operand[static_cast<size_t>(FiltersOperand(shape_.layout))].constant = constant_ ? 1 : 0;
    const CanonicalSpec canonical = Canonicalise(spec);
    return ParsedSpec{canonical.spec, canonical.swapped, Text()};
  }

 private:
  static constexpr std::string_view kOptions =
      "an option (filters=N kernel=HxW stride=N dilation=N layout=nchw|nhwc accumulate const-filters "
      "fixed-order epilogue=STEPS)";

  absl::Status Expected(const Word& word, std::string_view expected) const {
    return ExpectedAt(source_, word, expected);
  }

  absl::Status ParseInput(const Word& word) {
    const std::vector<Word> sides = Split(word, 'x');
    if (sides.size() != 4) return Expected(word, "the input's sizes as IMAGESxCHANNELSxHEIGHTxWIDTH");
    int64_t* const to[] = {&shape_.images, &shape_.channels, &shape_.height, &shape_.width};
    for (size_t i = 0; i < 4; ++i)
      if (absl::Status status = ParseSize(sides[i], "a size", to[i]); !status.ok()) return status;
    return absl::OkStatus();
  }

  absl::Status ParseSize(const Word& word, std::string_view what, int64_t* to) {
    absl::StatusOr<uint32_t> size = ParseNumber(source_, word, what, 1, kMaxSide);
    if (size.ok()) *to = *size;
    return size.status();
  }

  absl::Status ParseOption(const Word& word) {
    const size_t equals = std::min(word.text.find('='), word.text.size());
    const std::string_view key = word.text.substr(0, equals);
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) return Expected(word, "each option once");
    seen_.push_back(key);
    for (const auto& [name, flag] :
         {std::pair(kAccumulateWord, &accumulate_), std::pair(kConstantFiltersWord, &constant_),
          std::pair(kFixedOrderWord, &fixed_order_)})
      if (word.text == name) {
        *flag = true;
        return absl::OkStatus();
      }
    if (equals == word.text.size()) return Expected(word, kOptions);
    return ParseValue(key, word, word.Part(equals + 1));
  }

  absl::Status ParseValue(std::string_view key, const Word& word, const Word& value) {
    if (key == "filters") return ParseSize(value, "a number of filters", &shape_.filters);
    if (key == "stride") return ParseSize(value, "a stride", &shape_.stride);
    if (key == "dilation") return ParseSize(value, "a dilation", &shape_.dilation);
    if (key == "kernel") return ParseKernel(value);
    if (key == "layout") return ParseLayout(value);
    if (key == "pad" && value.text != "0")
      return Expected(value, "pad=0 (the input is to be padded in memory already)");
    if (key == "groups" && value.text != "1")
      return Expected(value, "groups=1 (one group is one convolution)");
    if (key == "pad" || key == "groups") return absl::OkStatus();
    if (key != kEpilogueWord) return Expected(word, kOptions);
    absl::StatusOr<Epilogue> epilogue = ParseEpilogue(source_, value, AccumulatorOf(types_.lhs));
    if (epilogue.ok()) epilogue_ = *epilogue;
    return epilogue.status();
  }

  absl::Status ParseKernel(const Word& word) {
    const std::vector<Word> sides = Split(word, 'x');
    if (sides.size() != 2) return Expected(word, "a kernel's sizes as HEIGHTxWIDTH");
    absl::Status status = ParseSize(sides[0], "a height", &shape_.kernel_height);
    return status.ok() ? ParseSize(sides[1], "a width", &shape_.kernel_width) : status;
  }

  absl::Status ParseLayout(const Word& word) {
    for (ConvLayout layout : {ConvLayout::kNhwc, ConvLayout::kNchw})
      if (word.text == kLayoutNames[static_cast<size_t>(layout)]) {
        shape_.layout = layout;
        return absl::OkStatus();
      }
    return Expected(word, "nchw or nhwc");
  }

  bool Seen(std::string_view key) const { return std::find(seen_.begin(), seen_.end(), key) != seen_.end(); }

  // `end`: where an option is missing.
  absl::Status Check(const Word& sizes, const Word& end) const {
    for (std::string_view key : {"filters", "kernel", "layout"})
      if (!Seen(key)) return Expected(end, Cat(key, "="));
    if (shape_.height <= (shape_.kernel_height - 1) * shape_.dilation ||
        shape_.width <= (shape_.kernel_width - 1) * shape_.dilation)
      return Expected(sizes, "an input at least as high and wide as the kernel");
    if (shape_.layout == ConvLayout::kNchw && shape_.images > 1)
      return Expected(sizes, "a single image with layout=nchw");
    if (shape_.channels > kMaxElements / shape_.height / shape_.width / shape_.images)
      return Expected(sizes, Cat("at most ", kMaxElements, " elements in the input"));
    for (int64_t side : {shape_.pixels(), shape_.taps()})
      if (side > kMaxSide)
        return Expected(sizes, Cat("at most ", kMaxSide, " pixels in out and terms in a sum"));
    if (shape_.pixels() * shape_.filters > kMaxElements)
      return Expected(sizes, Cat("at most ", kMaxElements, " elements in out"));
    if (accumulate_ && !epilogue_.empty()) return Expected(end, "no epilogue where the output is added to");
    return absl::OkStatus();
  }

  // The shortest form.
  std::string Text() const {
    const ConvShape& s = shape_;
    std::string text =
        Cat(kConvolutionWord, " ", PrintTypes(types_), " ", s.images, "x", s.channels, "x", s.height, "x",
            s.width, " filters=", s.filters, " kernel=", s.kernel_height, "x", s.kernel_width);
    if (s.stride > 1) Append(&text, " stride=", s.stride);
    if (s.dilation > 1) Append(&text, " dilation=", s.dilation);
    Append(&text, " layout=", kLayoutNames[static_cast<size_t>(s.layout)]);
    if (accumulate_) Append(&text, " ", kAccumulateWord);
    if (constant_) Append(&text, " ", kConstantFiltersWord);
    if (fixed_order_) Append(&text, " ", kFixedOrderWord);
    if (!epilogue_.empty())
      Append(&text, " ", kEpilogueWord, "=", PrintEpilogue(epilogue_, AccumulatorOf(types_.lhs)));
    return text;
  }

  const std::string_view source_;
  const MatmulTypes types_;
  ConvShape shape_;
  Epilogue epilogue_;
  bool accumulate_ = false, constant_ = false, fixed_order_ = false;
  std::vector<std::string_view> seen_;
};

}  // namespace

absl::StatusOr<ParsedSpec> ParseConvolution(std::string_view source, absl::Span<const Word> words) {
  absl::StatusOr<MatmulTypes> types = ParseTypes(source, words[1]);
  if (!types.ok()) return types.status();
  return ConvolutionParser(source, *types).Parse(words[1], words.subspan(2));
}

}  // namespace kirsch
