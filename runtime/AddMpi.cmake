# kiln_add_mpi(name source): libkiln_mpi.a, the communicator for ranks under MPI, for the MPI that find_package(MPI COMPONENTS CXX) has found. Implementations
# of MPI do not fit each other's programs, so find_package(Kiln COMPONENTS mpi) compiles this one file for each project.
function(kiln_add_mpi name source)
  add_library(${name} STATIC ${source})
  target_link_libraries(${name} PUBLIC Kiln::runtime Kiln::headers MPI::MPI_CXX)
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_compile_options(${name} PRIVATE -Wall -Wextra -fno-exceptions -fno-rtti -fno-threadsafe-statics $<$<NOT:$<CONFIG:Debug>>:-O2>)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME kiln_mpi CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET default
                                           VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# kiln_add_launcher(name compiler folder runtime sources): a shared library with the functions of kiln/launcher.h, which kiln loads under mpirun, made by the
# compiler of an MPI (mpicxx). Nothing of it is seen from outside but these functions: kiln has a runtime of its own.
function(kiln_add_launcher name compiler folder runtime sources)
  set(output ${folder}/kiln_${name}.so)
  file(GLOB headers CONFIGURE_DEPENDS ${runtime}/include/kiln/*.h ${runtime}/src/*.h ${runtime}/src/ranks/*.h)
  add_custom_command(OUTPUT ${output} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${compiler} -shared -fPIC -O2 -std=c++17 -Wall -Wextra -fvisibility=hidden -fno-exceptions -fno-rtti -fno-threadsafe-statics -I${runtime}/include
            ${sources} $<TARGET_FILE:kiln_runtime> -Wl,--exclude-libs,ALL -Wl,--as-needed -pthread -o ${output}
    DEPENDS ${sources} ${headers} kiln_runtime
    COMMENT "Building kiln_${name}.so, by which kiln joins ranks under MPI")
  add_custom_target(kiln_launcher_${name} ALL DEPENDS ${output})
endfunction()
