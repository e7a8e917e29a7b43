//===- BatchedScan.cpp - Scan of opset 8 --------------------------------------===//
//
//   final, rows = Scan(lengths, state [batch, ...], x [batch, steps, ...])      one scan without the batch for each of its entries
//
// An entry that is finished keeps its state, and its later rows are zero.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/BatchedScan.h"
#include "compiler/import/RolledLoops.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

using namespace mlir;

namespace kiln::import {

static constexpr int64_t mostBatchedSteps = 4096, mostEntries = 1024;

namespace {
class BatchedScan {
public:
  BatchedScan(Node &node, const onnx::GraphProto &graph) : node(node), graph(graph) {}
  LogicalResult run();

private:
  LogicalResult readOperands();
  Value entryOf(Value whole, int64_t at) const;
  Value numberOf(AffineExpr expr) const { return materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI64Type()), Number{expr}); }
  Value sliceOf(Value value, bool isBackwards, AffineExpr step) const;
  FailureOr<SmallVector<Value>> takeStep(AffineExpr step, ArrayRef<Value> carried, const Twine &prefix) const;
  LogicalResult keepFinished(AffineExpr step, ArrayRef<Value> carried, SmallVectorImpl<Value> &values) const;
  LogicalResult runEntry(int64_t at);
  Value stack(ArrayRef<Value> parts) const;

  Node &node;
  const onnx::GraphProto &graph;
  /// With the batch in front.
  ArrayRef<Value> states, scanned;
  SmallVector<int64_t> backwards;
  int64_t entries = 0;
  AffineExpr steps;
  size_t rows = 0;
  /// Of the present entry; the length is null where all steps count.
  SmallVector<Value> inputs;
  Value length;
  /// The results of the entries.
  std::vector<SmallVector<Value>> results;
};
} // namespace

LogicalResult BatchedScan::readOperands() {
  int64_t scans = node.requireInt("num_scan_inputs"), inputs = static_cast<int64_t>(node.allInputs().size()) - 1;
  if (node.failed())
    return failure();
  if (scans < 1 || scans > inputs)
    return node.error("num_scan_inputs is " + Twine(scans) + ", expected 1 to " + Twine(inputs));
  states = node.allInputs().slice(1, inputs - scans), scanned = node.allInputs().take_back(scans);
  if (llvm::is_contained(node.allInputs().drop_front(), Value()) || graph.output_size() < static_cast<int>(states.size()) ||
      graph.output_size() < static_cast<int>(node.numOutputs()))
    return node.error("inputs, outputs and those of the body do not fit each other");
  backwards = node.findInts("directions").value_or(SmallVector<int64_t>(scans, 0));
  if (static_cast<int64_t>(backwards.size()) != scans)
    return node.error("attribute 'directions' has " + Twine(backwards.size()) + " entries, expected " + Twine(scans));
  rows = graph.output_size() - states.size();
  AffineExpr batch;
  for (auto [i, value] : llvm::enumerate(node.allInputs().drop_front())) {
    size_t least = i < states.size() ? 1 : 2;
    if (!isa<RankedTensorType>(value.getType()) || node.dims(value).size() < least)
      return node.error("expected tensors [batch, ...] and [batch, steps, ...]");
    DimExprs dims = node.dims(value);
    if (batch && !node.unify(dims[0], batch, "inputs have different batches"))
      return failure();
    batch = batch ? batch : dims[0];
    if (least == 2 && steps && !node.unify(dims[1], steps, "scanned inputs have different lengths"))
      return failure();
    steps = least == 2 && !steps ? dims[1] : steps;
  }
  auto known = nn::getConstantDim(batch);
  if (!known || *known < 1 || *known > mostEntries)
    return node.unsupported("a batch of symbolic size, of none or of more than " + Twine(mostEntries) + " entries", "make the dimension static with --dim");
  entries = *known;
  return success();
}

Value BatchedScan::entryOf(Value whole, int64_t at) const {
  DimExprs rest = node.dims(whole);
  rest.erase(rest.begin());
  return node.reshape(node.slice(whole, 0, node.number(at), node.number(1)), rest);
}

Value BatchedScan::stack(ArrayRef<Value> parts) const {
  SmallVector<Value> all;
  for (Value part : parts) {
    DimExprs dims = node.dims(part);
    dims.insert(dims.begin(), node.number(1));
    all.push_back(node.reshape(part, dims));
  }
  return all.size() == 1 ? all.front() : node.concat(all, 0);
}

/// States of before for an entry that is finished, and zeros for its rows.
LogicalResult BatchedScan::keepFinished(AffineExpr step, ArrayRef<Value> carried, SmallVectorImpl<Value> &values) const {
  Value isActive = node.compare<nn::LessOp>(numberOf(step), length);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value otherwise = i < carried.size() ? carried[i] : node.splatLike(value, 0);
    if (node.failed() || value.getType() != otherwise.getType())
      return node.error("a step changes the type of a state");
    value = node.make<nn::SelectOp>(value.getType(), node.broadcastTo(isActive, node.dims(value)), value, otherwise);
  }
  return failure(node.failed());
}

/// What a step reads of a scanned input. Backwards, the first one reads the last element of the entry's own length.
Value BatchedScan::sliceOf(Value value, bool isBackwards, AffineExpr step) const {
  DimExprs rest = node.dims(value);
  rest.erase(rest.begin());
  if (!isBackwards || !length)
    return node.reshape(node.slice(value, 0, isBackwards ? steps - 1 - step : step, node.number(1)), rest);
  Value at = node.binary<nn::MaximumOp>(node.binary<nn::SubOp>(length, numberOf(step + 1)), 0.0);
  return node.make<nn::GatherOp>(node.type(rest, node.elementType(value)), value, at, 0);
}

FailureOr<SmallVector<Value>> BatchedScan::takeStep(AffineExpr step, ArrayRef<Value> carried, const Twine &prefix) const {
  SmallVector<Value> arguments(carried);
  for (auto [value, isBackwards] : llvm::zip_equal(inputs, backwards))
    arguments.push_back(sliceOf(value, isBackwards, step));
  FailureOr<SmallVector<Value>> values = node.importBody(graph, arguments, prefix);
  if (failed(values) || node.isUnsupported())
    return failure();
  if (!llvm::all_of(*values, [](Value value) { return isa<RankedTensorType>(value.getType()); }))
    return node.error("the body gives a sequence");
  return length && failed(keepFinished(step, carried, *values)) ? FailureOr<SmallVector<Value>>(failure()) : values;
}

LogicalResult BatchedScan::runEntry(int64_t at) {
  inputs = llvm::map_to_vector(scanned, [&](Value value) { return entryOf(value, at); });
  if (Value lengths = node.allInputs().front())
    length = entryOf(lengths, at);
  SmallVector<Value> all, carried = llvm::map_to_vector(states, [&](Value value) { return entryOf(value, at); });
  std::string name = node.name() + "[" + std::to_string(at) + "]";
  auto count = nn::getConstantDim(steps);
  if (!count || *count < 1 || *count > mostBatchedSteps) {
    auto body = [&](AffineExpr step, ArrayRef<Value> present) { return takeStep(step, present, name + "/"); };
    if (failed(buildLoop(node, steps, carried, SmallVector<int64_t>(rows, 0), body, all)))
      return failure();
  } else {
    std::vector<SmallVector<Value>> collected(rows);
    for (int64_t step = 0; step < *count; ++step) {
      FailureOr<SmallVector<Value>> values = takeStep(node.number(step), carried, Twine(name) + "[" + Twine(step) + "]/");
      if (failed(values))
        return failure(node.failed() || !node.isUnsupported());
      carried.assign(values->begin(), values->begin() + states.size());
      for (size_t row = 0; row < rows; ++row)
        collected[row].push_back((*values)[states.size() + row]);
    }
    all = carried;
    for (const SmallVector<Value> &list : collected)
      all.push_back(stack(list));
  }
  for (auto [list, value] : llvm::zip(results, all))
    list.push_back(value);
  return failure(node.failed());
}

LogicalResult BatchedScan::run() {
  if (failed(readOperands()) || node.isUnsupported())
    return failure(node.failed());
  if (Value lengths = node.allInputs().front(); lengths && (!node.expectRank(lengths, 1, "sequence_lens") ||
                                                           !node.unify(node.dims(lengths)[0], node.number(entries), "sequence_lens do not fit the batch")))
    return failure();
  results.resize(graph.output_size());
  for (int64_t at = 0; at < entries; ++at)
    if (failed(runEntry(at)) || node.isUnsupported())
      return failure(node.failed());
  return node.setResults(llvm::map_to_vector(results, [&](const SmallVector<Value> &list) { return stack(list); }));
}

LogicalResult unrollBatchedScan(Node &node, const onnx::GraphProto &graph) { return BatchedScan(node, graph).run(); }

} // namespace kiln::import
