// Compiled without the precompiled header: graph.hpp brings no threads, iostream, Asio or Cereal, not by way of others
// either. (The names are the include guards of libstdc++ and of those libraries.)
#if __has_include(<pinion/graph.hpp>)
#include <pinion/graph.hpp>
#endif

#if defined(_GLIBCXX_THREAD) || defined(_GLIBCXX_MUTEX) || defined(_GLIBCXX_CONDITION_VARIABLE) || \
    defined(_GLIBCXX_FUTURE)
#error graph.hpp brings threads
#endif
#if defined(_GLIBCXX_IOSTREAM)
#error graph.hpp brings iostream
#endif
#if defined(ASIO_VERSION) || defined(CEREAL_CEREAL_HPP_)
#error graph.hpp brings Asio or Cereal
#endif
