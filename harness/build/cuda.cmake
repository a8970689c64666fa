# Decides HYFREEDP_WITH_CUDA from HYFREEDP_CUDA (AUTO|ON|OFF), and in a CPU build
# HYFREEDP_COMPILE_CUDA from HYFREEDP_CUDA_OBJECTS (AUTO|ON|OFF).
#
# AUTO: on when a GPU driver is present. Then nvcc 13.0 must be there too: a machine with a GPU that
# silently trains on the CPU is not what its owner asked for, so its absence is an error that names
# the package, or -DHYFREEDP_CUDA=OFF.
#
# A CPU build compiles the kernels and the CUDA host files all the same where it finds nvcc, for one
# architecture and without linking them, so that an error in them is seen on machines without a GPU.
set(_driver FALSE)
if(EXISTS /proc/driver/nvidia/version OR EXISTS /dev/nvidia0)
  set(_driver TRUE)
endif()
set(HYFREEDP_WITH_CUDA FALSE)
set(HYFREEDP_COMPILE_CUDA FALSE)
find_program(HYFREEDP_NVCC nvcc HINTS $ENV{CUDACXX} $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
set(_nvcc_version "")
if(HYFREEDP_NVCC)
  execute_process(COMMAND ${HYFREEDP_NVCC} --version OUTPUT_VARIABLE _text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" _ "${_text}")
  set(_nvcc_version ${CMAKE_MATCH_1})
endif()
set(_nvcc_usable FALSE)
if(_nvcc_version VERSION_GREATER_EQUAL 13.0)
  set(_nvcc_usable TRUE)
endif()

if(HYFREEDP_CUDA STREQUAL "ON" OR (HYFREEDP_CUDA STREQUAL "AUTO" AND _driver))
  if(NOT _nvcc_usable)
    message(FATAL_ERROR
      "A CUDA build was asked for (HYFREEDP_CUDA=${HYFREEDP_CUDA}, GPU driver present: ${_driver}) but no usable nvcc "
      "was found (found: '${HYFREEDP_NVCC}' ${_nvcc_version}). Install NVIDIA's package cuda-toolkit-13-0 and put its "
      "nvcc on PATH, or build for the CPU: --cpu with experiments/run and tests/run, -DHYFREEDP_CUDA=OFF with cmake.")
  endif()
  set(HYFREEDP_WITH_CUDA TRUE)
  set(_architectures 80 90)
elseif(HYFREEDP_CUDA_OBJECTS STREQUAL "ON" AND NOT _nvcc_usable)
  message(FATAL_ERROR "HYFREEDP_CUDA_OBJECTS=ON compiles the kernels, but no nvcc 13.0 or later was found "
                      "(found: '${HYFREEDP_NVCC}' ${_nvcc_version}). Put it on PATH, or set AUTO or OFF.")
elseif(NOT HYFREEDP_CUDA_OBJECTS STREQUAL "OFF" AND _nvcc_usable AND NOT HYFREEDP_SANITIZE)
  set(HYFREEDP_COMPILE_CUDA TRUE)
  set(_architectures 90)
elseif(NOT _nvcc_usable)
  message(STATUS "CUDA kernels: not compiled, because there is no nvcc 13.0 or later (found: '${HYFREEDP_NVCC}' ${_nvcc_version})")
endif()

if(HYFREEDP_WITH_CUDA OR HYFREEDP_COMPILE_CUDA)
  set(CMAKE_CUDA_COMPILER ${HYFREEDP_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES ${_architectures})
  enable_language(CUDA)
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # targets get the one that LibTorch brings
endif()
message(STATUS "CUDA: ${HYFREEDP_WITH_CUDA} (HYFREEDP_CUDA=${HYFREEDP_CUDA}); kernels compiled without being linked: "
               "${HYFREEDP_COMPILE_CUDA}")

# Headers of the CUDA libraries, for host files; from the wheel's NVIDIA packages where they are
# there.
function(hyfreedp_cuda_includes TARGET)
  get_filename_component(bin ${HYFREEDP_NVCC} DIRECTORY)
  set(folders ${bin}/../include)
  if(HYFREEDP_WITH_CUDA)
    list(PREPEND folders ${HYFREEDP_LIBTORCH_DIR}/nvidia/cu13/include)
  endif()
  target_include_directories(${TARGET} SYSTEM PRIVATE ${folders})
endfunction()

# hyfreedp_cuda_kernels(NAME STATIC|OBJECT files...): .cu files, without LibTorch. No contraction of
# products and sums, so that results equal the CPU's.
function(hyfreedp_cuda_kernels NAME KIND)
  add_library(${NAME} ${KIND} ${ARGN})
  target_include_directories(${NAME} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${NAME} PROPERTIES CXX_VISIBILITY_PRESET hidden)
  target_compile_options(${NAME} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off>)
endfunction()
