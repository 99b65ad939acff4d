// SPDX-License-Identifier: Apache-2.0
// Says where the elements of a root spec's operands lie in the caller's buffers. Thread-safe: pure functions.
#ifndef KIRSCH_SPEC_STORAGE_H_
#define KIRSCH_SPEC_STORAGE_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "spec/element_array.h"
#include "spec/spec.h"

namespace kirsch {

using AxisArray = std::array<int64_t, kMaxAxes>;

// The caller's buffers, one for each operand of the op, inputs first. Each points to element (0, 0, ...), of
// the type that the spec says (spec/element.h).
using ConstOperands = std::array<const void*, kMaxOperands>;

// The extent of each axis of an operand; 1 for axes it lacks.
AxisArray AxisExtents(const Spec& spec, int operand);

// How the indices along each axis of a root's operand become offsets; default values for axes it lacks.
std::array<DigitAxis, kMaxAxes> RootAxes(const Spec& root, int operand);

// Elements between neighbours along each axis of a kStrided operand whose tile is the whole stored matrix;
// 0 for axes it lacks. Matrices of a batch follow each other after `outer extent * ld` elements.
AxisArray RootStrides(const Spec& root, int operand);

// Reads a run: to[i] = element `index + i` along `axis`, as a number. Element 0 is number `first` of the
// data.
template <typename Number>
void LoadAlong(Dtype dtype, const void* data, int64_t first, const DigitAxis& axis, int64_t index,
               int64_t count, Number* to) {
  for (int64_t done = 0; done < count;) {
    const int64_t run = std::min(count - done, axis.RunLength(index + done));
    LoadRun(dtype, data, first + axis.At(index + done), axis.stride(0), run, to + done);
    done += run;
  }
}

// The elements from the first to the last one of the operand: the least that the caller's buffer holds. The
// last row ends with its last element, not with its leading dimension.
int64_t RootElements(const Spec& root, int operand);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_STORAGE_H_
