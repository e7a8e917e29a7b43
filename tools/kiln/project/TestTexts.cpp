//===- TestTexts.cpp - The test of kiln new's projects --------------------------------===//
#include "tools/kiln/project/ProjectTexts.h"

using llvm::StringLiteral;

namespace kiln {

const StringLiteral testText = R"(// Writes inputs to a folder, or compares the outputs of a run on them with those of kiln run there; test.cmake calls it.
#include "buffers.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>

// NumPy's .npy: a magic number, the length of the header, the header, and the elements.
template <typename T> static void write(const std::string &path, const std::string &type, const std::string &shape, const std::vector<T> &values) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((10 + header.size()) / 64 * 64 + 53, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\1' << '\0' << char(header.size() & 255) << char(header.size() >> 8) << header;
  file.write(reinterpret_cast<const char *>(values.data()), std::streamsize(values.size() * sizeof(T)));
}

template <typename T> static bool isNear(T a, T b) {
  if (a == b || (a != a && b != b))
    return true;
  return std::is_floating_point<T>::value && std::fabs(double(a) - double(b)) <= 1e-5 + 1e-4 * std::fabs(double(b));
}

template <typename T> static bool compare(const std::string &path, const std::vector<T> &values, size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  size_t start = bytes.size() < 10 ? 0 : 10 + (unsigned char)bytes[8] + 256 * (unsigned char)bytes[9];
  if (!start || bytes.size() - start != count * sizeof(T)) {
    std::printf("%s: expected %zu elements of %zu bytes\n", path.c_str(), count, sizeof(T));
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    T expected;
    std::memcpy(&expected, bytes.data() + start + i * sizeof(T), sizeof(T));
    if (!isNear(values[i], expected)) {
      std::printf("%s: element %zu is %g, expected %g\n", path.c_str(), i, double(values[i]), double(expected));
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  std::string mode = argv[1], folder = argv[2];
  @NAME@_buffers model;
@DIMS@@FILLS@
  if (mode == "write") {
@WRITES@    return 0;
  }
  if (kiln_status status = model.run()) {
    std::printf("the run ended with status %d\n", int(status));
    return 1;
  }
  bool agrees = true;
@COMPARES@  return agrees ? 0 : 1;
}
)";

const StringLiteral scriptText = R"(# Compares a run of the program with one of kiln run.
cmake_minimum_required(VERSION 3.20)
macro(check)
  if(status)
    message(FATAL_ERROR "${ARGN} ended with status ${status}")
  endif()
endmacro()
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(COMMAND "${PROGRAM}" write "${FOLDER}" RESULT_VARIABLE status)
check("writing the inputs")
execute_process(COMMAND "${KILN}" run "${MODEL}" --output-dir "${FOLDER}/expected"
@OPTIONS@@INPUTS@  RESULT_VARIABLE status)
check("kiln run")
execute_process(COMMAND "${PROGRAM}" compare "${FOLDER}" RESULT_VARIABLE status)
check("the comparison")
)";

} // namespace kiln
