# Finds LLVM, MLIR and Clang 22.1 (Debian's packages). Targets link them by KilnUpstream and KilnClang: as shared libraries, or, for programs with the property
# KILN_STATIC_UPSTREAM, as archives.
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

# The kernel cache tells builds of Kiln apart by it.
add_link_options(-Wl,--build-id)

# Link with lld of the same release: bfd takes six times as long.
if(EXISTS ${LLVM_TOOLS_BINARY_DIR}/ld.lld)
  add_link_options(-fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})
endif()

# Debian ships no bare libclang-cpp.so.
find_library(KILN_CLANG_CPP NAMES libclang-cpp.so.22.1 PATHS ${LLVM_LIBRARY_DIRS} REQUIRED NO_DEFAULT_PATH)

# The loader relocates half a million words of the shared libraries at each start, which takes longer than the compile of a small model.
option(KILN_STATIC_LLVM "Link LLVM, MLIR and Clang into kiln and kiln-opt, which then start three times as fast" ON)
set(kilnStatic OFF)
if(KILN_STATIC_LLVM AND NOT KILN_SANITIZE AND NOT KILN_COVERAGE AND EXISTS ${LLVM_TOOLS_BINARY_DIR}/ld.lld)
  # lld takes archives in any order, and only the members that are asked for.
  file(GLOB kilnArchives ${LLVM_LIBRARY_DIRS}/libclang[A-Z]*.a ${LLVM_LIBRARY_DIRS}/libMLIR[A-Z]*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
  if(kilnArchives)
    set(kilnStatic ON)
    find_package(ZLIB REQUIRED)
    find_package(LibXml2 REQUIRED)
    find_library(KILN_ZSTD zstd REQUIRED)
    add_library(KilnNoPolly OBJECT ${PROJECT_SOURCE_DIR}/cmake/NoPolly.cpp)
    target_compile_options(KilnNoPolly PRIVATE -fPIC)
    add_library(KilnArchives INTERFACE)
    target_link_libraries(KilnArchives INTERFACE $<TARGET_OBJECTS:KilnNoPolly> ${kilnArchives} ZLIB::ZLIB LibXml2::LibXml2 ${KILN_ZSTD} -Wl,--gc-sections -Wl,-z,pack-relative-relocs)
  endif()
endif()

set(kilnIsStatic $<BOOL:$<TARGET_PROPERTY:KILN_STATIC_UPSTREAM>>)
add_library(KilnUpstream INTERFACE)
target_link_libraries(KilnUpstream INTERFACE $<${kilnIsStatic}:KilnArchives> $<$<NOT:${kilnIsStatic}>:MLIR> $<$<NOT:${kilnIsStatic}>:LLVM>)
add_library(KilnClang INTERFACE)
target_link_libraries(KilnClang INTERFACE $<$<NOT:${kilnIsStatic}>:${KILN_CLANG_CPP}>)
