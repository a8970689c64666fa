# Decides HYFREEDP_WITH_CUDA from HYFREEDP_CUDA (AUTO|ON|OFF).
#
# AUTO: on when a GPU driver is present. Then nvcc 13.0 must be there too: a machine with a GPU that silently trains on
# the CPU is not what its owner asked for, so its absence is an error that names the package, or -DHYFREEDP_CUDA=OFF.
set(_driver FALSE)
if(EXISTS /proc/driver/nvidia/version OR EXISTS /dev/nvidia0)
  set(_driver TRUE)
endif()
set(HYFREEDP_WITH_CUDA FALSE)
if(HYFREEDP_CUDA STREQUAL "ON" OR (HYFREEDP_CUDA STREQUAL "AUTO" AND _driver))
  find_program(HYFREEDP_NVCC nvcc HINTS $ENV{CUDACXX} $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  set(_version "")
  if(HYFREEDP_NVCC)
    execute_process(COMMAND ${HYFREEDP_NVCC} --version OUTPUT_VARIABLE _text ERROR_QUIET)
    string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" _ "${_text}")
    set(_version ${CMAKE_MATCH_1})
  endif()
  if(NOT _version VERSION_GREATER_EQUAL 13.0)
    message(FATAL_ERROR
      "A CUDA build was asked for (HYFREEDP_CUDA=${HYFREEDP_CUDA}, GPU driver present: ${_driver}) but no usable nvcc "
      "was found (found: '${HYFREEDP_NVCC}' ${_version}). Install NVIDIA's package cuda-toolkit-13-0 and put its nvcc "
      "on PATH, or build for the CPU: --cpu with experiments/run and tests/run, -DHYFREEDP_CUDA=OFF with cmake.")
  endif()
  set(HYFREEDP_WITH_CUDA TRUE)
  set(CMAKE_CUDA_COMPILER ${HYFREEDP_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES 80 90)
  set(CMAKE_CUDA_STANDARD 20)
  enable_language(CUDA)
endif()
message(STATUS "CUDA: ${HYFREEDP_WITH_CUDA} (HYFREEDP_CUDA=${HYFREEDP_CUDA})")
