// SPDX-License-Identifier: Apache-2.0
// Computes products of activations by the weights of a model, as engines ask for them: sizes come at run
// time, and libkirsch makes a matrix's kernel when its shape is met first.
//
//   Products::Find(shape)    ->  searched for and compiled the first time
//   Product::Pack(weights)   ->  a copy that kernels read better, once
//   Product::Run(rows, ...)  ->  pieces of up to shape.rows rows, each shared out to threads by columns
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
  // True if a copy of the weights is made that kernels read better. Those of f32 do, and blocks of integers
  // in panels. Others are widened or decoded as they come from memory, which a single row does best as they
  // lie, and more rows as well.
  bool Packs() const;
  // Bytes of the weights as they are, gaps between rows included.
  size_t WeightsBytes() const;
  // Returns the spec: the family of 1 to `rows` rows, in blocks of columns, so that any number of threads may
  // share a call.
  std::string Text() const;
  bool operator<(const Shape& other) const { return Key() < other.Key(); }

 private:
  std::tuple<kirsch_type, kirsch_type, kirsch_type, size_t, size_t, size_t, size_t, size_t, size_t, bool>
  Key() const {
    return {lhs, weights, out, k, n, lda, ldb, ldc, rows, scaled};
  }
};

// Owns memory that is 64-byte aligned, in huge pages where it is large and the system has them.
class Memory {
 public:
  explicit Memory(size_t bytes = 0);
  void* data() const { return data_.get(); }
  // Makes it at least so many bytes. What was there before is lost if there were fewer. Throws
  // std::bad_alloc.
  void* AtLeast(size_t bytes);

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> data_;
  size_t bytes_ = 0;
};

// Threads that share a call, and the scratch memory of calls. All products may use it, one call at a time.
class Workers {
 public:
  explicit Workers(size_t threads) : own_(threads) {}
  size_t threads() const { return own_.size(); }

 private:
  friend class Product;
  std::vector<Memory> own_;
  Memory shared_;
};

// The kernel of one shape. Thread-safe, if each thread has Workers of its own.
class Product {
 public:
  // Searches for the kernel and compiles it.
  static kirsch::Result<Product> Make(const kirsch::Context& context, const Shape& shape);

  // Bytes of the weights as the kernel reads them.
  size_t packed_bytes() const { return shape_.Packs() ? kernel_.packed_bytes() : shape_.WeightsBytes(); }
  // Packs the weights; copies them if the shape does not pack. `packed` is 64-byte aligned, if the shape
  // packs.
  kirsch::Result<kirsch::Done> Pack(const void* weights, void* packed) const;
  // Computes `rows` rows. `packed` is what Pack wrote, or the weights themselves if the shape does not pack.
  // `factor` is for a shape that is scaled.
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

// Makes every shape's product once. Thread-safe.
class Products {
 public:
  // `table`: the file, or the directory of tables, that keeps what searches found; empty: none. Throws
  // kirsch::Exception.
  explicit Products(const std::string& table) : context_(kirsch::Context::Create(table).value()) {}
  // Returns the one that the process shares. Its table is what the environment variable KIRSCH_TABLE names.
  static Products& OfProcess();

  // Returns the shape's product, which lives as long as this. It is searched for and compiled the first time,
  // which takes seconds; an error is kept, too.
  kirsch::Result<const Product*> Find(const Shape& shape);

 private:
  const kirsch::Context context_;
  std::mutex mutex_;
  std::map<Shape, kirsch::Result<Product>> known_;
};

}  // namespace products

#endif  // KIRSCH_EXAMPLES_PRODUCTS_PRODUCTS_H_
