# Writes OUTPUT: a row of EmbeddedFiles.cpp for each of FILES (separated by |), named by its path below runtime/include or runtime.
# Run by: cmake -DROOT=<runtime> -DFILES=<...> -DOUTPUT=<file> -P EmbedFiles.cmake
set(rows "")
string(REPLACE "|" ";" FILES "${FILES}")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
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
  string(APPEND rows "{\"${name}\", ${literals}},\n")
endforeach()
file(WRITE ${OUTPUT} "${rows}")
