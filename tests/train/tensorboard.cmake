# TensorBoard's own reader, where there is one (pip install tensorboard; -D Python3_EXECUTABLE=... picks the Python).
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND PINION_HAS_PROTOZERO)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import tensorboard.backend.event_processing.event_accumulator"
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    add_executable(pinion_write_events ${CMAKE_CURRENT_LIST_DIR}/programs/write_events.cpp)
    target_link_libraries(pinion_write_events PRIVATE pinion::compiled)
    add_test(NAME train/tensorboard COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/read_with_tensorboard.py
      $<TARGET_FILE:pinion_write_events>)
    set_tests_properties(train/tensorboard PROPERTIES TIMEOUT 120)
  endif()
endif()
