#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// What OpenSSL gives as macros, or as functions over its typed stacks, which Swift cannot import.

static inline int copenssl_error_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline int copenssl_error_reason(unsigned long code) { return ERR_GET_REASON(code); }

static inline long copenssl_set_minimum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline long copenssl_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline long copenssl_set_session_cache_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_session_cache_mode(context, mode);
}
/// Neither renegotiation nor compression; the server's order of ciphers, but ChaCha20 for clients that prefer it.
static inline void copenssl_set_safe_options(SSL_CTX *context) {
  SSL_CTX_set_options(
      context,
      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}
static inline void copenssl_set_app_data(SSL_CTX *context, void *data) { SSL_CTX_set_app_data(context, data); }
static inline void *copenssl_app_data(const SSL *session) { return SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)); }
static inline void copenssl_set_server_name_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
  SSL_CTX_set_tlsext_servername_callback(context, callback);
}
static inline long copenssl_set_host_name(SSL *session, const char *name) {
  return SSL_set_tlsext_host_name(session, name);
}

static inline void copenssl_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void copenssl_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

static inline STACK_OF(X509) *copenssl_new_chain(void) { return sk_X509_new_null(); }
static inline int copenssl_push_certificate(STACK_OF(X509) *chain, X509 *certificate) {
  return sk_X509_push(chain, certificate);
}
/// Frees the stack, not the certificates.
static inline void copenssl_free_chain(STACK_OF(X509) *chain) { sk_X509_free(chain); }

static inline STACK_OF(GENERAL_NAME) *copenssl_alternative_names(const X509 *certificate) {
  return (STACK_OF(GENERAL_NAME) *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int copenssl_name_count(const STACK_OF(GENERAL_NAME) *names) { return sk_GENERAL_NAME_num(names); }
/// The content of a DNS name or an IP address: its length, -1 for other kinds.
static inline int copenssl_name_at(
    const STACK_OF(GENERAL_NAME) *names, int index, int *is_address, const unsigned char **bytes) {
  const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
  if (name == NULL || (name->type != GEN_DNS && name->type != GEN_IPADD)) return -1;
  const ASN1_STRING *text = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
  *is_address = name->type == GEN_IPADD;
  *bytes = ASN1_STRING_get0_data(text);
  return ASN1_STRING_length(text);
}
/// The content of a DNS name, a URI or an address of mail: its length, -1 for other kinds.
static inline int copenssl_text_name_at(
    const STACK_OF(GENERAL_NAME) *names, int index, int *kind, const unsigned char **bytes) {
  const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
  if (name == NULL || (name->type != GEN_DNS && name->type != GEN_URI && name->type != GEN_EMAIL)) return -1;
  *kind = name->type;
  *bytes = ASN1_STRING_get0_data(name->d.ia5);
  return ASN1_STRING_length(name->d.ia5);
}
/// Writes the subject as RFC 4514 has it, in ASCII.
static inline void copenssl_print_subject(BIO *output, const X509 *certificate) {
  X509_NAME_print_ex(output, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
}
static inline void copenssl_free_names(STACK_OF(GENERAL_NAME) *names) { GENERAL_NAMES_free(names); }

/// Sets the key of a session ticket's HMAC-SHA256; 1 when done.
static inline int copenssl_set_ticket_mac(EVP_MAC_CTX *mac, unsigned char *key, size_t length) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key, length),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"sha256", 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, parameters);
}
