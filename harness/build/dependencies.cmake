# Libraries. Everything but LibTorch is a Debian 12 package; LibTorch is unpacked into the cache by
# harness/build/bootstrap.sh (or found in HYFREEDP_LIBTORCH_DIR).
if(HYFREEDP_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
  set(OPENSSL_USE_STATIC_LIBS TRUE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  # A process with LibTorch must share its C++ runtime: two of them free each other's locales and
  # abort. GCC's is put beside the programs, for a machine whose own is older.
  foreach(_runtime libstdc++.so.6 libgcc_s.so.1)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${_runtime} OUTPUT_VARIABLE _file
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH ${_file} _file)
    configure_file(${_file} ${CMAKE_BINARY_DIR}/lib/${_runtime} COPYONLY)
  endforeach()
endif()
find_package(Boost 1.81 REQUIRED COMPONENTS program_options json)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(yaml-cpp REQUIRED)
find_library(HYFREEDP_UTF8PROC utf8proc REQUIRED)
if(HYFREEDP_STATIC)
  # Debian has yaml-cpp's archive but no CMake target for it, and of fmt only the headers.
  find_library(_yaml yaml-cpp REQUIRED)
  set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION_NONE ${_yaml} IMPORTED_SONAME_NONE "")
  add_library(fmt::fmt INTERFACE IMPORTED)
  set_target_properties(fmt::fmt PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
else()
  find_package(fmt REQUIRED)
endif()
if(HYFREEDP_STATIC)
  # Debian has no archives of what libarchive and libcurl use, so they are put beside the programs
  # with all of that; nor of SentencePiece.
  set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
  find_library(LibArchive_LIBRARY archive REQUIRED)
  find_library(CURL_LIBRARY curl REQUIRED)
  find_library(HYFREEDP_SENTENCEPIECE sentencepiece REQUIRED)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  foreach(_library ${LibArchive_LIBRARY} ${CURL_LIBRARY})
    execute_process(COMMAND ldd ${_library} OUTPUT_VARIABLE _uses COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "/[^ ]+" _uses "${_uses}")
    foreach(_use ${_uses})
      get_filename_component(_name ${_use} NAME)
      if(NOT _name MATCHES "^(libc|libm|libdl|libpthread|ld-linux.*|libstdc..|libgcc_s)[.]so")
        file(REAL_PATH ${_use} _file)
        configure_file(${_file} ${CMAKE_BINARY_DIR}/lib/${_name} COPYONLY)
      endif()
    endforeach()
  endforeach()
  file(REAL_PATH ${LibArchive_LIBRARY} _file)
  configure_file(${_file} ${CMAKE_BINARY_DIR}/lib/libarchive.so.13 COPYONLY)
  file(REAL_PATH ${CURL_LIBRARY} _file)
  configure_file(${_file} ${CMAKE_BINARY_DIR}/lib/libcurl.so.4 COPYONLY)
  file(REAL_PATH ${HYFREEDP_SENTENCEPIECE} _file)
  configure_file(${_file} ${CMAKE_BINARY_DIR}/lib/libsentencepiece.so.0 COPYONLY)
  set(CURL_NO_CURL_CMAKE ON)
endif()
find_library(HYFREEDP_SENTENCEPIECE sentencepiece REQUIRED)
# Loaded by those programs alone that have datasets/text/sentence_pieces.cpp, which keeps it and
# LibTorch apart.
set(HYFREEDP_SENTENCEPIECE_LINK -Wl,--push-state,--as-needed,${HYFREEDP_SENTENCEPIECE},--pop-state)
find_package(LibArchive REQUIRED)
find_package(CURL 7.85 REQUIRED)
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

# TorchConfig.cmake looks for a whole CUDA toolkit, also in a CPU build; so the libraries are named
# here. Those that they need in turn they find beside themselves.
add_library(hyfreedp_libtorch INTERFACE)
add_library(hyfreedp::libtorch ALIAS hyfreedp_libtorch)
target_include_directories(hyfreedp_libtorch SYSTEM INTERFACE
  ${_torch}/include ${_torch}/include/torch/csrc/api/include)
target_link_libraries(hyfreedp_libtorch INTERFACE
  ${_torch}/lib/libtorch_cpu.so ${_torch}/lib/libc10.so ${_torch}/lib/libgomp.so.1 Threads::Threads)
# In a CPU build libtorch_cpu.so refers to CUDA libraries that a CPU process never calls.
target_link_options(hyfreedp_libtorch INTERFACE -Wl,--allow-shlib-undefined)
if(NOT HYFREEDP_STATIC)
  target_link_options(hyfreedp_libtorch INTERFACE
    -Wl,-rpath,${_torch}/lib -Wl,-rpath,${HYFREEDP_LIBTORCH_DIR}/nvidia/cu13/lib)
endif()
if(HYFREEDP_WITH_CUDA)
  set(_nvidia ${HYFREEDP_LIBTORCH_DIR}/nvidia)
  # Nothing here names a symbol of libtorch_cuda.so, whose loading is what registers the device.
  target_link_libraries(hyfreedp_libtorch INTERFACE -Wl,--push-state,--no-as-needed
    ${_torch}/lib/libtorch_cuda.so -Wl,--pop-state ${_torch}/lib/libc10_cuda.so ${_nvidia}/cu13/lib/libcudart.so.13)
  foreach(_folder cu13 cudnn cusparselt nccl nvshmem)
    target_link_options(hyfreedp_libtorch INTERFACE -Wl,-rpath-link,${_nvidia}/${_folder}/lib)
  endforeach()
endif()
