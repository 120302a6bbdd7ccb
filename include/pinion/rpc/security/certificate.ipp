// Bodies of <pinion/rpc/security/certificate.hpp>.
#pragma once

#include <openssl/bio.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <pinion/rpc/security/certificate.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

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

// The fields of a name of tasks; empty ones are not named.
struct task_fields {
  std::string_view job, replica, task;
};

// The fields of "/job:ps/task:0"; none of a text that is no such name, or has a field twice: whoever reads the last of
// two would take a certificate for another task than whoever reads the first.
inline std::optional<task_fields> fields_of(std::string_view name) {
  task_fields f;
  const std::pair<std::string_view, std::string_view*> all[] = {
      {"/job:", &f.job}, {"/replica:", &f.replica}, {"/task:", &f.task}};
  while (!name.empty()) {
    const auto field =
        std::find_if(std::begin(all), std::end(all), [&](const auto& one) { return name.starts_with(one.first); });
    if (field == std::end(all) || !field->second->empty()) return std::nullopt;
    name.remove_prefix(field->first.size());
    *field->second = name.substr(0, name.find('/'));
    if (field->second->empty()) return std::nullopt;
    name.remove_prefix(field->second->size());
  }
  const auto is_number = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (f.job.empty() || !is_number(f.replica) || !is_number(f.task)) return std::nullopt;
  return f;
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
  return fields_of(name).has_value();
}

PINION_DECL std::string not_for(const std::vector<std::string>& names, const std::string& task) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return "is for " + (all.empty() ? "no task" : all) + ", and not for " + task +
         " (subjectAltName=URI:" + std::string(task_scheme) + task + ")";
}

PINION_DECL bool covers(std::string_view name, std::string_view task) {
  const auto asked = fields_of(name), its = fields_of(task);
  const auto agree = [](std::string_view x, std::string_view y) { return x.empty() || x == y; };
  return asked && its && agree(asked->job, its->job) && agree(asked->replica, its->replica) &&
         agree(asked->task, its->task);
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
