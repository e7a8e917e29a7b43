# One precompiled header for the whole compiler, of upstream MLIR and of the classes of Kiln's operations: without the latter, a translation unit takes
# three times as long. Most units include them, so a change of an operation compiles the same units again with and without it.
add_library(KilnPrecompiled OBJECT ${PROJECT_SOURCE_DIR}/compiler/Precompiled.cpp)
target_precompile_headers(KilnPrecompiled PRIVATE ${PROJECT_SOURCE_DIR}/compiler/Precompiled.h)
target_compile_options(KilnPrecompiled PRIVATE -Wall -Wextra -Wno-unused-parameter -fvisibility-inlines-hidden)
add_dependencies(KilnPrecompiled KilnNNTableGen)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Without a time stamp in it, ccache can serve the precompiled header.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

function(kiln_compile_settings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -fvisibility-inlines-hidden)
  target_precompile_headers(${target} REUSE_FROM KilnPrecompiled)
endfunction()

# kiln_add_library(<name> <sources...> [DEPENDS <targets...>] [LINK <libraries...>])
# A static library of the compiler. DEPENDS names TableGen targets that must run first.
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
