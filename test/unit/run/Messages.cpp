// Every message about a file, a fill or a dimension, each with an input that earns it.
#include "compiler/import/onnx.pb.h"
#include "compiler/run/DimText.h"
#include "compiler/run/Fill.h"
#include "compiler/run/Image.h"
#include "compiler/run/LoadedModel.h"
#include "compiler/run/Npy.h"
#include "compiler/run/OnnxTensor.h"
#include "test/unit/run/Files.h"
#include <gtest/gtest.h>
#include <functional>
#include <png.h>
#include <zlib.h>

using namespace kiln;

namespace {

/// What is read, and what must be in the message.
struct Case {
  std::string bytes, message;
};

void expectFaults(const std::vector<Case> &cases, const std::function<std::string(const std::string &)> &read) {
  for (const Case &row : cases)
    EXPECT_NE(read(row.bytes).find(row.message), std::string::npos) << "expected: " << row.message << "\ngot: " << read(row.bytes);
}

std::string png(uint32_t format) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = 2;
  image.format = format;
  char pixels[64] = {};
  png_alloc_size_t size = 0;
  EXPECT_TRUE(png_image_write_get_memory_size(image, size, 0, pixels, 0, nullptr));
  std::string bytes(size, '\0');
  EXPECT_TRUE(png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels, 0, nullptr));
  return bytes;
}

std::string proto(const std::function<void(onnx::TensorProto &)> &fill) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(2);
  fill(tensor);
  return tensor.SerializeAsString();
}

} // namespace

TEST(Messages, Npy) {
  expectFaults(
      {
          {"what", "not a .npy file"},
          {npy("{}", "", 9), "version 9.0 of the .npy format is not known"},
          {"\x93NUMPY\x01" + std::string("\0\x50\0{", 4), "the .npy file is cut off"},
          {"\x93NUMPY\x02" + std::string("\0\x50\0", 3), "the .npy file is cut off"},
          {npy("[]"), "the header of the .npy file is not a dictionary"},
          {npy("{'shape': (a)}"), "the header of the .npy file is malformed near"},
          {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} 1"), "the header of the .npy file continues after its dictionary"},
          {npy("{'descr': '<f4', 'shape': (2,)}"), "the header of the .npy file lacks descr, fortran_order or shape"},
          {npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}"), "element type '>f4' is not supported: expected little-endian f2 f4 f8"},
          {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,2)}"), "the .npy file is in Fortran order; save it with numpy.ascontiguousarray"},
          {npy("{'descr': '<U2', 'fortran_order': False, 'shape': (1,)}", "1234"), "has 4 bytes of data, but string[1] of 2 characters needs another number"},
          // Widths whose product with the number of strings wraps to what is there, or says nothing about how many there are.
          {npy("{'descr': '<U4611686018427387905', 'fortran_order': False, 'shape': (1,)}", "1234"), "of 4611686018427387905 characters needs another"},
          {npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1152921504606846977,)}", "1234"), "does not fit into memory"},
          {npy("{'descr': '<U0', 'fortran_order': False, 'shape': (1099511627776,)}"), "string[1099511627776] of 0 characters needs another number"},
          // Refused before memory is taken.
          {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4398046511104,)}", "1234"), "but f32[4398046511104] needs 17592186044416"},
          {npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", std::string("\0\xd8\0\0", 4)), "the .npy file has a string that is not Unicode"},
          {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "1234"), "the .npy file has 4 bytes of data, but f32[2] needs 8"},
      },
      [](const std::string &bytes) { return faultOf(readNpy(bytes)); });
}

TEST(Messages, Pictures) {
  std::string whole = png(PNG_FORMAT_RGB);
  expectFaults(
      {
          {"GIF89a", "not a picture that can be read: picture: in none of the known formats: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP"},
          {"P1 1 1 2", "the picture cannot be read: PNM: a pixel that is neither 0 nor 1"},
          {whole.substr(0, 20), "the PNG file cannot be read:"},
          {whole.substr(0, 50), "the PNG file cannot be read:"},
          {png(PNG_FORMAT_LINEAR_RGB), "the PNG file has 16 bits per channel, expected 8"},
          {"P6 2 x 255\n", "the header of the PPM file is malformed"},
          {"P6 2 2 65535\n", "the PPM file has 16 bits per channel, expected 8"},
          {"P6 20000 20000 255\n", "the PPM file is cut off: 0 bytes of pixels, expected 20000x20000x3"},
          {"P6 4611686018427387904 4 255\n", "the PPM file is cut off: 0 bytes of pixels, expected 4611686018427387904x4x3"},
          {"P5 2 2 255\nabc", "the PPM file is cut off: 3 bytes of pixels, expected 2x2x1"},
      },
      [](const std::string &bytes) { return faultOf(readImage(bytes)); });

  // A PNG whose header promises more than the file can hold, with the header's checksum set right.
  std::string large = whole;
  for (size_t at : {16, 20})
    large.replace(at, 4, std::string("\0\0\x40\0", 4));
  uint32_t sum = uint32_t(crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef *>(large.data() + 12), 17));
  for (int i = 0; i < 4; ++i)
    large[29 + i] = char(sum >> (24 - 8 * i));
  for (auto read : {+[](llvm::StringRef bytes) { return faultOf(readImageSize(bytes)); }, +[](llvm::StringRef bytes) { return faultOf(readImage(bytes)); }})
    EXPECT_NE(read(large).find("the PNG file is cut off: " + std::to_string(large.size()) + " bytes hold no picture of 16384x16384"), std::string::npos)
        << read(large);
  EXPECT_NE(faultOf(readImage("P5 2 2 255\nabcd", 3)).find("the picture has 2x2 pixels, more than the limit of 3"), std::string::npos);
  EXPECT_NE(faultOf(readImage(whole, 3)).find("the picture has 2x2 pixels, more than the limit of 3"), std::string::npos);

  Image image{2, 2, 3, std::vector<uint8_t>(12)};
  auto fault = [&](std::vector<int64_t> dims, ImageOptions options) { return faultOf(makeTensor(image, KILN_ELEMENT_F32, dims, options)); };
  ImageOptions strange, mean;
  strange.layout = "hwc";
  mean.mean = {1, 2};
  EXPECT_NE(fault({1, 3, 2, 2}, strange).find("image layout 'hwc' is not known: expected nchw, nhwc, bgr-nchw or bgr-nhwc"), std::string::npos);
  EXPECT_NE(fault({1, 3, 2, 2}, mean).find("the image's mean and standard deviation need one value or one for each of 3 channels"), std::string::npos);
  EXPECT_NE(fault({2}, {}).find("an image needs an input of rank 2 to 4, but this input has rank 1"), std::string::npos);
  EXPECT_NE(fault({1, 3, 4, -1}, {}).find("a picture of 2x2 with 3 channels (nchw) does not fit [1,3,4,?]; --image-fit resizes pictures"), std::string::npos);
}

TEST(Messages, OnnxTensors) {
  expectFaults(
      {
          {"\xff\xff", "not an ONNX TensorProto"},
          {proto([](auto &tensor) { tensor.set_data_location(onnx::TensorProto::EXTERNAL); }), "the tensor's data lie in another file"},
          {proto([](auto &tensor) { tensor.add_dims(-1); }), "the tensor's dimensions do not fit its data"},
          {proto([](auto &tensor) { tensor.add_dims(int64_t(1) << 40); }), "the tensor's dimensions do not fit its data"},
          {proto([](auto &tensor) { tensor.add_float_data(1); }), "the tensor has 1 values, but f32[2] needs 2"},
          {proto([](auto &tensor) { tensor.set_data_type(KILN_ELEMENT_I4), tensor.set_raw_data("12"); }),
           "the tensor has 2 bytes of data, but its 2 elements need 1"},
          {proto([](auto &tensor) { tensor.set_data_type(KILN_ELEMENT_U8), tensor.add_int32_data(255), tensor.add_int32_data(256); }),
           "the value 256 at 1 is not a value of u8[2]"},
          {proto([](auto &tensor) { tensor.set_data_type(KILN_ELEMENT_I16), tensor.add_int32_data(-32768), tensor.add_int32_data(-32769); }),
           "the value -32769 at 1 is not a value of i16[2]"},
          {proto([](auto &tensor) { tensor.set_data_type(1 << 20); }), "tensors of type 0 are not supported here"},
          {proto([](auto &tensor) { tensor.set_raw_data("1234"); }), "the tensor has 4 bytes of data, but f32[2] needs 8"},
          {proto([](auto &tensor) { tensor.set_data_type(KILN_ELEMENT_COMPLEX64); }), "tensors of c64 are not supported here"},
          {proto([](auto &tensor) { tensor.set_data_type(onnx::TensorProto::STRING); }), "the tensor has 0 strings, but string[2] needs 2"},
      },
      [](const std::string &bytes) { return faultOf(readOnnxTensor(bytes)); });
}

TEST(OnnxTensors, EdgesThatAreRight) {
  auto read = [](const std::function<void(onnx::TensorProto &)> &fill) { return llvm::cantFail(readOnnxTensor(proto(fill))); };
  // Dimensions that are larger than the file, beside a 0.
  EXPECT_EQ(read([](auto &tensor) { tensor.set_dims(0, 1 << 20), tensor.add_dims(0); }).getSignature(), "f32[1048576,0]");
  Tensor bools = read([](auto &tensor) { tensor.set_data_type(KILN_ELEMENT_BOOL), tensor.set_raw_data(std::string("\2\0", 2)); });
  EXPECT_EQ(bools.getData()[0], 1);
  EXPECT_EQ(bools.getData()[1], 0);
  Tensor fromNpy = llvm::cantFail(readNpy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\xff")));
  EXPECT_EQ(fromNpy.getData()[0], 1);
}

// The fields of the messages have the same numbers: the model tells which one a file holds.
TEST(OnnxLists, OfEveryKind) {
  onnx::TensorProto tensor;
  tensor.set_data_type(KILN_ELEMENT_F32);
  tensor.add_dims(1);
  tensor.add_float_data(7);
  onnx::SequenceProto sequence;
  sequence.set_elem_type(1);
  *sequence.add_tensor_values() = tensor;
  *sequence.add_tensor_values() = tensor;
  onnx::OptionalProto one, many, none;
  one.set_elem_type(1);
  *one.mutable_tensor_value() = tensor;
  many.set_elem_type(3);
  *many.mutable_sequence_value() = sequence;
  none.set_elem_type(1);
  auto count = [](const auto &message, bool isSequence, bool isOptional) -> int64_t {
    kiln_sequence_info list = {"x", 0, 0, 0, isSequence, isOptional, 0, {}};
    auto tensors = llvm::cantFail(readOnnxList(message.SerializeAsString(), list));
    return tensors ? int64_t(tensors->size()) : -1;
  };
  EXPECT_EQ(count(sequence, true, false), 2);
  EXPECT_EQ(count(sequence, true, true), 2);
  EXPECT_EQ(count(many, true, true), 2);
  EXPECT_EQ(count(one, false, true), 1);
  EXPECT_EQ(count(tensor, false, true), 1);
  EXPECT_EQ(count(none, false, true), -1);
  onnx::TensorProto number;
  number.set_data_type(KILN_ELEMENT_U64);
  number.add_uint64_data(7);
  EXPECT_EQ(count(number, false, true), 1);
  EXPECT_EQ(count(none, true, true), -1);
  kiln_sequence_info plain = {"x", 0, 0, 0, 1, 0, 0, {}};
  EXPECT_EQ(faultOf(readOnnxList("\xff", plain)), "not an ONNX SequenceProto");
  sequence.set_elem_type(3);
  EXPECT_EQ(faultOf(readOnnxList(sequence.SerializeAsString(), plain)), "a sequence of something other than tensors");
  plain.is_sequence = 0, plain.is_optional = 1;
  EXPECT_EQ(faultOf(readOnnxList("\xff", plain)), "not an ONNX OptionalProto");
}

TEST(Messages, Tensors) {
  auto fault = [](std::vector<int64_t> dims) { return faultOf(Tensor::create(KILN_ELEMENT_F64, dims)); };
  EXPECT_EQ(fault(std::vector<int64_t>(65, 1)), "a tensor cannot have 65 dimensions: the limit is 64");
  EXPECT_EQ(fault({2, -3}), "a tensor cannot have the dimension -3");
  EXPECT_EQ(fault({int64_t(1) << 40, int64_t(1) << 40}), "a tensor of that many elements does not fit into memory");
  EXPECT_EQ(fault({int64_t(1) << 50}), "a tensor of that many elements does not fit into memory");
}

TEST(Messages, Fills) {
  expectFaults(
      {
          {"random:x", "'random:x' is malformed: expected random or random:SEED"},
          {"random:1:2", "expected random or random:SEED"},
          {"normal:x", "'normal:x' is malformed: expected normal or normal:SD"},
          {"uniform:1", "'uniform:1' is malformed: expected uniform:LO:HI with LO < HI"},
          {"uniform:2:1", "expected uniform:LO:HI with LO < HI"},
          {"randint:0:0", "expected randint:LO:HI with LO < HI"},
          {"randint:0:1.5", "'randint:0:1.5' is malformed: expected two integers"},
      },
      [](const std::string &text) { return faultOf(parseFill(text)); });
}

TEST(Messages, Dimensions) {
  DimLookup lookup = [](llvm::StringRef name) { return name == "n" ? std::optional<int64_t>(7) : std::nullopt; };
  expectFaults(
      {
          {"n n", "dimension 'n n': unexpected 'n'"},
          {"n / 0", "division by 0"},
          {"(n", "expected ')'"},
          {"n +", "expected a number or a name at ''"},
          {"m", "dimension 'm' is not known"},
          {"9223372036854775807 + n", "overflow"},
          {"99999999999999999999", "overflow"},
          {"-(0 - 9223372036854775807 - 1)", "overflow"},
          {std::string(300, '-') + "n", "too deeply nested"},
      },
      [&](const std::string &text) { return faultOf(evaluateDim(text, lookup)); });
}

TEST(Messages, Objects) {
  // An ELF header for another machine.
  std::string object(64, '\0');
  object.replace(0, 7, std::string("\x7f" "ELF\2\1\1", 7));
  object[16] = 1;          // ET_REL
  object[18] = char(0xB7); // EM_AARCH64
  object[20] = 1;
  object[52] = 64;
  object[58] = 64;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  objects.push_back(llvm::MemoryBuffer::getMemBufferCopy(object));
#if defined(__x86_64__)
  EXPECT_NE(faultOf(LoadedModel::load("m", std::move(objects))).find("the model is compiled for aarch64, which this machine (x86_64) cannot run"),
            std::string::npos);
#endif
}
