// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of files of kernels: specs, families, shorthands, and the kernel language.
#include <cstddef>
#include <cstdint>

#include "spec/language/kernel_file.h"
#include "tests/fuzz/fuzz.h"

using kirsch::testing::Require;
using kirsch::testing::RequireOneLine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto requests = kirsch::ParseKernelFile(text, "f");
  RequireOneLine(requests.status(), "f:");
  if (!requests.ok()) return 0;
  for (const kirsch::KernelRequest& request : *requests) {
    const auto again = kirsch::ParseKernelLine(request.text(), "f");
    Require(again.ok(), "a kernel whose text can be read", request.text());
    Require(again->text() == request.text(), "the kernel that its text is", request.text());
    Require(again->count() == request.count(), "as many members", request.text());
  }
  return 0;
}
