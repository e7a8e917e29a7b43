//===- Preprocess.cpp - From pictures to inputs -------------------===//
// The options of a picture become the runtime's struct, for `kiln run`, which calls the runtime, and for the generated header, in which programs find it.
#include "compiler/emit/Preprocess.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/files/Printable.h"
#include "llvm/ADT/StringSwitch.h"
#include <charconv>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace kiln {

static constexpr const char *fitNames[] = {"KILN_FIT_NONE", "KILN_FIT_STRETCH", "KILN_FIT_LETTERBOX", "KILN_FIT_COVER"};
static constexpr const char *filterNames[] = {"KILN_FILTER_NEAREST", "KILN_FILTER_BILINEAR", "KILN_FILTER_BICUBIC", "KILN_FILTER_BOX",
                                              "KILN_FILTER_HAMMING", "KILN_FILTER_LANCZOS",  "KILN_FILTER_LINEAR",  "KILN_FILTER_CUBIC"};

static Error makeError(const Twine &text) { return llvm::createStringError(llvm::inconvertibleErrorCode(), text); }

Expected<ImageAxes> findImageAxes(size_t rank, const ImageOptions &options) {
  StringRef layout = options.layout;
  layout.consume_front("bgr-");
  if (layout != "nchw" && layout != "nhwc")
    return makeError("image layout '" + options.layout + "' is not known: expected nchw, nhwc, bgr-nchw or bgr-nhwc");
  if (rank < 2 || rank > 4)
    return makeError("an image needs an input of rank 2 to 4, but this input has rank " + Twine(rank));
  if (rank == 2)
    return ImageAxes{};
  int64_t batch = rank == 4 ? 0 : -1, first = rank == 4;
  if (layout == "nhwc")
    return ImageAxes{batch, first + 2, first, first + 1};
  return ImageAxes{batch, first, first + 1, first + 2};
}

static Error readFit(const ImageOptions &options, kiln_preprocess &how) {
  auto [name, shorter] = StringRef(options.fit).split(':');
  how.fit = llvm::StringSwitch<int32_t>(name)
                .Case("none", KILN_FIT_NONE)
                .Case("stretch", KILN_FIT_STRETCH)
                .Case("letterbox", KILN_FIT_LETTERBOX)
                .Case("corner", KILN_FIT_LETTERBOX)
                .Case("cover", KILN_FIT_COVER)
                .Default(-1);
  how.at_corner = name == "corner";
  bool hasNumber = StringRef(options.fit).contains(':');
  if (how.fit < 0 || (hasNumber && (name != "cover" || shorter.getAsInteger(10, how.shorter) || how.shorter < 1 || how.shorter > 1 << 30)))
    return makeError("--image-fit=" + options.fit + ": expected none, stretch, letterbox, corner, cover or cover:SIZE");
  return Error::success();
}

static Error readFilter(const ImageOptions &options, kiln_preprocess &how) {
  how.filter = llvm::StringSwitch<int32_t>(options.filter)
                   .Case("nearest", KILN_FILTER_NEAREST)
                   .Case("bilinear", KILN_FILTER_BILINEAR)
                   .Case("bicubic", KILN_FILTER_BICUBIC)
                   .Case("box", KILN_FILTER_BOX)
                   .Case("hamming", KILN_FILTER_HAMMING)
                   .Case("lanczos", KILN_FILTER_LANCZOS)
                   .Case("linear", KILN_FILTER_LINEAR)
                   .Case("cubic", KILN_FILTER_CUBIC)
                   .Default(-1);
  if (how.filter >= 0)
    return Error::success();
  return makeError("--image-filter=" + options.filter + ": expected nearest, bilinear, bicubic, box, hamming, lanczos, linear or cubic");
}

/// One value for each channel, from one for all or one for each.
template <typename T> static bool spread(const std::vector<double> &values, int64_t channels, T *to) {
  if (values.size() > 1 && int64_t(values.size()) != channels)
    return false;
  for (int64_t i = 0; !values.empty() && i < 4; ++i)
    to[i] = T(values[values.size() == 1 ? 0 : std::min<int64_t>(i, channels - 1)]);
  return true;
}

Expected<kiln_preprocess> makePreprocess(const ImageOptions &options, kiln_element_type type, llvm::ArrayRef<int64_t> dims, int64_t channels) {
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  Expected<ImageAxes> axes = findImageAxes(dims.size(), options);
  if (!axes)
    return axes.takeError();
  auto sizeOf = [&](int64_t axis) { return axis < 0 ? 1 : std::max<int64_t>(dims[axis], 0); };
  how.height = sizeOf(axes->height);
  how.width = sizeOf(axes->width);
  how.channels = int32_t(std::min<int64_t>(sizeOf(axes->channels), 5));
  how.element_type = type;
  how.channels_last = StringRef(options.layout).ends_with("nhwc");
  how.bgr = StringRef(options.layout).starts_with("bgr-");
  how.scale = options.scale;
  if (Error error = readFit(options, how))
    return std::move(error);
  if (Error error = readFilter(options, how))
    return std::move(error);
  int64_t count = how.channels ? how.channels : channels;
  if (!spread(options.mean, count, how.mean) || !spread(options.std, count, how.deviation))
    return makeError("the image's mean and standard deviation need one value or one for each of " + Twine(count) + " channels");
  if (llvm::is_contained(how.deviation, 0.0))
    return makeError("--image-std: expected numbers other than 0");
  if (!spread(options.fill, count, how.fill) || llvm::any_of(options.fill, [](double value) { return value != uint8_t(value); }))
    return makeError("--image-fill: expected one byte (0 to 255) or one for each of " + Twine(count) + " channels");
  return how;
}

/// The input's dimensions, -1 where only the run knows; empty if it cannot take a picture: no number of channels that pictures have.
static llvm::SmallVector<int64_t> pictureDims(const SignatureTensor &tensor, const ImageOptions &options) {
  llvm::SmallVector<int64_t> dims;
  for (mlir::AffineExpr dim : tensor.dims)
    dims.push_back(nn::getConstantDim(dim).value_or(-1));
  mlir::Type element = tensor.type.getElementType();
  bool isNumber = mlir::isa<mlir::FloatType>(element) ? element.getIntOrFloatBitWidth() >= 16 : element.isInteger() && element.getIntOrFloatBitWidth() >= 8;
  if (dims.size() < 3 || dims.size() > 4 || !isNumber)
    return {};
  Expected<ImageAxes> axes = findImageAxes(dims.size(), options);
  if (!axes) {
    llvm::consumeError(axes.takeError());
    return {};
  }
  bool isPicture = llvm::is_contained({int64_t(1), int64_t(3), int64_t(4)}, dims[axes->channels]) && (axes->batch < 0 || dims[axes->batch] <= 1);
  return isPicture ? dims : llvm::SmallVector<int64_t>();
}

Error checkPreprocess(const Signature &signature) {
  if (!signature.images)
    return Error::success();
  bool any = false;
  for (const SignatureTensor &tensor : signature.inputs) {
    llvm::SmallVector<int64_t> dims = pictureDims(tensor, *signature.images);
    if (dims.empty())
      continue;
    any = true;
    if (Expected<kiln_preprocess> how = makePreprocess(*signature.images, KILN_ELEMENT_F32, dims); !how)
      return makeError("input '" + printable(tensor.onnxName) + "': " + toString(how.takeError()));
  }
  if (any)
    return Error::success();
  // Options that are wrong by themselves come first.
  if (Expected<kiln_preprocess> how = makePreprocess(*signature.images, KILN_ELEMENT_F32, {1, 3, -1, -1}); !how)
    return how.takeError();
  std::string inputs;
  for (const SignatureTensor &tensor : signature.inputs)
    inputs += (inputs.empty() ? "" : ", ") + printable(tensor.onnxName) + ": " + shapeText(tensor, signature);
  return makeError("--image options: the model has no input for one picture of 1, 3 or 4 channels (" + signature.images->layout + "), but " + inputs);
}

/// The shortest text that reads back as the same double.
static std::string number(double value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

static std::string numbers(llvm::ArrayRef<double> values) { return "{" + llvm::join(llvm::map_range(values, number), ", ") + "}"; }

std::string printPreprocess(const Signature &signature) {
  if (!signature.images)
    return "";
  std::string text;
  for (const SignatureTensor &tensor : signature.inputs) {
    llvm::SmallVector<int64_t> dims = pictureDims(tensor, *signature.images);
    if (dims.empty())
      continue;
    kiln_preprocess how = llvm::cantFail(makePreprocess(*signature.images, KILN_ELEMENT_F32, dims));
    auto list = [](auto... values) { return llvm::join(std::initializer_list<std::string>{std::to_string(values)...}, ", "); };
    text += "#define " + signature.macro + "_" + makeMacroName(tensor.field) + "_PREPROCESS \\\n  {KILN_ABI_VERSION, (uint32_t)sizeof(kiln_preprocess), " +
            list(how.height, how.width, how.shorter, how.channels) + ", " + elementEnumerator(tensor.type.getElementType()) + ", " + fitNames[how.fit] +
            ", " + filterNames[how.filter] + ", \\\n   " + list(how.channels_last, how.bgr, how.at_corner) + ", {" +
            list(how.fill[0], how.fill[1], how.fill[2], how.fill[3]) + "}, " + number(how.scale) + ", " + numbers(how.mean) + ", " +
            numbers(how.deviation) + "}\n";
  }
  return "/* From a picture to an input as `kiln run` with the same options: kiln_preprocess how = ..._PREPROCESS; then\n"
         " * kiln_images_tensor(NULL, file, bytes, &how, x, sizeof x), both of <kiln/images.h> (libkiln_images.a). */\n" +
         text + "\n";
}

} // namespace kiln
