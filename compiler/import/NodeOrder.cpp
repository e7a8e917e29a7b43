//===- NodeOrder.cpp - Nodes in the order of their values ---------------------===//
#include "compiler/import/NodeOrder.h"
#include "compiler/import/BodyImporter.h"
#include "compiler/import/Diagnostics.h"
#include "compiler/import/onnx.pb.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <functional>
#include <queue>

using namespace llvm;

namespace kiln::import {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

void forEachUse(const onnx::NodeProto &node, function_ref<void(StringRef)> use) {
  for (const std::string &input : node.input())
    if (!input.empty())
      use(input);
  auto visit = [&](const onnx::GraphProto &body) {
    StringSet<> own;
    for (const auto &input : body.input())
      own.insert(input.name());
    for (const auto &tensor : body.initializer())
      own.insert(tensor.name());
    for (const auto &tensor : body.sparse_initializer())
      own.insert(tensor.values().name());
    for (const onnx::NodeProto &inner : body.node())
      own.insert_range(inner.output());
    auto useOuter = [&](StringRef name) {
      if (!own.contains(name))
        use(name);
    };
    for (const onnx::NodeProto &inner : body.node())
      forEachUse(inner, useOuter);
    for (const auto &output : body.output())
      useOuter(output.name());
  };
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      visit(attribute.g());
    for (const onnx::GraphProto &body : attribute.graphs())
      visit(body);
  }
}

/// The nodes of a graph in their new order, the first of those that can be next: empty if there is a cycle.
static std::vector<int> findOrder(ArrayRef<SmallSetVector<int, 4>> sources) {
  std::vector<std::vector<int>> users(sources.size());
  std::vector<size_t> missing;
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (auto [i, before] : enumerate(sources)) {
    missing.push_back(before.size());
    if (before.empty())
      ready.push(static_cast<int>(i));
    for (int source : before)
      users[source].push_back(static_cast<int>(i));
  }
  std::vector<int> order;
  for (; !ready.empty();) {
    order.push_back(ready.top());
    ready.pop();
    for (int user : users[order.back()])
      if (--missing[user] == 0)
        ready.push(user);
  }
  return order.size() == sources.size() ? order : std::vector<int>();
}

/// Sorts nodes, and those of their bodies. Names that two nodes give are for the model's check to refuse.
static void sort(Nodes &nodes, std::string &warning) {
  StringMap<int> makers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        makers.try_emplace(output, i);
  std::vector<SmallSetVector<int, 4>> sources(nodes.size());
  std::string found;
  for (int i = 0; i < nodes.size(); ++i)
    forEachUse(nodes[i], [&](StringRef name) {
      auto maker = makers.find(name);
      if (maker == makers.end())
        return;
      sources[i].insert(maker->second);
      if (maker->second > i && found.empty())
        found = describeNode(nodes[i], i, "") + " comes before " + describeNode(nodes[maker->second], maker->second, "") + ", whose output '" +
                printable(name) + "' it reads; the nodes were sorted";
    });
  if (std::vector<int> order = found.empty() ? std::vector<int>() : findOrder(sources); !order.empty()) {
    std::vector<onnx::NodeProto *> taken(nodes.size());
    nodes.ExtractSubrange(0, nodes.size(), taken.data());
    for (int at : order)
      nodes.AddAllocated(taken[at]);
    if (warning.empty())
      warning = found;
  }
  for (onnx::NodeProto &node : nodes)
    for (auto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        sort(*attribute.mutable_g()->mutable_node(), warning);
      for (onnx::GraphProto &body : *attribute.mutable_graphs())
        sort(*body.mutable_node(), warning);
    }
}

std::string sortNodes(onnx::ModelProto &model) {
  std::string warning;
  if (model.has_graph())
    sort(*model.mutable_graph()->mutable_node(), warning);
  for (onnx::FunctionProto &function : *model.mutable_functions())
    sort(*function.mutable_node(), warning);
  return warning;
}

} // namespace kiln::import
