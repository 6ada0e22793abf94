"""Certificates for a test, made with `openssl`; keys live as long as the test's folder."""

import ssl
import subprocess


def openssl(*arguments, text=None):
    return subprocess.run(
        ["openssl", *map(str, arguments)], input=text, capture_output=True, text=True, check=True, timeout=60).stdout


class Authority:
    def __init__(self, folder, name="authority"):
        self.folder, self.name = folder, name
        folder.mkdir(parents=True, exist_ok=True)
        self.file, self._key = folder / f"{name}.pem", folder / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2,
                "-subj", f"/CN={name}", "-keyout", self._key, "-out", self.file)

    def issue(self, name, *alternatives, days=2):
        """A certificate for these names (`DNS:a`, `IP:b`) as `{"certificate": path, "key": path}`; moved into place."""
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        new = {ending: self.folder / f"{name}.{ending}.new" for ending in ("pem", "key")}
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", new["key"], "-out", request)
        lines = ["basicConstraints=CA:FALSE"]
        if alternatives:
            lines.append("subjectAltName=" + ",".join(alternatives))
        extensions.write_text("\n".join(lines))
        openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self._key, "-days", days,
                "-set_serial", "0x" + openssl("rand", "-hex", 8).strip(), "-extfile", extensions, "-out", new["pem"])
        for ending, path in new.items():
            path.replace(self.folder / f"{name}.{ending}")
        return {"certificate": str(self.folder / f"{name}.pem"), "key": str(self.folder / f"{name}.key")}

    def client_context(self, identity=None, alpn=None):
        """For Python's clients: trusts this authority alone."""
        context = ssl.create_default_context(cafile=self.file)
        if identity:
            context.load_cert_chain(identity["certificate"], identity["key"])
        if alpn:
            context.set_alpn_protocols(alpn)
        return context

    def server_context(self, identity, requires_client=False, alpn=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity["certificate"], identity["key"])
        if requires_client:
            context.load_verify_locations(self.file)
            context.verify_mode = ssl.CERT_REQUIRED
        if alpn:
            context.set_alpn_protocols(alpn)
        return context
