#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

// Keys and signatures of JOSE (RFC 7517, 7518), which name numbers where OpenSSL wants its own structures.

static inline EVP_PKEY *copenssl_key_from(const char *type, OSSL_PARAM *parameters) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  if (context != NULL && EVP_PKEY_fromdata_init(context) == 1)
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  EVP_PKEY_CTX_free(context);
  return key;
}

/// A public RSA key of modulus and exponent, big-endian; NULL when they make none.
static inline EVP_PKEY *copenssl_rsa_key(
    const unsigned char *modulus, int modulus_length, const unsigned char *exponent, int exponent_length) {
  EVP_PKEY *key = NULL;
  BIGNUM *n = BN_bin2bn(modulus, modulus_length, NULL);
  BIGNUM *e = BN_bin2bn(exponent, exponent_length, NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  if (n != NULL && e != NULL && builder != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1) {
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    if (parameters != NULL) key = copenssl_key_from("RSA", parameters);
    OSSL_PARAM_free(parameters);
  }
  OSSL_PARAM_BLD_free(builder);
  BN_free(n);
  BN_free(e);
  return key;
}

/// A public key on a named curve; `point` is uncompressed (SEC 1, 2.3.3). NULL when it is not on the curve.
static inline EVP_PKEY *copenssl_ec_key(const char *curve, unsigned char *point, size_t length) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, length),
      OSSL_PARAM_construct_end(),
  };
  return copenssl_key_from("EC", parameters);
}

static inline EVP_PKEY *copenssl_ed25519_key(const unsigned char *bytes, size_t length) {
  return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, length);
}

/// Whether numbers make a sound public key; 1 when they do.
static inline int copenssl_key_is_sound(EVP_PKEY *key) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  int sound = context != NULL && EVP_PKEY_public_check(context) == 1;
  EVP_PKEY_CTX_free(context);
  return sound;
}

/// Checks a signature; 1 when it is right, 0 when it is not, less when it could not be checked.
///
/// `digest` is NULL for keys that hash by themselves; with `is_pss` the salt is as long as the digest (RFC 7518, 3.5).
static inline int copenssl_verify(
    EVP_PKEY *key, const EVP_MD *digest, int is_pss, const unsigned char *signature, size_t signature_length,
    const unsigned char *text, size_t text_length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (context == NULL) return -1;
  EVP_PKEY_CTX *settings = NULL;
  int result = EVP_DigestVerifyInit(context, &settings, digest, NULL, key);
  if (result == 1 && is_pss)
    result = EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1 &&
             EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1;
  if (result == 1)
    result = EVP_DigestVerify(context, signature, signature_length, text, text_length);
  else
    result = -1;
  EVP_MD_CTX_free(context);
  return result;
}

/// As `copenssl_verify` for ECDSA, whose two numbers stand behind each other, each of half the length (RFC 7518, 3.4).
static inline int copenssl_verify_ecdsa(
    EVP_PKEY *key, const EVP_MD *digest, const unsigned char *signature, size_t signature_length,
    const unsigned char *text, size_t text_length) {
  int half = (int)(signature_length / 2);
  ECDSA_SIG *numbers = ECDSA_SIG_new();
  BIGNUM *r = BN_bin2bn(signature, half, NULL);
  BIGNUM *s = BN_bin2bn(signature + half, half, NULL);
  if (numbers == NULL || r == NULL || s == NULL || ECDSA_SIG_set0(numbers, r, s) != 1) {
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(numbers);
    return -1;
  }
  unsigned char *encoded = NULL;
  int length = i2d_ECDSA_SIG(numbers, &encoded);
  ECDSA_SIG_free(numbers);
  if (length <= 0) return -1;
  int result = copenssl_verify(key, digest, 0, encoded, (size_t)length, text, text_length);
  OPENSSL_free(encoded);
  return result;
}
