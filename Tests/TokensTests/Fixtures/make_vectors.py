"""Makes vectors.json: keys of every kind, and a token of every algorithm, by PyJWT and cryptography.

    pip install PyJWT cryptography && python make_vectors.py > vectors.json
"""

import json
import secrets

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

CLAIMS = {
    "iss": "https://issuer.test", "aud": ["depot", "other"], "sub": "u1", "iat": 1700000000, "nbf": 1700000000,
    "exp": 4102444800, "tenant": 7, "admin": True, "realm_access": {"roles": ["a", "b"]},
}


def main():
    private, keys = {}, []

    def add(kid, key, algorithms, public):
        jwk = json.loads(public(key.public_key() if hasattr(key, "public_key") else key))
        jwk.pop("key_ops", None)
        keys.append({**jwk, "kid": kid})
        for algorithm in algorithms:
            private[algorithm] = kid, key

    add("rsa", rsa.generate_private_key(65537, 2048), ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
        jwt.algorithms.RSAAlgorithm.to_jwk)
    for curve, algorithm in ((ec.SECP256R1, "ES256"), (ec.SECP384R1, "ES384"), (ec.SECP521R1, "ES512")):
        add(algorithm.lower(), ec.generate_private_key(curve()), [algorithm], jwt.algorithms.ECAlgorithm.to_jwk)
    add("ed", ed25519.Ed25519PrivateKey.generate(), ["EdDSA"], jwt.algorithms.OKPAlgorithm.to_jwk)
    add("secret", secrets.token_bytes(64), ["HS256", "HS384", "HS512"], jwt.algorithms.HMACAlgorithm.to_jwk)
    tokens = {
        algorithm: jwt.encode(CLAIMS, key, algorithm, headers={"kid": kid}) for algorithm, (kid, key) in private.items()
    }
    # Public bytes as a secret: what a library that lets the token choose would take.
    rsa_public = keys[0]["n"].encode()
    confused = jwt.encode(CLAIMS, rsa_public, "HS256", headers={"kid": "rsa"})
    print(json.dumps({"jwks": {"keys": keys}, "tokens": tokens, "confused": confused}, indent=1))


main()
