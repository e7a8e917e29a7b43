//===- Tuning.cpp - Numbers of a target that are measured ------------------===//
//
//   #kernel.tuning<tall_rows = 28, depthwise_lines = 2>
//
// The text has the numbers that differ from the usual ones.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Tuning.h"
#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::kernel {

ArrayRef<TunedNumber> getTunedNumbers() {
  static constexpr TunedNumber numbers[] = {
#define KILN_TUNING(id, ...) {__VA_ARGS__},
#include "dialects/kernel/Tuning.def"
#undef KILN_TUNING
  };
  return numbers;
}

static SmallVector<int64_t> usualValues() {
  return llvm::map_to_vector(getTunedNumbers(), [](const TunedNumber &number) { return number.usual; });
}

std::string findTuningFault(ArrayRef<int64_t> values) {
  if (values.size() != getTunedNumbers().size())
    return "a tuning must have a value for each number";
  for (auto [number, value] : llvm::zip_equal(getTunedNumbers(), values))
    if (value < number.least || value > number.most)
      return "'" + number.name.str() + "' must be between " + std::to_string(number.least) + " and " + std::to_string(number.most) + "; got " +
             std::to_string(value);
  for (Tuned power : {Tuned::Streams, Tuned::Bf16Vectors})
    if (int64_t value = values[static_cast<unsigned>(power)]; (value & (value - 1)) != 0)
      return "'" + getTunedNumbers()[static_cast<unsigned>(power)].name.str() + "' must be a power of two; got " + std::to_string(value);
  return "";
}

LogicalResult TuningAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> values) {
  std::string fault = findTuningFault(values);
  return fault.empty() ? success() : LogicalResult(emitError() << fault);
}

TuningAttr TuningAttr::get(MLIRContext *context, ArrayRef<std::pair<Tuned, int64_t>> measured) {
  SmallVector<int64_t> values = usualValues();
  for (auto [number, value] : measured)
    values[static_cast<unsigned>(number)] = value;
  return get(context, ArrayRef<int64_t>(values));
}

Attribute TuningAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> values = usualValues();
  SMLoc start = parser.getCurrentLocation();
  auto parseNumber = [&]() -> ParseResult {
    StringRef name;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    const TunedNumber *known = llvm::find_if(getTunedNumbers(), [&](const TunedNumber &number) { return number.name == name; });
    if (known == getTunedNumbers().end())
      return parser.emitError(place) << "unknown number '" << name << "' of a tuning";
    return failure(parser.parseEqual() || parser.parseInteger(values[known - getTunedNumbers().begin()]));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseNumber))
    return {};
  return parser.getChecked<TuningAttr>(start, parser.getContext(), ArrayRef<int64_t>(values));
}

void TuningAttr::print(AsmPrinter &printer) const {
  printer << '<';
  StringRef separator = "";
  for (auto [number, value] : llvm::zip_equal(getTunedNumbers(), getValues()))
    if (value != number.usual) {
      printer << separator << number.name << " = " << value;
      separator = ", ";
    }
  printer << '>';
}

int64_t TargetAttr::tuned(Tuned number) const {
  unsigned index = static_cast<unsigned>(number);
  return getTuning() ? getTuning().getValues()[index] : getTunedNumbers()[index].usual;
}

} // namespace kiln::kernel
