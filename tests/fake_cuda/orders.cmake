# An order that a program of CUDA forgets is a data race for the thread sanitizer, in every run.
if(NOT PINION_HAS_CUDA OR NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  return()
endif()
add_executable(pinion_cuda_orders ${CMAKE_CURRENT_LIST_DIR}/programs/orders.cpp)
target_link_libraries(pinion_cuda_orders PRIVATE pinion_cuda_stand_in)
target_include_directories(pinion_cuda_orders PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
foreach(order IN ITEMS ordered without_wait without_barrier without_copy)
  add_test(NAME fake_cuda/${order} COMMAND pinion_cuda_orders ${order})
  set_tests_properties(fake_cuda/${order} PROPERTIES TIMEOUT 60
    PASS_REGULAR_EXPRESSION "ThreadSanitizer: data race")
endforeach()
set_tests_properties(fake_cuda/ordered PROPERTIES PASS_REGULAR_EXPRESSION "first: 63")
