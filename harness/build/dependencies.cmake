# Libraries. Everything but LibTorch is a Debian 12 package; LibTorch is unpacked into the cache by
# harness/build/bootstrap.sh (or found in HYFREEDP_LIBTORCH_DIR).
find_package(Boost 1.81 REQUIRED COMPONENTS program_options json)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_library(HYFREEDP_SQLITECPP SQLiteCpp REQUIRED)
find_path(HYFREEDP_SQLITECPP_INCLUDE SQLiteCpp/SQLiteCpp.h REQUIRED)

add_library(hyfreedp_sqlitecpp INTERFACE)
target_include_directories(hyfreedp_sqlitecpp SYSTEM INTERFACE ${HYFREEDP_SQLITECPP_INCLUDE})
target_link_libraries(hyfreedp_sqlitecpp INTERFACE ${HYFREEDP_SQLITECPP} SQLite::SQLite3)

if(NOT HYFREEDP_TORCH)
  return()
endif()

include(cuda)  # decides HYFREEDP_WITH_CUDA

if(DEFINED ENV{XDG_CACHE_HOME})
  set(_cache $ENV{XDG_CACHE_HOME}/hyfreedp)
else()
  set(_cache $ENV{HOME}/.cache/hyfreedp)
endif()
if(HYFREEDP_WITH_CUDA)
  set(_flavour cuda)
else()
  set(_flavour cpu)
endif()
set(HYFREEDP_LIBTORCH_DIR ${_cache}/libtorch-2.11.0-${_flavour} CACHE PATH
    "Folder that holds torch/include and torch/lib (the unpacked wheel)")
set(_torch ${HYFREEDP_LIBTORCH_DIR}/torch)
if(NOT EXISTS ${_torch}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "LibTorch is not in ${HYFREEDP_LIBTORCH_DIR}. Run harness/build/bootstrap.sh, which fetches it, "
                      "or set -DHYFREEDP_LIBTORCH_DIR=DIR.")
endif()

if(HYFREEDP_WITH_CUDA)
  list(APPEND CMAKE_PREFIX_PATH ${_torch}/share/cmake)
  set(ENV{TORCH_CUDA_ARCH_LIST} "8.0;9.0")
  find_package(Torch REQUIRED)
  add_library(hyfreedp::libtorch ALIAS torch)
else()
  # TorchConfig.cmake of this wheel insists on a CUDA toolkit, so the CPU libraries are named here. libtorch_cpu.so
  # refers to CUDA libraries that a CPU process never calls, hence --allow-shlib-undefined.
  add_library(hyfreedp_libtorch INTERFACE)
  add_library(hyfreedp::libtorch ALIAS hyfreedp_libtorch)
  target_include_directories(hyfreedp_libtorch SYSTEM INTERFACE
    ${_torch}/include ${_torch}/include/torch/csrc/api/include)
  target_link_libraries(hyfreedp_libtorch INTERFACE
    ${_torch}/lib/libtorch_cpu.so ${_torch}/lib/libc10.so Threads::Threads)
  target_link_options(hyfreedp_libtorch INTERFACE
    -Wl,--allow-shlib-undefined
    -Wl,-rpath,${_torch}/lib -Wl,-rpath,${HYFREEDP_LIBTORCH_DIR}/nvidia/cu13/lib)
endif()
