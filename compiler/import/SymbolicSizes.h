//===- SymbolicSizes.h - The model's symbolic dimensions --------------------===//
//
// The table of symbols, what is known of them (bounds, constraints that a run checks), and what an import takes for granted.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_SYMBOLICSIZES_H
#define KILN_COMPILER_IMPORT_SYMBOLICSIZES_H

#include "compiler/import/Import.h"
#include "compiler/import/Node.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/DimFacts.h"

namespace kiln::import {

class SymbolicSizes {
public:
  SymbolicSizes(mlir::MLIRContext &context, const ImportOptions &options, SqueezedDims &squeezed, Assumptions &assumptions);

  /// @name Symbols
  /// @{
  /// The dimension that the model calls so: a number if the options fix it, or its symbol.
  AffineExpr get(llvm::StringRef name);
  /// Adds the bounds that earlier rounds of the import have asked for, behind the dimensions of inputs.
  void addRaised();
  /// The library's metadata about them, for programs that run it.
  std::vector<std::pair<std::string, std::string>> describeRaised() const;
  /// Has the next round of the import give a size that the model computes, and whose bound is a number, a bound of the caller's. False: it has had that.
  bool loosen(unsigned symbol);
  /// Whether that is so in this round: of a symbol, or of the one that would be the next with this name.
  bool isLoosened(unsigned symbol) const { return assumptions.loosened.contains(names[symbol]); }
  bool isLoosened(const llvm::Twine &stemName) const { return assumptions.loosened.contains(options.rename(makeName(stemName))); }
  /// A new symbol for a size that the model computes, at most `bound`; null: the caller gives a bound.
  AffineExpr addComputed(const llvm::Twine &stemName, AffineExpr bound);
  unsigned size() const { return names.size(); }
  llvm::ArrayRef<std::string> listNames() const { return names; }
  /// Whether a dimension that the model calls so has occurred, or the options fix it.
  bool isKnown(llvm::StringRef name) const { return byName.contains(options.rename(name)) || options.dims.count(options.rename(name)); }
  /// Whether an input has a dimension of that name which the options fix.
  bool isFixed(llvm::StringRef name) const { return fixed.contains(name); }
  /// A name that the options make static, and that is none of an input's dimensions nor of a bound; empty: there is none.
  std::string findUnusedName(llvm::function_ref<bool(llvm::StringRef)> isNamed) const;
  /// What is wrong with the names that the options give to dimensions; empty if nothing is.
  std::string findFaultInRenames() const;
  /// Forgets the symbols and constraints that came after a mark.
  struct Mark {
    size_t names, constraints;
    std::pair<size_t, size_t> facts;
  };
  Mark mark() const { return {names.size(), constraints.size(), facts.count()}; }
  void goBackTo(const Mark &mark);
  nn::ComputedDims computed() const { return {static_cast<unsigned>(names.size() - computedBounds.size()), computedBounds}; }
  /// @}

  /// @name Constraints, which a run checks
  /// @{
  /// `node` demands it: "Add 'p2o.Add.234'".
  void addConstraint(AffineExpr mustBeZero, llvm::StringRef node);
  bool isConstraint(AffineExpr mustBeZero) const;
  /// Has a run check that the expression is not negative.
  void requireNotNegative(AffineExpr expr, llvm::StringRef node);
  size_t countConstraints() const { return constraints.size(); }
  llvm::ArrayRef<nn::Constraint> constraintsSince(size_t count) const { return llvm::ArrayRef(constraints).drop_front(count); }
  void dropConstraintsSince(size_t count) { constraints.resize(count); }
  /// The expression with the numbers of the symbols that constraints give one, as s0 - 5 does.
  AffineExpr usePinned(AffineExpr dim) const;
  /// @}

  /// @name Nodes that only some runs come to; what they need, others do not
  /// @{
  void enterConditional() { ++conditional; }
  void leaveConditional() { --conditional; }
  bool isConditional() const { return conditional > 0; }
  /// @}

  /// @name Knowledge and assumptions
  /// @{
  const nn::DimFacts &getFacts() const { return facts; }
  /// Whether an expression is taken not to be negative where it is needed; else it is noted that it was.
  bool isInRange(AffineExpr expr);
  /// Notes which signs are needed for an expression to be zero, or one of `orOne` to be one; whether it is zero with them.
  bool learn(AffineExpr mustBeZero, llvm::ArrayRef<AffineExpr> orOne = {});
  /// Whether an expression depends on the sign of another.
  static bool hasSign(AffineExpr expr);
  /// Has a run check what the import assumes not to be negative.
  void assumeSigns();
  /// Whether sizes that broadcast are taken to be equal, and notes that these two were: `zero` is their difference.
  bool areTakenAsEqual() const { return assumptions.areEqual; }
  void noteAssumedEqual(AffineExpr zero) { assumedEqual.insert(zero); }
  /// Sizes that are 1 where they are not those that they broadcast with.
  void noteSpread(AffineExpr dim, AffineExpr other) { spread.insert_range(llvm::ArrayRef{dim, other}); }
  bool isSpread(AffineExpr dim) const { return spread.contains(dim); }
  SqueezedDims &getSqueezed() { return squeezed; }
  /// Whether declared shapes are taken for sizes that data decide, and notes that there is one.
  bool trustsShapes() {
    assumptions.hasDeclared = true;
    return assumptions.trustsShapes;
  }
  /// @}

  /// Writes the symbols into the module; the other one writes the constraints, too.
  void recordSymbols(mlir::ModuleOp module) const;
  void record(mlir::ModuleOp module) const;

private:
  /// An identifier that no dimension has yet.
  std::string makeName(const llvm::Twine &stemName) const;
  /// The bound of a size that nothing else bounds: a number from the options, or a symbol if an earlier round has asked for it.
  AffineExpr getRaised(const std::string &name);
  /// The name that the library has for it, unlike those of the inputs' dimensions.
  std::string nameRaised(std::string name) const;

  mlir::MLIRContext &context;
  const ImportOptions &options;
  SqueezedDims &squeezed;
  Assumptions &assumptions;
  nn::DimFacts facts;
  llvm::SmallVector<std::string> names;
  llvm::StringMap<AffineExpr> byName;
  /// The bounds that a run raises, by what the import calls them.
  llvm::StringMap<AffineExpr> raised;
  /// The names of the inputs' dimensions, which those have to differ from.
  llvm::StringSet<> ofInputs;
  llvm::StringSet<> fixed;
  /// The model's names of the dimensions, by those that they have here.
  std::map<std::string, std::set<std::string>> originals;
  std::vector<nn::Constraint> constraints;
  /// The most that each of the last symbols can be: those that the model computes.
  llvm::SmallVector<AffineExpr> computedBounds;
  llvm::DenseSet<AffineExpr> spread;
  /// What is zero if sizes that broadcast are equal, as was assumed.
  llvm::SetVector<AffineExpr> assumedEqual;
  /// What would not be negative if bounds were in range.
  llvm::SetVector<AffineExpr> clamped;
  /// How many bodies around the present node run time may skip.
  int64_t conditional = 0;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_SYMBOLICSIZES_H
