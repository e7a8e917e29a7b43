//===- MapValues.h - Maps -----------------------------------------------------===//
//
// A map is two vectors of one length, its keys and their values, which only the operators that take maps use. At the model's interface they are the inputs
// NAME_keys and NAME_values.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_MAPVALUES_H
#define KILN_COMPILER_IMPORT_MAPVALUES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace kiln::import {

struct MapValue {
  mlir::Value keys, values;
};

mlir::Value makeMap(mlir::OpBuilder &builder, mlir::Location loc, MapValue map);
/// The two vectors of a map; nullopt for other values.
std::optional<MapValue> getMap(mlir::Value value);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_MAPVALUES_H
