// SPDX-License-Identifier: Apache-2.0
// Reads files of kernels, by custom NAME.kirsch. The grammar is in docs/spec.md.
//
//   layer = matmul f32 1..16x64x64         # a name, a shorthand with a range
//   softmax f32 32x128                     # its name is made from its text
//   kernel r(x: f32[8]): y = neg(x); return relu(y)
#ifndef KIRSCH_SPEC_LANGUAGE_KERNEL_FILE_H_
#define KIRSCH_SPEC_LANGUAGE_KERNEL_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/language/kernel_family.h"

namespace kirsch {

// One kernel that is asked for: a spec, a graph, or a family of either. A kernel that a spec can say is a
// spec, however it is written, so that the same question has one answer.
struct KernelRequest {
  std::string name;  // a C identifier; without one in the file, that of its text
  KernelFamily family;
  std::string source = {};     // what errors about a graph call its text
  TextPosition position = {};  // where it begins in its file
  std::string label = {};      // what reports call it: the name that it was given, or its text
  // The same kernel as a graph, where it is a spec that was written as an operation or in the kernel
  // language.
  std::optional<GraphFamily> graph = {};

  int64_t count() const { return family.count(); }  // of members
  std::vector<VaryingSize> sizes() const { return family.sizes(); }
  const std::string& text() const { return family.text(); }

  // The graph in place of the spec, if there is one: for what only plans of graphs have, as Winograd's
  // algorithm of convolutions has.
  void UseGraph();
  void UseGraphOfConvolution();  // the same, unless there is no convolution in it
};

// Reads a kernel that is an argument and no file: a shorthand, with ranges or without, or one kernel in the
// kernel language. Errors are as of ParseKernelFile.
absl::StatusOr<KernelRequest> ParseKernelLine(std::string_view text, std::string_view source);

// Reads the text of a file of shorthands and of kernels in the kernel language, in its order. There is at
// least one kernel, and no name twice. Any text is safe to pass. An error is InvalidArgument, one line:
// "<source>:<line>:<column>: expected <what>, got '<text>'".
absl::StatusOr<std::vector<KernelRequest>> ParseKernelFile(std::string_view text, std::string_view source);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_KERNEL_FILE_H_
