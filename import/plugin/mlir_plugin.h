// SPDX-License-Identifier: Apache-2.0
// Declares what the plug-in kirsch_mlir does for mlir_reader.h. It is the only code that is linked with MLIR,
// so that kirsch itself builds, runs, and starts quickly, where there is none.
//
// Functions are plain C, as they are looked up by name.
#ifndef KIRSCH_IMPORT_PLUGIN_MLIR_PLUGIN_H_
#define KIRSCH_IMPORT_PLUGIN_MLIR_PLUGIN_H_

#include <cstdint>

extern "C" {

// Parses a module in MLIR's text or bytecode, and hands it to `take(context, data, bytes)` as JSON
// (mlir_module.h says what is in it). `source` is what errors call the text. Returns 1; or 0, if the text is
// no module: then `take` gets the first error, as "<source>:<line>:<column>: <what>".
int kirsch_mlir_read(const char* text, int64_t bytes, const char* source,
                     void (*take)(void*, const char*, int64_t), void* context);

}  // extern "C"

#endif  // KIRSCH_IMPORT_PLUGIN_MLIR_PLUGIN_H_
