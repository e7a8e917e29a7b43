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
