// Compiled without the precompiled header: session.hpp, and graph.hpp in it, brings no threads, files, iostream,
// variant, deque, Asio or Cereal, not by way of others either. (The names are the include guards of libstdc++ and of
// those libraries.)
#if __has_include(<pinion/session.hpp>)
#include <pinion/session.hpp>
#endif

#if defined(_GLIBCXX_THREAD) || defined(_GLIBCXX_MUTEX) || defined(_GLIBCXX_CONDITION_VARIABLE) || \
    defined(_GLIBCXX_FUTURE) || defined(_GLIBCXX_STOP_TOKEN)
#error session.hpp brings threads
#endif
#if defined(_GLIBCXX_FILESYSTEM) || defined(_GLIBCXX_FSTREAM) || defined(_GLIBCXX_IOSTREAM)
#error session.hpp brings files
#endif
#if defined(_GLIBCXX_VARIANT) || defined(_GLIBCXX_DEQUE)
#error session.hpp brings containers that bodies need alone
#endif
#if defined(ASIO_VERSION) || defined(CEREAL_CEREAL_HPP_)
#error session.hpp brings Asio or Cereal
#endif
