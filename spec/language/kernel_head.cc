// SPDX-License-Identifier: Apache-2.0
#include "spec/language/kernel_head.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "spec/spec.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr size_t kMaxSizeNames = 4;
constexpr size_t kMostTerms = 8;  // of a sum of sizes, which is no more than so many times kMaxSide
constexpr std::string_view kMixtureWord = "mixture", kStepWord = "step";

// "step 32": of the values, those that are so far apart, from the first on.
absl::Status TakeStep(TokenReader& tokens, std::vector<uint32_t>* values) {
  tokens.Take();
  const Word word = tokens.Take();
  KIRSCH_ASSIGN_OR_RETURN(const uint32_t step, ParseNumber(tokens.source(), word, "a step", 1, kMaxSide));
  const uint32_t first = values->front();
  if (values->back() - first + 1 != values->size())
    return tokens.Expected(word, "a step of a single range, as in 32..1024 step 32");
  const auto is_between = [&](uint32_t value) { return (value - first) % step != 0; };
  values->erase(std::remove_if(values->begin(), values->end(), is_between), values->end());
  if (step > 1 && values->size() > kMostMembers)
    return tokens.Expected(word, Cat("a step that leaves at most ", kMostMembers, " sizes"));
  return absl::OkStatus();
}

// The text of a mixture, "1:0.7,64:0.3". Its tokens stand side by side in the line, so it is the text from
// the first to the last of them. It ends at a comma before a name, which begins another size, or at the
// bracket, or with the line.
Word TakeShares(TokenReader& tokens) {
  const Word first = tokens.Peek();
  size_t length = 0;
  while (!tokens.Peek().text.empty() && tokens.Peek().text != "]") {
    const Word& behind = tokens.PeekBehind();
    if (tokens.Peek().text == "," && (behind.text.empty() || behind.position.line != first.position.line ||
                                      !absl::ascii_isdigit(static_cast<unsigned char>(behind.text[0]))))
      break;
    const Word part = tokens.Take();
    length = static_cast<size_t>(part.text.data() + part.text.size() - first.text.data());
  }
  return {{first.text.data(), length}, first.position};
}

}  // namespace

absl::Status SizeNames::Parse(TokenReader& tokens, absl::FunctionRef<absl::Status(const Word&)> check_name) {
  do {
    tokens.Take();
    const Word name = tokens.Take();
    KIRSCH_RETURN_IF_ERROR(check_name(name));
    if (sizes_.size() == kMaxSizeNames)
      return tokens.Expected(name, Cat("at most ", kMaxSizeNames, " sizes"));
    KIRSCH_RETURN_IF_ERROR(tokens.TakeSign("="));
    const bool is_sum = Has(tokens.Peek().text) || tokens.PeekBehind().text == "+";
    NamedSize size{name, tokens.Peek(), {}};
    KIRSCH_RETURN_IF_ERROR(is_sum ? TakeSum(tokens, &size) : TakeValues(tokens, &size));
    const auto is_alike = [&](const NamedSize& other) { return other.sum.has_value() == is_sum; };
    size.number = static_cast<size_t>(std::ranges::count_if(sizes_, is_alike));
    sizes_.push_back(std::move(size));
  } while (tokens.Peek().text == ",");
  KIRSCH_RETURN_IF_ERROR(CheckNoughts(tokens.source()));
  return tokens.TakeSign("]");
}

// VALUES [step SIZE] [mixture=SHARES]
absl::Status SizeNames::TakeValues(TokenReader& tokens, NamedSize* size) const {
  const Word word = tokens.Take();
  KIRSCH_ASSIGN_OR_RETURN(std::vector<uint32_t> values,
                          ParseValues(tokens.source(), word, word.text.starts_with('0') ? 0 : 1));
  size->values = std::move(values);
  if (tokens.Peek().text == kStepWord) KIRSCH_RETURN_IF_ERROR(TakeStep(tokens, &size->values));
  if (tokens.Peek().text != kMixtureWord) return absl::OkStatus();
  tokens.Take();
  KIRSCH_RETURN_IF_ERROR(tokens.TakeSign("="));
  size->mixture = TakeShares(tokens);
  return absl::OkStatus();
}

// TERM + TERM + ..., where a term is a number or the name of a size before. What stands for a sum is replaced
// by its terms.
absl::Status SizeNames::TakeSum(TokenReader& tokens, NamedSize* size) const {
  SizeSum sum;
  while (true) {
    const Word term = tokens.Take();
    if (const NamedSize* const named = Find(term.text); named != nullptr) {
      const SizeSum of = named->sum.value_or(SizeSum(named->number));
      sum.sizes.insert(sum.sizes.end(), of.sizes.begin(), of.sizes.end());
      sum.plus += of.plus;
    } else {
      KIRSCH_ASSIGN_OR_RETURN(
          const uint32_t number,
          ParseNumber(tokens.source(), term, "the name of a size before, or a number", 1, kMaxSide));
      sum.plus += number;
    }
    if (sum.sizes.size() > kMostTerms || sum.plus > kMaxSide)
      return tokens.Expected(term,
                             Cat("a sum of at most ", kMostTerms, " sizes, and of numbers up to ", kMaxSide));
    if (tokens.Peek().text != "+") break;
    tokens.Take();
  }
  if (sum.sizes.empty()) return tokens.Expected(size->written, "a sum that has some size, as in t = q + 128");
  std::ranges::sort(sum.sizes);
  size->sum = std::move(sum);
  return absl::OkStatus();
}

// A size may be 0 only if it is part of a sum.
absl::Status SizeNames::CheckNoughts(std::string_view source) const {
  for (const NamedSize& size : sizes_) {
    const bool in_sum = std::ranges::any_of(
        sizes_, [&](const NamedSize& other) { return other.sum && other.sum->Has(size.number); });
    if (size.sum || in_sum || size.values.front() > 0) continue;
    return ParseValues(source, size.written).status();
  }
  return absl::OkStatus();
}

const SizeNames::NamedSize* SizeNames::Find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(sizes_, [&](const NamedSize& size) { return size.name.text == name; });
  return found == sizes_.end() ? nullptr : &*found;
}

// With a sum, all sizes that it is made of are used.
std::optional<uint32_t> SizeNames::Use(std::string_view name, absl::Span<const uint32_t> values) {
  const NamedSize* const named = Find(name);
  if (named == nullptr) return std::nullopt;
  for (NamedSize& size : sizes_)
    size.used |= &size == named || (!size.sum && named->sum && named->sum->Has(size.number));
  const auto is_free = [](const NamedSize& other) { return !other.sum; };
  const auto free = static_cast<size_t>(std::ranges::count_if(sizes_, is_free));
  return values[named->sum ? free + named->number : named->number];
}

const Word* SizeNames::Unused() const {
  const auto found = std::ranges::find_if(sizes_, [](const NamedSize& size) { return !size.used; });
  return found == sizes_.end() ? nullptr : &found->name;
}

std::string SizeNames::Listed() const {
  std::string text;
  for (const NamedSize& size : sizes_) Append(&text, size.name.text, ", ");
  return text;
}

absl::StatusOr<KernelHead> SizeNames::Head(std::string_view source, const std::string& kernel) const {
  KernelHead head{kernel, {}};
  for (const NamedSize& size : sizes_) {
    if (size.sum) {
      head.ties.push_back({std::string(size.name.text), *size.sum});
      continue;
    }
    head.sizes.push_back({std::string(size.name.text), size.values});
    head.mixtures.emplace_back();
    if (!size.mixture) continue;
    KIRSCH_ASSIGN_OR_RETURN(std::vector<SizeShare> mixture,
                            ParseMixture(source, *size.mixture, head.sizes.back()));
    head.mixtures.back() = std::move(mixture);
    if (!head.mixture_at) head.mixture_at = size.mixture->position;
  }
  return head;
}

}  // namespace kirsch
