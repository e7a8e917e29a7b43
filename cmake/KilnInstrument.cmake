# Sanitizers and coverage for all that is Kiln's own; LLVM and MLIR stay as they are installed.
if(KILN_SANITIZE)
  # UBSan's checks of dynamic types and of functions' types want the type descriptors of LLVM's classes, which are hidden there.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr,function -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()
if(KILN_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

# What the sanitizers leave out, where upstream's libraries would set them off; part of each program.
function(kiln_instrument_program target)
  if(KILN_SANITIZE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  endif()
endfunction()
