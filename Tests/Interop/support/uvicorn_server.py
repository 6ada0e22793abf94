"""An ASGI application under uvicorn, in a thread."""

import socket
import threading

import uvicorn


class Uvicorn:
    """An application behind HTTP/1.1. `options` are uvicorn's."""

    def __init__(self, application, **options):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        # asyncio does it only for sockets that name their protocol; the accepted ones inherit it.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        config = uvicorn.Config(application, lifespan="off", log_level="critical", http="h11", ws="none", **options)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.should_exit = True
        self.thread.join(10)
