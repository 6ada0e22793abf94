"""A service of raw bytes, by the official Connect runtime."""

import hashlib

from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.api.httpbody_pb2 import HttpBody

from .echo import Memory
from .uvicorn_server import Uvicorn

PIECE = b"0123456789" * 1000


class Handlers:
    def __init__(self, pb, memory):
        self.pb, self.memory = pb, memory

    async def download(self, request, context):
        self.memory.calls += 1
        for number in range(request.pieces):
            yield HttpBody(content_type="text/csv; charset=utf-8" if number == 0 else "", data=PIECE)
        if request.fails:
            raise ConnectError(Code(request.fails), "the disk is gone")

    async def upload(self, requests, context):
        self.memory.calls += 1
        digest = hashlib.sha256()
        answer = self.pb.UploadResponse()
        async for request in requests:
            answer.name = answer.name or request.name
            answer.content_type = answer.content_type or request.content.content_type
            answer.size += len(request.content.data)
            answer.pieces += 1
            digest.update(request.content.data)
        answer.sha256 = digest.hexdigest()
        return answer


class FilesUnderUvicorn(Uvicorn):
    def __init__(self, schema):
        self.memory = Memory()
        super().__init__(schema.connect.FilesASGIApplication(Handlers(schema.pb, self.memory), read_max_bytes=None))
