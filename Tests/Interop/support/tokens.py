"""Tokens, keys and key sets, made by PyJWT and cryptography."""

import json
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from .rest_service import Reply, RESTService

ISSUER, AUDIENCE = "https://issuer.test", "depot"
MAKERS = {
    "RS256": (lambda: rsa.generate_private_key(65537, 2048), jwt.algorithms.RSAAlgorithm),
    "PS256": (lambda: rsa.generate_private_key(65537, 2048), jwt.algorithms.RSAAlgorithm),
    "ES256": (lambda: ec.generate_private_key(ec.SECP256R1()), jwt.algorithms.ECAlgorithm),
    "ES512": (lambda: ec.generate_private_key(ec.SECP521R1()), jwt.algorithms.ECAlgorithm),
    "EdDSA": (ed25519.Ed25519PrivateKey.generate, jwt.algorithms.OKPAlgorithm),
}


class Key:
    """A private key of an issuer; ES256 unless told otherwise, because that is made in no time."""

    def __init__(self, kid, algorithm="ES256", secret=None):
        self.kid, self.algorithm = kid, algorithm
        if secret:
            self.private = secret
            self.jwk = json.loads(jwt.algorithms.HMACAlgorithm.to_jwk(secret))
        else:
            make, kind = MAKERS[algorithm]
            self.private = make()
            self.jwk = json.loads(kind.to_jwk(self.private.public_key()))
        self.jwk.pop("key_ops", None)
        self.jwk |= {"kid": kid, "use": "sig"}

    def token(self, kid=None, algorithm=None, **claims):
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u1", "iat": now - 5, "exp": now + 600} | claims
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(claims, self.private, algorithm or self.algorithm, headers={"kid": kid or self.kid})


def bearer(token):
    return ("Authorization", f"Bearer {token}")


def key_set(*keys):
    return {"keys": [key.jwk for key in keys]}


class KeyServer(RESTService):
    """Publishes key sets; `keys` are those of the present, `status` may say that it fails."""

    def __init__(self, *keys, tls=None):
        super().__init__(tls)
        self.keys, self.status = keys, 200
        self.answers(lambda _: Reply.json(key_set(*self.keys), self.status))
