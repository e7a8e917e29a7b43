# During an install: which of the folders that the install may make are not there yet, innermost last.
set(kilnNewFolders "")
set(kilnPrefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
foreach(folder . bin include include/kiln lib ${kilnLibdir} ${kilnLibdir}/cmake ${kilnLibdir}/cmake/Kiln ${kilnLibdir}/kiln ${kilnLibdir}/pkgconfig share
               share/bash-completion share/bash-completion/completions share/doc share/doc/kiln share/fish share/fish/vendor_completions.d share/kiln share/man
               share/man/man1 share/zsh share/zsh/site-functions share/zsh/vendor-completions)
  if(NOT EXISTS "${kilnPrefix}/${folder}")
    list(APPEND kilnNewFolders ${folder})
  endif()
endforeach()
list(REMOVE_DUPLICATES kilnNewFolders)
