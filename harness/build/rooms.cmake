# hyfreedp_room(NAME [TORCH] FOLDER DIR [FILES ...] [DEPENDS targets...])
#   a static library hyfreedp_NAME (alias hyfreedp::NAME) of every .cpp in DIR (not below it), or of FILES.
function(hyfreedp_room NAME)
  cmake_parse_arguments(ROOM "TORCH" "FOLDER" "FILES;DEPENDS" ${ARGN})
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
  endif()
endfunction()

function(hyfreedp_use_torch TARGET)
  if(NOT TARGET hyfreedp_torch_pch)
    file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cpp "namespace hyfreedp { void torch_pch_anchor() {} }\n")
    add_library(hyfreedp_torch_pch STATIC ${CMAKE_BINARY_DIR}/torch_pch.cpp)
    target_link_libraries(hyfreedp_torch_pch PUBLIC hyfreedp_flags hyfreedp::libtorch Boost::json fmt::fmt)
    target_compile_definitions(hyfreedp_torch_pch PRIVATE FMT_HEADER_ONLY)
    target_precompile_headers(hyfreedp_torch_pch PRIVATE ${CMAKE_SOURCE_DIR}/harness/build/torch_pch.h)
  endif()
  # LibTorch's include folder brings headers of another fmt than the one that is linked.
  target_compile_definitions(${TARGET} PRIVATE FMT_HEADER_ONLY)
  target_link_libraries(${TARGET} PUBLIC hyfreedp::libtorch)
  target_precompile_headers(${TARGET} REUSE_FROM hyfreedp_torch_pch)
  # A precompiled header made for a library is refused by an executable's -fPIE.
  set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${TARGET} PRIVATE -fPIC)
endfunction()

# hyfreedp_parallel(FILES...): the files whose at::parallel_for is to use threads. It is a template in LibTorch's headers and
# serial where OpenMP is off; the threads are LibTorch's own, whose libgomp is linked. A precompiled header made
# without -fopenmp does not fit such a file.
function(hyfreedp_parallel)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -fopenmp)
endfunction()

# hyfreedp_test(NAME [TORCH] [DEVICE] [DEPENDS targets...] [REFERENCE SUITE...] [LABELS ...] [TIMEOUT s])
#   one executable test_NAME of every *_test.cpp in tests/NAME, and one ctest entry of the same name. Each REFERENCE
#   suite S (a gtest suite named ReferenceS...) gets its own entry reference_s with the label `reference`. DEVICE: suites named Device... need a GPU and get the entry
#   gpu_NAME with the label `gpu`.
function(hyfreedp_test NAME)
  cmake_parse_arguments(TEST "TORCH;DEVICE" "TIMEOUT" "DEPENDS;REFERENCE;LABELS" ${ARGN})
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
  add_executable(test_${NAME} ${files})
  target_link_libraries(test_${NAME} PRIVATE hyfreedp_flags ${TEST_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(test_${NAME} PRIVATE
    HYFREEDP_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" HYFREEDP_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    HYFREEDP_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
  if(TEST_TORCH)
    hyfreedp_use_torch(test_${NAME})
  endif()
  add_test(NAME ${NAME} COMMAND test_${NAME} --gtest_filter=-Reference*:Device* --gtest_brief=1)
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}"
    ENVIRONMENT "OMP_NUM_THREADS=1;OMP_WAIT_POLICY=PASSIVE" SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
  if(TEST_DEVICE)
    add_test(NAME gpu_${NAME} COMMAND test_${NAME} --gtest_filter=Device*)
    set_tests_properties(gpu_${NAME} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "gpu"
      ENVIRONMENT "OMP_WAIT_POLICY=PASSIVE;CUBLAS_WORKSPACE_CONFIG=:4096:8" SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
  endif()
  foreach(suite ${TEST_REFERENCE})
    string(TOLOWER ${suite} lower)
    add_test(NAME reference_${lower} COMMAND test_${NAME} --gtest_filter=Reference${suite}*)
    set_tests_properties(reference_${lower} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "reference"
      ENVIRONMENT "OMP_NUM_THREADS=1;OMP_WAIT_POLICY=PASSIVE" SKIP_REGULAR_EXPRESSION "SKIPPED SUITE")
  endforeach()
endfunction()
