// SPDX-License-Identifier: Apache-2.0
// Writes the comment at the top of an emitted file, which is the file's manual. It says all that a caller has
// to know, since the file goes where these sources are not. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_HEADER_COMMENT_H_
#define KIRSCH_CODEGEN_HEADER_HEADER_COMMENT_H_

#include <string>

#include "codegen/header/header_file.h"

namespace kirsch {

// Returns // lines. They say what the file has, what it requires, how it is included and called, and what
// schedules it follows.
std::string HeaderComment(const HeaderFile& file);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_HEADER_COMMENT_H_
