// The procedures that copy a tile of an operand into a packed buffer.
#ifndef KIRSCH_CODEGEN_PACK_H_
#define KIRSCH_CODEGEN_PACK_H_

#include <cstdint>
#include <string>

#include "codegen/loop_program.h"
#include "codegen/matrix_layout.h"

namespace kirsch {

struct Pack {
  int vector_bytes = 0;          // of the widest vectors
  int64_t outer = 0, inner = 0;  // of the copy's stored matrix
  // `from` has no panels; a different order means that the copy transposes, a wider type that it widens. Rows
  // that are no whole vectors apart are written one after the other, each beyond its end: by less than a
  // vector.
  MatrixLayout from, to;
  int64_t inner_stride = 1;  // of `from`: elements between neighbours; not 1: the copy keeps the order
  bool exact = false;        // nothing is written beyond the elements of a row; `to` has no panels

  // Unique among copies that differ.
  std::string Name() const;
};

// The procedure: (from, to). The last panel and the last group are filled up with zeros; other
// padding is left undefined.
Procedure PackProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_PACK_H_
