// Bodies of <pinion/rpc/certificate.hpp>.
#pragma once

#include <openssl/bio.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/certificate.hpp>

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

inline std::string text_of(const ASN1_STRING* s) {
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(s)),
                     static_cast<std::size_t>(ASN1_STRING_length(s)));
}

// Calls `use` with each of the subject's alternative names.
template <class Use>
void for_each_name(const X509* certificate, const Use& use) {
  if (!certificate) return;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) use(*sk_GENERAL_NAME_value(names.get(), i));
}

// The text of an address of 4 or 16 bytes; "" for another.
template <class Address>
std::string text_of_address(const std::string& raw) {
  typename Address::bytes_type bytes;
  if (raw.size() != bytes.size()) return {};
  std::memcpy(bytes.data(), raw.data(), raw.size());
  return Address(bytes).to_string();
}

inline std::string host_in(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) return text_of(name.d.dNSName);
  if (name.type != GEN_IPADD) return {};
  const std::string raw = text_of(name.d.iPAddress);
  return text_of_address<asio::ip::address_v4>(raw) + text_of_address<asio::ip::address_v6>(raw);
}

// The parts of "/job:ps/task:0".
inline std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    name.remove_prefix(1);  // the slash
    parts.push_back(name.substr(0, name.find('/')));
    name.remove_prefix(parts.back().size());
  }
  return parts;
}

PINION_DECL std::vector<std::string> tasks_of(const X509* certificate) {
  std::vector<std::string> tasks;
  for_each_name(certificate, [&](const GENERAL_NAME& name) {
    const std::string uri = name.type == GEN_URI ? text_of(name.d.uniformResourceIdentifier) : "";
    if (uri.starts_with(task_scheme)) tasks.push_back(uri.substr(task_scheme.size()));
  });
  return tasks;
}

PINION_DECL bool is_task(std::string_view name) {
  constexpr std::string_view first = "/job:";
  return name.starts_with(first) && name.size() > first.size() && name[first.size()] != '/';
}

PINION_DECL bool covers(std::string_view name, std::string_view task) {
  if (!is_task(name)) return false;
  const auto its = parts_of(task), asked = parts_of(name);
  return std::all_of(asked.begin(), asked.end(),
                     [&](std::string_view part) { return std::find(its.begin(), its.end(), part) != its.end(); });
}

PINION_DECL std::string hosts_of(const X509* certificate) {
  std::string all;
  for_each_name(certificate, [&](const GENERAL_NAME& name) {
    if (const std::string host = host_in(name); !host.empty()) all += (all.empty() ? "" : ", ") + host;
  });
  return all.empty() ? "no host" : all;
}

PINION_DECL std::string name_of(const X509_NAME* name) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), &BIO_free);
  X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<std::size_t>(std::max(size, 0L))};
}

}}}}  // namespace pinion::v0::rpc::detail
