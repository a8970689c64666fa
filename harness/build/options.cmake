include(GNUInstallDirs)

# What a person may choose at configure time.
set(HYFREEDP_CUDA AUTO CACHE STRING "Build with CUDA: AUTO (when a GPU driver is present), ON, OFF")
set_property(CACHE HYFREEDP_CUDA PROPERTY STRINGS AUTO ON OFF)
set(HYFREEDP_CUDA_OBJECTS AUTO CACHE STRING
    "In a CPU build, compile the CUDA files without linking them: AUTO (where nvcc is found), ON, OFF")
set_property(CACHE HYFREEDP_CUDA_OBJECTS PROPERTY STRINGS AUTO ON OFF)
option(HYFREEDP_STATIC "Link everything but LibTorch, CUDA, C and what C++ runtime they share statically" OFF)
set(HYFREEDP_TESTS AUTO CACHE STRING "Build the tests: AUTO (where GoogleTest is found), ON, OFF")
set_property(CACHE HYFREEDP_TESTS PROPERTY STRINGS AUTO ON OFF)
option(HYFREEDP_TORCH "Build the parts that need LibTorch (the worker)" ON)
option(HYFREEDP_UNITY "Compile several files of a room as one: a shorter cold build" OFF)
set(HYFREEDP_SANITIZE "" CACHE STRING "Sanitizers for every target: address,undefined or thread")

# Of this project's own targets. -ffp-contract=off: the same arithmetic on every x86-64 machine.
# Designated initializers leave out members on purpose, which GCC 12 would warn of.
add_library(hyfreedp_flags INTERFACE)
target_compile_options(hyfreedp_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror
  -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 sees overlaps and reads beyond the ends in std::string's operator+ (GCC bug 105651), and
  # a precompiled header hides from it that this is the standard library's code. The address
  # sanitizer looks for the real ones.
  target_compile_options(hyfreedp_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# Of whoever links a room.
add_library(hyfreedp_includes INTERFACE)
target_include_directories(hyfreedp_includes INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/hyfreedp>)
target_compile_features(hyfreedp_includes INTERFACE cxx_std_20)
target_link_libraries(hyfreedp_flags INTERFACE hyfreedp_includes)
if(HYFREEDP_SANITIZE)
  # Where GCC 12 instruments, it sees reads and writes beyond the ends of sums of strings, and warns
  # that fences in Boost.Asio are none to the thread sanitizer. The other builds keep their warnings
  # as errors.
  target_compile_options(hyfreedp_flags INTERFACE -fsanitize=${HYFREEDP_SANITIZE} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized -Wno-error)
  target_link_options(hyfreedp_flags INTERFACE -fsanitize=${HYFREEDP_SANITIZE})
endif()

find_program(HYFREEDP_CCACHE ccache)
if(HYFREEDP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need the two sloppiness settings; see ccache's manual, "Precompiled
  # headers".
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${HYFREEDP_CCACHE})
endif()
