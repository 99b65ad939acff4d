// SPDX-License-Identifier: Apache-2.0
// Keeps the packed weights of engines that hand over plain matrices. Such a matrix stays where it is and,
// until it is forgotten, as it is: its address tells it.
#ifndef KIRSCH_EXAMPLES_PRODUCTS_WEIGHTS_H_
#define KIRSCH_EXAMPLES_PRODUCTS_WEIGHTS_H_

#include <map>
#include <mutex>
#include <utility>

#include "products.h"

namespace products {

// A matrix of weights: its product, and what that reads.
struct Weights {
  const Product* product = nullptr;
  const void* packed = nullptr;
};

// Packed weights by address and shape. Thread-safe.
class WeightsByAddress {
 public:
  explicit WeightsByAddress(Products& products) : products_(products) {}

  // Returns the matrix at `matrix`, packed the first time where its shape packs.
  kirsch::Result<Weights> Find(const Shape& shape, const void* matrix);
  // Drop what was packed of the matrix at `matrix`, which changes or goes, or of all. No product may be
  // reading it.
  void Forget(const void* matrix);
  void ForgetAll();

 private:
  struct Known {
    Memory memory;
    Weights weights;
  };
  Products& products_;
  std::mutex mutex_;
  std::map<std::pair<const void*, Shape>, Known> known_;
};

}  // namespace products

#endif  // KIRSCH_EXAMPLES_PRODUCTS_WEIGHTS_H_
