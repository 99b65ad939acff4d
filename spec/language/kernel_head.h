// SPDX-License-Identifier: Apache-2.0
// Reads the sizes in the head of a kernel that have names, so that one text stands for a family of graphs.
#ifndef KIRSCH_SPEC_LANGUAGE_KERNEL_HEAD_H_
#define KIRSCH_SPEC_LANGUAGE_KERNEL_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/language/mixture.h"
#include "spec/language/token_reader.h"
#include "spec/language/varying_size.h"
#include "spec/text/text.h"

namespace kirsch {

// A kernel's name, and the sizes that have names: "kernel NAME[m = 1..64 mixture=1:0.7,64:0.3, n =
// 8|16, t = m + n](...".
struct KernelHead {
  std::string name;
  std::vector<VaryingSize> sizes;
  std::vector<TiedSize> ties = {};  // sums of `sizes`
  // For each size, how often its values are asked for; empty: each as often as the others.
  // `mixture_at` is where the first mixture stands: a mixture that means nothing is an error there.
  std::vector<std::vector<SizeShare>> mixtures = {};
  std::optional<TextPosition> mixture_at = {};
};

// The names of sizes, as they are read and used. Errors are InvalidArgument, one line, with the place.
class SizeNames {
 public:
  // Reads from the bracket to its end; VALUES are one token, as '.' and '|' are characters of words:
  //
  //   [NAME = VALUES [step SIZE] [mixture=SHARES], NAME = SUM, ...]
  //
  // `check_name` gives an error if the kernel may not use a name.
  absl::Status Parse(TokenReader& tokens, absl::FunctionRef<absl::Status(const Word&)> check_name);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // Returns the value of a name, and marks it as used. `values`: as ParseGraph has them.
  std::optional<uint32_t> Use(std::string_view name, absl::Span<const uint32_t> values);
  // Returns a name that was not used, or null. If no type has a size, nor a sum that it is part of, members
  // would be all the same.
  const Word* Unused() const;
  // "m, n, "
  std::string Listed() const;
  // Reads the mixtures, too.
  absl::StatusOr<KernelHead> Head(std::string_view source, const std::string& kernel) const;

 private:
  // A size that varies, or follows from others.
  struct NamedSize {
    Word name, written;                // its name, and the first word of what it is
    std::vector<uint32_t> values;      // none of a sum
    std::optional<SizeSum> sum = {};   // of sizes without one, by their numbers among these
    size_t number = 0;                 // among sizes of its kind
    std::optional<Word> mixture = {};  // what stands behind "mixture="
    bool used = false;
  };

  absl::Status TakeValues(TokenReader& tokens, NamedSize* size) const;
  absl::Status TakeSum(TokenReader& tokens, NamedSize* size) const;
  absl::Status CheckNoughts(std::string_view source) const;
  const NamedSize* Find(std::string_view name) const;

  std::vector<NamedSize> sizes_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_KERNEL_HEAD_H_
