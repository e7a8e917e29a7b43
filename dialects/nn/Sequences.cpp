//===- Sequences.cpp - Sequences and optionals in a model's signature ---------===//
#include "dialects/nn/Sequences.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln::nn {

static constexpr llvm::StringLiteral sequencesAttrName = "nn.sequences";

std::vector<SequenceInfo> getSequences(ModuleOp module) {
  std::vector<SequenceInfo> sequences;
  auto list = module->getAttrOfType<ArrayAttr>(sequencesAttrName);
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto fields = dyn_cast<DictionaryAttr>(entry);
    auto name = fields ? fields.getAs<StringAttr>("name") : StringAttr(), kind = fields ? fields.getAs<StringAttr>("kind") : StringAttr();
    auto first = fields ? fields.getAs<IntegerAttr>("first") : IntegerAttr(), count = fields ? fields.getAs<IntegerAttr>("count") : IntegerAttr();
    if (!name || !kind || !first || !count)
      continue;
    bool isSequence = kind.getValue().ends_with("sequence"), isOptional = kind.getValue().starts_with("optional");
    sequences.push_back({name.str(), isSequence, isOptional, fields.contains("output"), kind == "bytes", static_cast<unsigned>(first.getInt()),
                         count.getInt()});
  }
  return sequences;
}

void setSequences(ModuleOp module, ArrayRef<SequenceInfo> sequences) {
  if (sequences.empty())
    return;
  Builder b(module.getContext());
  SmallVector<Attribute> entries;
  for (const SequenceInfo &sequence : sequences) {
    StringRef kind = sequence.isBytes ? "bytes" : !sequence.isSequence ? "optional" : sequence.isOptional ? "optional_sequence" : "sequence";
    NamedAttrList fields;
    fields.append("name", b.getStringAttr(sequence.name));
    fields.append("kind", b.getStringAttr(kind));
    if (sequence.isOutput)
      fields.append("output", b.getUnitAttr());
    fields.append("first", b.getI64IntegerAttr(sequence.first));
    fields.append("count", b.getI64IntegerAttr(sequence.count));
    entries.push_back(fields.getDictionary(module.getContext()));
  }
  module->setAttr(sequencesAttrName, b.getArrayAttr(entries));
}

} // namespace kiln::nn
