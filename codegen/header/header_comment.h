// SPDX-License-Identifier: Apache-2.0
// The comment at the top of an emitted file. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_HEADER_COMMENT_H_
#define KIRSCH_CODEGEN_HEADER_HEADER_COMMENT_H_

#include <string>

#include "codegen/header/header_file.h"

namespace kirsch {

// What the file has, what it requires, how it is included and called, what schedules it follows; as // lines.
std::string HeaderComment(const HeaderFile& file);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_HEADER_COMMENT_H_
