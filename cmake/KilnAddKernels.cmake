# kiln_add_kernels(<target> KERNELS <kernel>... [NAME <name>] [TARGETS <cpu>...] [OPS <file>...] [OPTIONS <option>...])
#
# Compiles kernels without a model and makes <target>, a library to link: it carries <name>.h and the kernels' objects. A kernel is [AS=]KERNEL[:PARAMETER=VALUE]...,
# as `kiln kernels --list` names them, or a definition of a file of OPS. NAME is the prefix of all symbols (default: <target>). Several CPUs give one library
# that chooses at run time; the default is as for kiln_add_model. OPTIONS go to kiln as they are.
function(kiln_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME" "KERNELS;TARGETS;OPS;OPTIONS")
  if(NOT ARG_KERNELS OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_add_kernels(${target}): expected KERNELS <kernel>... [NAME <name>] [TARGETS <cpu>...] [OPS <file>...] [OPTIONS <option>...]")
  endif()
  if(NOT TARGET Kiln::kiln)
    message(FATAL_ERROR "kiln_add_kernels(${target}): the compiler is not installed here; set KILN_EXECUTABLE")
  endif()
  if(NOT ARG_NAME)
    string(MAKE_C_IDENTIFIER "${target}" ARG_NAME)
  endif()
  if(NOT ARG_NAME MATCHES "^[A-Za-z][A-Za-z0-9_]*$" OR ARG_NAME MATCHES "__|_$")
    message(FATAL_ERROR "kiln_add_kernels(${target}): NAME is ${ARG_NAME}, expected a C identifier without two underscores in a row or one at its end")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kiln)
  list(JOIN ARG_KERNELS "," kernels)
  set(options --name ${ARG_NAME} -o ${folder} ${ARG_OPTIONS})
  _kiln_find_machine(${target} "${ARG_TARGETS}" cpus system)
  if(system AND NOT ARG_OPTIONS MATCHES "--system=")
    list(APPEND options --system=${system})
  endif()
  if(cpus)
    list(JOIN cpus "," cpus)
    list(APPEND options --target=${cpus})
  endif()
  set(files "")
  foreach(file IN LISTS ARG_OPS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files ${file})
    list(APPEND options --ops ${file})
  endforeach()
  add_custom_command(
    OUTPUT ${folder}/lib${ARG_NAME}.a ${folder}/${ARG_NAME}.h
    COMMAND Kiln::kiln kernels ${kernels} ${options} -q
    DEPENDS ${files} Kiln::kiln
    COMMENT "Compiling kernels ${ARG_NAME}"
    VERBATIM)
  add_custom_target(${target}_kiln DEPENDS ${folder}/lib${ARG_NAME}.a)
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_kiln)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} INTERFACE $<BUILD_INTERFACE:${folder}/lib${ARG_NAME}.a> $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/lib/lib${ARG_NAME}.a>)
  # For kiln_install_model().
  set_target_properties(${target} PROPERTIES KILN_NAME ${ARG_NAME} KILN_FOLDER ${folder} KILN_EMIT "" KILN_WEIGHTS "")
endfunction()
