# Suites of other libraries as tests, where the libraries are there: NumPy's values of elementwise functions, torch's
# samples of its functions, and random programs that JAX differentiates too.
#
#   python3 -m venv suites && suites/bin/pip install numpy torch expecttest jax
#   cmake --preset dev -D PINION_SUITES_PYTHON=$PWD/suites/bin/python
find_package(Python3 QUIET COMPONENTS Interpreter)
set(PINION_SUITES_PYTHON "${Python3_EXECUTABLE}" CACHE FILEPATH "Python whose numpy, torch and jax the suites ask")
if(NOT (PINION_SUITES_PYTHON AND PINION_HAS_JSON))
  return()
endif()

foreach(suite IN ITEMS numpy_umath torch_opinfo jax_programs)
  string(REGEX MATCH "^[a-z]+" library ${suite})
  execute_process(COMMAND ${PINION_SUITES_PYTHON} -c
    "import importlib.util as u, sys; sys.exit(not (u.find_spec('numpy') and u.find_spec('${library}')))"
    RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(missing)
    continue()
  endif()
  if(NOT TARGET pinion_suite)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
    add_executable(pinion_suite ${sources})
    target_link_libraries(pinion_suite PRIVATE pinion::compiled)
  endif()
  add_test(NAME suites/${suite} COMMAND ${PINION_SUITES_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/${suite}.py
    $<TARGET_FILE:pinion_suite>)
  set_tests_properties(suites/${suite} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;CUDA_VISIBLE_DEVICES=-1")
endforeach()
