# One precompiled header for the whole compiler, of upstream MLIR alone: it changes with LLVM, not with Kiln.
add_library(KilnPrecompiled OBJECT ${PROJECT_SOURCE_DIR}/compiler/Precompiled.cpp)
target_precompile_headers(KilnPrecompiled PRIVATE ${PROJECT_SOURCE_DIR}/compiler/Precompiled.h)
# As in LLVM's own libraries, nothing throws.
set(kilnCompileOptions -Wall -Wextra -Wno-unused-parameter -fvisibility-inlines-hidden -fno-exceptions)
target_compile_options(KilnPrecompiled PRIVATE ${kilnCompileOptions})
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Without a time stamp in it, ccache can serve the precompiled header.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

option(KILN_UNITY "Compile several sources of a library at once: two thirds of the time of a whole build, but a change of one source compiles all of them" OFF)

# Compiles `count` sources of a target at once if KILN_UNITY is set. Sources that open the namespace llvm are kept apart from those that open mlir, because some
# names of LLVM are in both.
function(kiln_unite target count)
  if(NOT KILN_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(number.llvm 0)
  set(number.other 0)
  foreach(source IN LISTS sources)
    get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    if(alone OR NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE)
    file(STRINGS "${path}" opens REGEX "^using namespace llvm;" LIMIT_COUNT 1)
    set(kind other)
    if(opens)
      set(kind llvm)
    endif()
    math(EXPR group "${number.${kind}} / ${count}")
    math(EXPR number.${kind} "${number.${kind}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${kind}${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# All generated headers are there before the first source is compiled.
function(kiln_compile_settings target)
  add_dependencies(${target} KilnNNTableGen)
  target_compile_options(${target} PRIVATE ${kilnCompileOptions})
  target_precompile_headers(${target} REUSE_FROM KilnPrecompiled)
  kiln_unite(${target} 12)
endfunction()

# kiln_add_library(<name> <sources...> [DEPENDS <targets...>] [LINK <libraries...>])
# A static library of the compiler. DEPENDS names targets that must run first: those that generate its headers, beside the dialects' ones.
function(kiln_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  kiln_compile_settings(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} KilnUpstream)
endfunction()

# kiln_add_tool(<name> <sources...> [STATIC] [LINK <libraries...>]): STATIC for programs that start often, which have LLVM in them.
function(kiln_add_tool name)
  cmake_parse_arguments(ARG "STATIC" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_STATIC)
    set_target_properties(${name} PROPERTIES KILN_STATIC_UPSTREAM ${kilnStatic})
    # libxml2 is only for manifests of Windows programs, which nothing here reads.
    target_link_options(${name} PRIVATE -Wl,--as-needed)
  endif()
  # The precompiled header is -fPIC; an executable's -fPIE does not go with it.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  kiln_compile_settings(${name})
  kiln_instrument_program(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} KilnUpstream)
endfunction()
