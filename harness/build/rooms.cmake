# How a cold build stays short: nearly all of a file's compile time is in the headers of the
# standard library, Boost.JSON, fmt and LibTorch, so each kind of target has one precompiled header,
# which is compiled once and reused:
#   core          rooms without LibTorch
#   torch         rooms with it
#   core_test     tests of the former: core and GoogleTest
#   torch_test    tests of the latter
# A file still includes what it needs: it has to compile without the precompiled header too
# (clang-tidy reads it so).

# hyfreedp_precompiled(KIND): the target hyfreedp_KIND_pch, whose precompiled header other targets
# reuse. Made once.
function(hyfreedp_precompiled KIND)
  set(target hyfreedp_${KIND}_pch)
  if(TARGET ${target})
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/${KIND}_pch.cpp "namespace hyfreedp { void ${KIND}_pch_anchor() {} }\n")
  add_library(${target} STATIC ${CMAKE_BINARY_DIR}/${KIND}_pch.cpp)
  target_link_libraries(${target} PUBLIC hyfreedp_flags Boost::json fmt::fmt)
  if(KIND MATCHES torch)
    target_link_libraries(${target} PUBLIC hyfreedp::libtorch)
    # LibTorch's include folder brings headers of another fmt than the one that is linked.
    target_compile_definitions(${target} PRIVATE FMT_HEADER_ONLY)
    target_compile_options(${target} PRIVATE -fopenmp)
  endif()
  if(KIND MATCHES test)
    target_link_libraries(${target} PUBLIC GTest::gtest GTest::gmock)
  endif()
  target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/harness/build/${KIND}_pch.h)
endfunction()

# hyfreedp_reuse(TARGET KIND): TARGET is compiled with the precompiled header of that kind. It was
# made for a library and is refused by an executable's -fPIE, so every target is compiled with
# -fPIC.
function(hyfreedp_reuse TARGET KIND)
  hyfreedp_precompiled(${KIND})
  target_precompile_headers(${TARGET} REUSE_FROM hyfreedp_${KIND}_pch)
  set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${TARGET} PRIVATE -fPIC)
endfunction()

# hyfreedp_room(NAME [TORCH] [UNITY] [TEXT] FOLDER DIR [FILES ...] [DEPENDS targets...])
#   a static library hyfreedp_NAME (alias hyfreedp::NAME) of every .cpp in DIR (not below it), or of
#   FILES.
#   UNITY: where HYFREEDP_UNITY is on, up to eight files are compiled as one, so that names in their
#   unnamed namespaces must differ. Rooms to which users add files are compiled file by file.
#   TEXT: the room reads and writes text; in a release build it is compiled with -O1, in less time
#   (at which GCC 12 takes empty optionals for values that are not initialized).
function(hyfreedp_room NAME)
  cmake_parse_arguments(ROOM "TORCH;UNITY;TEXT" "FOLDER" "FILES;DEPENDS" ${ARGN})
  if(ROOM_TORCH AND NOT HYFREEDP_TORCH)
    return()
  endif()
  if(NOT ROOM_FILES)
    file(GLOB ROOM_FILES CONFIGURE_DEPENDS ${ROOM_FOLDER}/*.cpp)
  endif()
  if(NOT ROOM_FILES)
    add_library(hyfreedp_${NAME} INTERFACE)
    add_library(hyfreedp::${NAME} ALIAS hyfreedp_${NAME})
    target_link_libraries(hyfreedp_${NAME} INTERFACE hyfreedp_includes ${ROOM_DEPENDS})
    return()
  endif()
  add_library(hyfreedp_${NAME} STATIC ${ROOM_FILES})
  add_library(hyfreedp::${NAME} ALIAS hyfreedp_${NAME})
  set_target_properties(hyfreedp_${NAME} PROPERTIES EXPORT_NAME ${NAME})
  target_link_libraries(hyfreedp_${NAME} PRIVATE $<BUILD_INTERFACE:hyfreedp_flags> PUBLIC hyfreedp_includes ${ROOM_DEPENDS})
  if(ROOM_TORCH)
    hyfreedp_use_torch(hyfreedp_${NAME})
  else()
    hyfreedp_reuse(hyfreedp_${NAME} core)
  endif()
  if(ROOM_UNITY AND HYFREEDP_UNITY)
    set_target_properties(hyfreedp_${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # A type in an unnamed namespace seems to be of another file there.
    target_compile_options(hyfreedp_${NAME} PRIVATE -Wno-subobject-linkage)
  endif()
  if(ROOM_TEXT)
    target_compile_options(hyfreedp_${NAME} PRIVATE $<$<CONFIG:Release>:-O1$<SEMICOLON>-Wno-maybe-uninitialized>)
  endif()
endfunction()

# hyfreedp_use_torch(TARGET [KIND]): TARGET may use LibTorch; KIND of precompiled header: torch
# (default) or torch_test. at::parallel_for is a template in LibTorch's headers that is serial where
# OpenMP is off; the threads are LibTorch's own, whose libgomp is linked.
function(hyfreedp_use_torch TARGET)
  set(kind torch)
  if(ARGC GREATER 1)
    set(kind ${ARGV1})
  endif()
  target_compile_definitions(${TARGET} PRIVATE FMT_HEADER_ONLY)
  target_compile_options(${TARGET} PRIVATE -fopenmp)
  target_link_libraries(${TARGET} PUBLIC hyfreedp::libtorch)
  hyfreedp_reuse(${TARGET} ${kind})
endfunction()

# hyfreedp_test(NAME [TORCH] [UNITY] [DEVICE] [ALONE] [SHARDS n] [SLOW_SHARDS n]
# [DEPENDS targets...] [REFERENCE SUITE...] [LABELS ...] [TIMEOUT s])
#   one executable test_NAME of every *_test.cpp in tests/NAME, and one ctest entry of that name; with
#   SHARDS n entries NAME_1 to NAME_n instead, each with its part of the tests (GoogleTest's
#   sharding), so that they use several cores.
#   UNITY: as of rooms; a test's names lie in a namespace that is called as its file.
#   REFERENCE: each suite S (a gtest suite named ReferenceS...) gets an entry reference_s with the
#   label `reference`. DEVICE: suites named Device... need a GPU and get the entry gpu_NAME with the
#   label `gpu`. ALONE: suites named Alone... measure time and get the entry NAME_alone, beside which
#   no other runs. SLOW_SHARDS n: suites named Slow... get the entries NAME_slow_1 to NAME_slow_n with
#   the label `slow`, which tests/run leaves out unless --all or --slow asks for them.
function(hyfreedp_test NAME)
  cmake_parse_arguments(TEST "TORCH;DEVICE;ALONE;UNITY" "TIMEOUT;SHARDS;SLOW_SHARDS" "DEPENDS;REFERENCE;LABELS" ${ARGN})
  if(TEST_TORCH AND NOT HYFREEDP_TORCH)
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${NAME}/*_test.cpp)
  if(NOT files)
    return()
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)
  endif()
  if(HYFREEDP_SANITIZE)
    math(EXPR TEST_TIMEOUT "5 * ${TEST_TIMEOUT}")
  endif()
  add_executable(test_${NAME} ${files})
  target_link_libraries(test_${NAME} PRIVATE hyfreedp_flags ${TEST_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  # What a test spends its time on is in the rooms' libraries.
  target_compile_options(test_${NAME} PRIVATE $<$<CONFIG:Release>:-O1$<SEMICOLON>-Wno-maybe-uninitialized>)
  target_compile_definitions(test_${NAME} PRIVATE
    HYFREEDP_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" HYFREEDP_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    HYFREEDP_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
  if(TEST_TORCH)
    hyfreedp_use_torch(test_${NAME} torch_test)
  else()
    hyfreedp_reuse(test_${NAME} core_test)
  endif()
  if(TEST_UNITY AND HYFREEDP_UNITY)
    set_target_properties(test_${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
  set(one_thread OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE ${HYFREEDP_TEST_ENVIRONMENT})
  set(entries ${NAME})
  if(TEST_SHARDS)
    set(entries "")
    foreach(shard RANGE 1 ${TEST_SHARDS})
      list(APPEND entries ${NAME}_${shard})
    endforeach()
  endif()
  set(shard 0)
  foreach(entry ${entries})
    set(environment ${one_thread})
    if(TEST_SHARDS)
      list(APPEND environment GTEST_TOTAL_SHARDS=${TEST_SHARDS} GTEST_SHARD_INDEX=${shard})
      math(EXPR shard "${shard} + 1")
    endif()
    add_test(NAME ${entry} COMMAND test_${NAME} --gtest_filter=-Reference*:Device*:Alone*:Slow* --gtest_brief=1)
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}"
      ENVIRONMENT "${environment}" SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
  endforeach()
  if(TEST_SLOW_SHARDS)
    foreach(shard RANGE 1 ${TEST_SLOW_SHARDS})
      math(EXPR index "${shard} - 1")
      add_test(NAME ${NAME}_slow_${shard} COMMAND test_${NAME} --gtest_filter=Slow* --gtest_brief=1)
      set_tests_properties(${NAME}_slow_${shard} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "slow"
        ENVIRONMENT "${one_thread};GTEST_TOTAL_SHARDS=${TEST_SLOW_SHARDS};GTEST_SHARD_INDEX=${index}"
        SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
    endforeach()
  endif()
  if(TEST_ALONE)
    add_test(NAME ${NAME}_alone COMMAND test_${NAME} --gtest_filter=Alone* --gtest_brief=1)
    set_tests_properties(${NAME}_alone PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}" RUN_SERIAL TRUE
      ENVIRONMENT "${one_thread}" SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
  endif()
  if(TEST_DEVICE)
    add_test(NAME gpu_${NAME} COMMAND test_${NAME} --gtest_filter=Device*)
    set_tests_properties(gpu_${NAME} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "gpu"
      ENVIRONMENT "OMP_WAIT_POLICY=PASSIVE;CUBLAS_WORKSPACE_CONFIG=:4096:8;${HYFREEDP_TEST_ENVIRONMENT}"
      SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
  endif()
  foreach(suite ${TEST_REFERENCE})
    string(TOLOWER ${suite} lower)
    add_test(NAME reference_${lower} COMMAND test_${NAME} --gtest_filter=Reference${suite}*)
    set_tests_properties(reference_${lower} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "reference"
      ENVIRONMENT "${one_thread}" SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
  endforeach()
endfunction()
