//===- ProjectTexts.cpp - The texts of kiln new's files ----------------------------===//
#include "tools/kiln/project/ProjectTexts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln {

const StringLiteral listText = R"(cmake_minimum_required(VERSION 3.20)
project(@PROGRAM@ LANGUAGES C CXX)

find_package(Kiln REQUIRED)
set(MODEL @MODEL@ CACHE FILEPATH "The ONNX file")
kiln_add_model(@NAME@ MODEL "${MODEL}"@OPTIONS@)

add_executable(@PROGRAM@ main.cpp)
target_compile_features(@PROGRAM@ PRIVATE cxx_std_17)
target_link_libraries(@PROGRAM@ PRIVATE @LINKS@)

# The test runs the model in a program and by kiln run, on the same inputs.
enable_testing()
add_executable(compare_runs test.cpp)
target_compile_features(compare_runs PRIVATE cxx_std_17)
target_link_libraries(compare_runs PRIVATE @LINKS@)
add_test(NAME same_as_kiln_run COMMAND ${CMAKE_COMMAND} -DKILN=$<TARGET_FILE:Kiln::kiln> "-DMODEL=${MODEL}" -DPROGRAM=$<TARGET_FILE:compare_runs>
                                       "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/runs" -P "${CMAKE_CURRENT_SOURCE_DIR}/test.cmake")
)";

const StringLiteral mainText = R"(// Runs the model '@NAME@' once and prints the first numbers of each output.
#include "buffers.h"
#include <cstdio>

template <typename T> static void print(const char *name, const std::vector<T> &values) {
  std::printf("%s:", name);
  for (size_t i = 0; i < values.size() && i < 10; ++i)
    std::printf(" %g", double(values[i]));
  std::printf("%s\n", values.size() > 10 ? " ..." : "");
}

int main() {
  @NAME@_buffers model;
  // Put your data here.
@FILLS@
  if (kiln_status status = model.run()) {
    std::fprintf(stderr, "the run ended with status %d (kiln_status in @NAME@.h)\n", int(status));
    return 1;
  }
@PRINTS@}
)";

const StringLiteral buffersText = R"(// The tensors of one run of the model '@NAME@', and its workspace.
#pragma once
#include "@NAME@.h"
#include <cstdint>
#include <memory>
#include <vector>

struct @NAME@_buffers {
@DIMS_MEMBER@@MEMBERS@  std::vector<unsigned char> workspace;

  @NAME@_buffers() {
@SIZES@  }

  kiln_status run() {
    @NAME@_inputs inputs = {};
    @NAME@_outputs outputs = {};
@POINTERS@    size_t needed = @NAME@_workspace_size(@DIMS@);
    if (needed == SIZE_MAX)
      return KILN_STATUS_DIMENSION_OUT_OF_BOUNDS;
    // It begins at a multiple of KILN_ALIGNMENT.
    size_t room = needed + KILN_ALIGNMENT;
    workspace.resize(room);
    void *place = workspace.data();
    std::align(KILN_ALIGNMENT, needed, place, room);
    return @NAME@_run(@DIMS_FIRST@&inputs, &outputs, place, nullptr);
  }
};
)";

std::string replaceMarks(StringRef text, ArrayRef<std::pair<StringRef, std::string>> values) {
  std::string result;
  while (!text.empty()) {
    auto [before, rest] = text.split('@');
    result += before;
    auto [mark, after] = rest.split('@');
    auto value = llvm::find_if(values, [name = mark](auto &entry) { return entry.first == name; });
    if (value != values.end()) {
      result += value->second;
      text = after;
    } else {
      text = rest;
    }
  }
  return result;
}

} // namespace kiln
