// Bodies of <pinion/rpc/security/credentials.hpp>.
#pragma once

#include <cstdlib>

#include <pinion/base/error.hpp>
#include <pinion/rpc/security/credentials.hpp>
#include <pinion/rpc/security/secret_file.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

// The source of a key: a text, a file, or neither.
struct key_source {
  std::string text, file;
  bool empty() const { return text.empty() && file.empty(); }
};

inline std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

inline shared_key key_of(const key_source& from, const std::string& text_name, const std::string& file_name) {
  if (!from.text.empty() && !from.file.empty())
    throw error(errc::invalid_argument, "the shared key is given twice: by " + text_name + " and by " + file_name);
  if (from.file.empty()) return shared_key(from.text);
  std::string text = read_credential(from.file, "the key file", readers::owner);
  for (const char end : {'\n', '\r'})
    if (!text.empty() && text.back() == end) text.pop_back();
  if (text.empty()) throw error(errc::invalid_argument, "the key file '" + from.file + "' is empty");
  return shared_key(text);
}

inline shared_key key_of(const security_options& options) {
  if (const key_source own{options.key, options.key_file}; !own.empty()) return key_of(own, ".key", ".key_file");
  return key_of({from_environment("PINION_KEY"), from_environment("PINION_KEY_FILE")}, "PINION_KEY", "PINION_KEY_FILE");
}

inline std::shared_ptr<const tls_files> tls_of(const security_options& options) {
  const std::pair<const char*, const std::string*> files[] = {{".certificate", &options.certificate},
                                                              {".private_key", &options.private_key},
                                                              {".authorities", &options.authorities}};
  bool any = false;
  for (const auto& [name, file] : files) any |= !file->empty();
  if (!any) return nullptr;
  for (const auto& [name, file] : files)
    if (file->empty())
      throw error(errc::invalid_argument,
                  std::string("TLS needs .certificate, .private_key and .authorities; ") + name + " is not given");
  return std::make_shared<const tls_files>(options.certificate, options.private_key, options.authorities);
}

}  // namespace detail

PINION_DECL credentials credentials_of(const security_options& options) {
  return {detail::key_of(options), detail::tls_of(options)};
}

PINION_DECL void check_local(const std::string& task, const credentials& its, const credentials& given) {
  if (its.key != given.key) throw wrong_key(task, !its.key.empty(), !given.key.empty());
  if (its.tls && !given.tls) throw error(errc::unauthenticated, task + " speaks TLS, and no certificate is given here");
  if (!its.tls && given.tls)
    throw error(errc::unauthenticated, task + " does not speak TLS, and a certificate is given here");
}

}}}  // namespace pinion::v0::rpc
