// SPDX-License-Identifier: Apache-2.0
// Products of activations by the weights of a model, as engines ask for them: sizes come at run time, and a
// matrix's kernel is made by libkirsch when its shape is met first.
#ifndef KIRSCH_EXAMPLES_PRODUCTS_PRODUCTS_H_
#define KIRSCH_EXAMPLES_PRODUCTS_PRODUCTS_H_

#include <cstddef>
#include <kirsch.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace products {

// out[m, n] = sum over k of lhs[m, k] * weights[n, k], for any m; times a factor that a call gives, if
// `scaled`.
struct Shape {
  kirsch_type lhs = KIRSCH_F32, weights = KIRSCH_F32, out = KIRSCH_F32;
  size_t k = 0, n = 0;
  size_t lda = 0, ldb = 0, ldc = 0;  // elements from one row to the next of lhs, weights and out
  size_t rows = 512;                 // that one call of the kernel computes at most: more are done in pieces
  bool scaled = false;

  // Rows side by side, activations and results of f32.
  static Shape Dense(kirsch_type weights, size_t k, size_t n) {
    Shape shape;
    shape.weights = weights;
    shape.k = shape.lda = shape.ldb = k;
    shape.n = shape.ldc = n;
    return shape;
  }
  // Whether a copy of the weights is made that kernels read better, as those of f32 do, and blocks of
  // integers in panels. Others are widened or decoded as they come from memory, which a single row does best
  // as they lie, and more rows as well.
  bool Packs() const;
  size_t WeightsBytes() const;
  // The family of 1 to `rows` rows, in blocks of columns: any number of threads may share a call.
  std::string Text() const;
  bool operator<(const Shape& other) const { return Key() < other.Key(); }

 private:
  std::tuple<kirsch_type, kirsch_type, kirsch_type, size_t, size_t, size_t, size_t, size_t, size_t, bool>
  Key() const {
    return {lhs, weights, out, k, n, lda, ldb, ldc, rows, scaled};
  }
};

// 64-byte aligned memory.
class Memory {
 public:
  explicit Memory(size_t bytes = 0);
  void* data() const { return data_.get(); }
  // At least so many bytes: what was there before is lost if there were fewer.
  void* AtLeast(size_t bytes);

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> data_;
  size_t bytes_ = 0;
};

// Threads that share a call, and the scratch memory that calls of all products may use, one at a time.
class Workers {
 public:
  explicit Workers(size_t threads) : own_(threads) {}
  size_t threads() const { return own_.size(); }

 private:
  friend class Product;
  std::vector<Memory> own_;
  Memory shared_;
};

// Thread-safe, each thread with Workers of its own.
class Product {
 public:
  static kirsch::Result<Product> Make(const kirsch::Context& context, const Shape& shape);

  // Of the weights as the kernel reads them.
  size_t packed_bytes() const { return shape_.Packs() ? kernel_.packed_bytes() : shape_.WeightsBytes(); }
  // `packed`: 64-byte aligned, if the shape packs.
  kirsch::Result<kirsch::Done> Pack(const void* weights, void* packed) const;
  // `factor`: of a shape that is scaled.
  kirsch::Result<kirsch::Done> Run(size_t rows, const void* lhs, const void* packed, void* out,
                                   Workers& workers, float factor = 1) const;

 private:
  Product(const Shape& shape, kirsch::Kernel kernel) : shape_(shape), kernel_(std::move(kernel)) {}
  kirsch::Result<kirsch::Done> RunPiece(size_t rows, const std::vector<const void*>& operands,
                                        const void* packed, Workers& workers) const;
  std::vector<const void*> Operands(const void* lhs, const void* weights, const float* factor,
                                    const void* out) const;

  Shape shape_;
  kirsch::Kernel kernel_;
};

// Every shape's product, made once. Thread-safe.
class Products {
 public:
  // `table`: the file, or the directory of tables, that keeps what searches found; empty: none. Throws
  // kirsch::Exception.
  explicit Products(const std::string& table) : context_(kirsch::Context::Create(table).value()) {}
  // With the table that the environment variable KIRSCH_TABLE names.
  static Products& OfProcess();

  // Lives as long as this; searched for and compiled the first time, which takes seconds.
  kirsch::Result<const Product*> Find(const Shape& shape);

 private:
  const kirsch::Context context_;
  std::mutex mutex_;
  std::map<Shape, kirsch::Result<Product>> known_;
};

}  // namespace products

#endif  // KIRSCH_EXAMPLES_PRODUCTS_PRODUCTS_H_
