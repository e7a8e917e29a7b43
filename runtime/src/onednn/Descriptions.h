// What oneDNN is told of an operation: the numbers of kiln/onednn.h as primitive descriptions.
#ifndef KILN_ONEDNN_DESCRIPTIONS_H
#define KILN_ONEDNN_DESCRIPTIONS_H

#include "kiln/onednn.h"
#include <oneapi/dnnl/dnnl.h>

namespace kiln_onednn {

constexpr int maxArguments = 4, noArgument = -1;

struct Argument {
  int id;
  dnnl_memory_desc_t desc;
};

// Makes one primitive's description; the first failure stays.
struct Maker {
  explicit Maker(dnnl_engine_t engine) : engine(engine) {}
  dnnl_engine_t engine;
  dnnl_status_t status = dnnl_success;
  dnnl_primitive_attr_t attributes = nullptr;
  dnnl_primitive_desc_t made = nullptr;

  ~Maker() { reset(); }
  void reset() {
    dnnl_primitive_attr_destroy(attributes);
    dnnl_primitive_desc_destroy(made);
    attributes = nullptr;
    made = nullptr;
    status = dnnl_success;
  }
  void check(dnnl_status_t next) {
    if (status == dnnl_success)
      status = next;
  }
  dnnl_memory_desc_t dense(int rank, const dnnl_dim_t *dims, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t desc = {};
    check(dnnl_memory_desc_init_by_tag(&desc, rank, dims, dnnl_f32, tag));
    return desc;
  }
  dnnl_memory_desc_t strided(int rank, const dnnl_dim_t *dims, const dnnl_dim_t *strides) {
    dnnl_memory_desc_t desc = {};
    check(dnnl_memory_desc_init_by_strides(&desc, rank, dims, dnnl_f32, strides));
    return desc;
  }
  void finish(const void *description, int64_t flags) {
    check(dnnl_primitive_attr_create(&attributes));
    check(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user));
    if (flags & KILN_ONEDNN_RELU) {
      dnnl_post_ops_t after = nullptr;
      check(dnnl_post_ops_create(&after));
      check(dnnl_post_ops_append_eltwise(after, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f));
      check(dnnl_primitive_attr_set_post_ops(attributes, after));
      dnnl_post_ops_destroy(after);
    }
    if (status == dnnl_success)
      check(dnnl_primitive_desc_create(&made, description, attributes, engine, nullptr));
  }
  const dnnl_memory_desc_t *query(dnnl_query_t what) const { return dnnl_primitive_desc_query_md(made, what, 0); }
};

// What a primitive works on: its arguments in the order of the function's parameters, as it wants them and as the caller has them.
struct Arguments {
  Argument list[maxArguments];
  dnnl_memory_desc_t given[maxArguments];
  int count = 0;
  // The one that has the same values in each call.
  int constant = noArgument;

  void add(int id, const dnnl_memory_desc_t &have, const dnnl_memory_desc_t &want) {
    given[count] = have;
    list[count++] = {id, want};
  }
  void add(int id, const dnnl_memory_desc_t &desc) { add(id, desc, desc); }
};

struct MatmulNumbers {
  int64_t flags, rank, lhsAt, rhsAt;
  const int64_t *batch, *rows, *columns, *depth, *lhsStrides, *rhsStrides;

  explicit MatmulNumbers(const int64_t *n) : flags(n[0]), rank(n[1]), lhsAt(n[2]), rhsAt(n[3]), batch(n + 4) {
    rows = batch + rank - 2;
    columns = rows + 1;
    depth = rows + 2;
    lhsStrides = rows + 3;
    rhsStrides = lhsStrides + rank;
  }
  int64_t count() const { return 4 + rank + 1 + 2 * rank; }
  int64_t elements() const {
    int64_t count = *rows * *columns;
    for (int i = 0; i + 2 < rank; ++i)
      count *= batch[i];
    return count;
  }
};

void makeMatmul(const int64_t *numbers, Maker &maker, Arguments &arguments);
// Behind the numbers of the function: how far apart the pixels of the result lie.
void makeConv(const int64_t *numbers, Maker &maker, Arguments &arguments);
void makeSoftmax(const int64_t *numbers, Maker &maker, Arguments &arguments);
void makeLayerNorm(const int64_t *numbers, float epsilon, Maker &maker, Arguments &arguments);

} // namespace kiln_onednn

#endif // KILN_ONEDNN_DESCRIPTIONS_H
