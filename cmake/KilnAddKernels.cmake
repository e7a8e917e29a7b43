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
  _kiln_find_name("kiln_add_kernels(${target})" ${target} "${ARG_NAME}" ARG_NAME)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kiln)
  list(JOIN ARG_KERNELS "," kernels)
  set(options --name ${ARG_NAME} -o ${folder} ${ARG_OPTIONS})
  _kiln_add_machine("kiln_add_kernels(${target})" TARGETS "${ARG_TARGETS}" options)
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
  _kiln_wrap_library(${target} ${ARG_NAME} ${folder} ${folder}/lib${ARG_NAME}.a)
  # For kiln_install_model().
  set_target_properties(${target} PROPERTIES KILN_NAME ${ARG_NAME} KILN_FOLDER ${folder} KILN_EMIT "" KILN_WEIGHTS "")
endfunction()
