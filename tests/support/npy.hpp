#pragma once
#include <cstring>
#include <string>
#include <vector>

namespace attune::test {

/// The bytes of an .npy file of version 1, written by hand as numpy's documentation describes them. `header`: the dictionary.
inline std::string npy_bytes(const std::string& header, const std::string& elements) {
  std::string padded = header;
  while ((10 + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(padded.size() & 0xFF);
  bytes += static_cast<char>(padded.size() >> 8);
  return bytes + padded + elements;
}

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// `type`: numpy's, "<f4"; `shape`: as in Python, "(3, 2)".
template <class T>
std::string npy_of(const std::string& type, const std::string& shape, const std::vector<T>& values) {
  return npy_bytes("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }", raw_bytes(values));
}

}  // namespace attune::test
