//===- ImageFlags.cpp - The command-line options of pictures ---------------===//
#include "tools/kiln/ImageFlags.h"
#include "compiler/run/Tensor.h"
#include "dialects/nn/RealNumber.h"
#include "tools/kiln/Commands.h"

using namespace llvm;

namespace kiln {

/// The commands that make inputs of pictures, and the compile, which writes what they do into the header.
static cl::SubCommandGroup pictureCommands{&compileCommand, &runCommand, &verifyCommand, &benchCommand, &tuneCommand, &quantizeCommand, &reportCommand};

static cl::opt<std::string> imageLayout("image-layout",
    cl::desc("Order of the values of a picture: nchw (default), nhwc, bgr-nchw, bgr-nhwc"), cl::init("nchw"),
    cl::value_desc("ORDER"), cl::sub(pictureCommands));
static cl::opt<std::string> imageScale("image-scale", cl::desc("Factor for the bytes of a picture (default: 1/255)"), cl::init("1/255"),
    cl::value_desc("FACTOR"), cl::sub(pictureCommands));
static cl::list<double> imageMean("image-mean", cl::CommaSeparated, cl::desc("Mean to subtract after scaling; one value, or one per channel"),
    cl::value_desc("M,..."), cl::sub(pictureCommands));
static cl::list<double> imageStd("image-std", cl::CommaSeparated,
    cl::desc("Standard deviation to divide by after that; one value, or one per channel"), cl::value_desc("S,..."), cl::sub(pictureCommands));
static cl::opt<std::string> imageFit("image-fit",
    cl::desc("How a picture gets the input's size: none (default: it must have it), stretch, letterbox (proportions kept, the rest filled), corner (a "
             "letterbox with the picture at the top left), cover (proportions kept, the middle cut out), or cover:SIZE (the shorter side first gets SIZE "
             "pixels)"),
    cl::init("none"), cl::value_desc("HOW"), cl::sub(pictureCommands));
static cl::opt<std::string> imageFilter("image-filter",
    cl::desc("Filter that resizes a picture: nearest, bilinear (default), bicubic, box, hamming or lanczos, which are Pillow's, or linear or cubic, which "
             "do not smooth what they shrink, as OpenCV's"),
    cl::init("bilinear"), cl::value_desc("FILTER"), cl::sub(pictureCommands));
static cl::list<double> imageFill("image-fill", cl::CommaSeparated, cl::desc("Byte around a letterbox; one value, or one per channel, red first (default: 0)"),
    cl::value_desc("B,..."), cl::sub(pictureCommands));

Expected<ImageOptions> getImageOptions() {
  ImageOptions options;
  options.layout = imageLayout;
  auto [top, bottom] = StringRef(imageScale).split('/');
  double divisor = 1;
  if (!parseReal(top, options.scale) || (!bottom.empty() && (!parseReal(bottom, divisor) || divisor == 0)))
    return makeError("--image-scale=" + imageScale + ": expected a number or a fraction such as 1/255");
  options.scale /= divisor;
  options.mean.assign(imageMean.begin(), imageMean.end());
  options.std.assign(imageStd.begin(), imageStd.end());
  options.fit = imageFit;
  options.filter = imageFilter;
  options.fill.assign(imageFill.begin(), imageFill.end());
  return options;
}

bool hasImageOptions() {
  auto count = [](const auto &...options) { return (options.getNumOccurrences() + ...); };
  return count(imageLayout, imageScale, imageMean, imageStd, imageFit, imageFilter, imageFill) > 0;
}

} // namespace kiln
