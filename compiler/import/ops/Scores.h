//===- Scores.h - What classifiers and regressors of ai.onnx.ml end with ------===//
#ifndef KILN_COMPILER_IMPORT_OPS_SCORES_H
#define KILN_COMPILER_IMPORT_OPS_SCORES_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// The columns of scores [rows, columns] after one of ai.onnx.ml's post_transforms (1): NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT. SOFTMAX_ZERO leaves
/// out of the softmax what is zero, or almost, and PROBIT is Winitzki's approximation with a = 0.147, both as ONNX's reference and ONNX Runtime have it.
Value applyPostTransform(Node &node, Value scores, llvm::StringRef name);

/// Both scores of two classes [rows, 2] from that of the second one [rows, 1], which is a probability or may have either sign. Of the transforms, LOGISTIC and
/// PROBIT are applied to both, and others leave them (ONNX Runtime).
Value joinBothScores(Node &node, Value score, bool isProbability, llvm::StringRef after);

/// A constant of floats, one dimension.
Value constantFloats(Node &node, llvm::ArrayRef<double> values, Type element);

/// The labels of the classes, int64 or strings, one dimension; null after an error. `integers` and `strings` are the names of the attributes, of which exactly
/// one must have entries.
Value readClassLabels(Node &node, llvm::StringRef integers, llvm::StringRef strings);

/// The label of each row, whose class is `at` [rows] (int64).
Value takeLabels(Node &node, Value labels, Value at);

/// The first of the columns with the largest score, [rows].
Value bestColumn(Node &node, Value scores);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_SCORES_H
