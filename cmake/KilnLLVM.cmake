# Finds LLVM, MLIR and Clang 22.1 (Debian's packages) as shared libraries.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(Protobuf REQUIRED)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
link_directories(${LLVM_LIBRARY_DIRS})

# Link with lld of the same release: bfd takes six times as long.
if(EXISTS ${LLVM_TOOLS_BINARY_DIR}/ld.lld)
  add_link_options(-fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})
endif()

# Debian ships no bare libclang-cpp.so.
find_library(KILN_CLANG_CPP NAMES libclang-cpp.so.22.1 PATHS ${LLVM_LIBRARY_DIRS} REQUIRED NO_DEFAULT_PATH)
