"""A DNS server on loopback whose answers a test changes: A and SRV records with a time to live."""

import socket
import struct
import threading


class NameServer:
    def __init__(self):
        self.names, self.services = {}, {}
        self.questions, self.is_silent = [], False
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.socket.close()

    def _serve(self):
        while True:
            try:
                data, peer = self.socket.recvfrom(2048)
            except OSError:
                return
            name, kind, end = self._question(data)
            self.questions.append((name, kind))
            if self.is_silent:
                continue
            records = []
            if kind == 1:
                ttl, addresses = self.names.get(name, (0, []))
                records = [(1, ttl, socket.inet_aton(address)) for address in addresses]
            elif kind == 33:
                ttl, servers = self.services.get(name, (0, []))
                records = [
                    (33, ttl, struct.pack("!HHH", priority, weight, port) + self._encode(host))
                    for priority, weight, port, host in servers]
            known = name in self.names or name in self.services
            reply = data[:2] + struct.pack("!HHHHH", 0x8180 | (0 if known else 3), 1, len(records), 0, 0) + data[12:end]
            for kind, ttl, value in records:
                reply += b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, ttl, len(value)) + value
            try:
                self.socket.sendto(reply, peer)
            except OSError:
                # Closed while it was writing.
                return

    @staticmethod
    def _question(data):
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode().lower())
            at += 1 + data[at]
        return ".".join(labels), struct.unpack("!H", data[at + 1:at + 3])[0], at + 5

    @staticmethod
    def _encode(name):
        return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
