// SPDX-License-Identifier: Apache-2.0
#include "weights.h"

#include <iterator>
#include <utility>

namespace products {

kirsch::Result<Weights> WeightsByAddress::Find(const Shape& shape, const void* matrix) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The lock is held while a matrix is packed, so that two threads don't pack it twice.
  const auto key = std::make_pair(matrix, shape);
  if (const auto known = known_.find(key); known != known_.end()) return known->second.weights;
  const kirsch::Result<const Product*> product = products_.Find(shape);
  if (!product) return product.error();
  // Without a copy, products read the matrix itself.
  Known known;
  known.weights = {*product, matrix};
  if (shape.Packs()) {
    known.weights.packed = known.memory.AtLeast((*product)->packed_bytes());
    const kirsch::Result<kirsch::Done> packed = (*product)->Pack(matrix, known.memory.data());
    if (!packed) return packed.error();
  }
  return known_.emplace(key, std::move(known)).first->second.weights;
}

void WeightsByAddress::Forget(const void* matrix) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The same matrix may be known in several shapes.
  for (auto known = known_.begin(); known != known_.end();)
    known = known->first.first == matrix ? known_.erase(known) : std::next(known);
}

void WeightsByAddress::ForgetAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  known_.clear();
}

}  // namespace products
