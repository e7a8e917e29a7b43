# Writes OUTPUT: a row of EmbeddedFiles.cpp for each of FILES (below ROOT, separated by |), named by its path without `include/`.
# Run by: cmake -DROOT=<runtime> -DFILES=<...> -DBUILTIN=<folder> -DOUTPUT=<file> -P EmbedFiles.cmake
# Without BUILTIN, only FILES are embedded (compiler/report).
set(rows "")
string(REPLACE "|" ";" FILES "${FILES}")
if(BUILTIN)
  list(APPEND FILES builtin/runner.cpp builtin/runner.mjs builtin/runner/functions.h builtin/runner/linux.h builtin/runner/model.cpp builtin/runner/model.h
       builtin/runner/semihosting.h builtin/runner/wasi.h builtin/runner/windows.h builtin/runner/windows_library.cpp builtin/runner/windows_stack.h
       builtin/runner/windows_variables.h builtin/session.h builtin/stddef.h builtin/stdint.h builtin/tensor.h web/model.mjs web/threads.mjs)
endif()
foreach(file IN LISTS FILES)
  if(BUILTIN AND file MATCHES "^(builtin|web)/")
    file(READ ${BUILTIN}/../${file} text)
  else()
    file(READ ${ROOT}/${file} text)
  endif()
  string(REGEX REPLACE "^include/" "" name ${file})
  # Compilers limit the length of one literal; neighbouring ones are joined.
  string(LENGTH "${text}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND literals "R\"kiln(${piece})kiln\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND rows "{\"${name}\", llvm::StringLiteral(${literals})},\n")
endforeach()
file(WRITE ${OUTPUT} "${rows}")
