//===- Sequences.cpp - Sequences and optionals in a model's signature ---------===//
#include "dialects/nn/Sequences.h"
#include "dialects/nn/SignatureAttributeNames.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln::nn {

std::optional<SequenceInfo> readSequence(Attribute entry) {
  auto fields = dyn_cast<DictionaryAttr>(entry);
  auto name = fields ? fields.getAs<StringAttr>("name") : StringAttr(), kind = fields ? fields.getAs<StringAttr>("kind") : StringAttr();
  auto first = fields ? fields.getAs<IntegerAttr>("first") : IntegerAttr(), count = fields ? fields.getAs<IntegerAttr>("count") : IntegerAttr();
  if (!name || !kind || !first || !count || !first.getType().isInteger(64) || !count.getType().isInteger(64))
    return std::nullopt;
  if (!llvm::is_contained({"bytes", "optional", "optional_sequence", "sequence"}, kind.getValue()) || first.getInt() < 0 ||
      count.getInt() < SequenceInfo::absent)
    return std::nullopt;
  bool isSequence = kind.getValue().ends_with("sequence"), isOptional = kind.getValue().starts_with("optional");
  return SequenceInfo{name.str(),     isSequence,   isOptional, fields.contains("output"), kind == "bytes", static_cast<unsigned>(first.getInt()),
                      count.getInt()};
}

std::vector<SequenceInfo> getSequences(ModuleOp module) {
  std::vector<SequenceInfo> sequences;
  auto list = module->getAttrOfType<ArrayAttr>(sequencesAttrName);
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>())
    if (std::optional<SequenceInfo> sequence = readSequence(entry))
      sequences.push_back(std::move(*sequence));
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
