"""HAProxy and nginx as processes, for gateways with another proxy in front of them or behind."""

import shutil
import socket
import subprocess

from .gateway import wait_until
from .ports import free_port
from .processes import end


class Proxy:
    """`configuration` is a text with `PORT` for the port to listen on, and `FOLDER`."""

    def __init__(self, folder, configuration):
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.address = ("127.0.0.1", self.port)
        self.file, self.log = folder / "proxy.conf", folder / "log"
        self.file.write_text(configuration.replace("PORT", str(self.port)).replace("FOLDER", str(folder)))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        wait_until(self._listens, what=f"the start of {self.program}")

    def command(self):
        path = shutil.which(self.program) or f"/usr/sbin/{self.program}"
        return [path, *self.options, self.file]

    def _listens(self):
        assert self.process.poll() is None, f"{self.program} ended: {self.log.read_text(errors='replace')}"
        try:
            socket.create_connection(self.address, 1).close()
            return True
        except ConnectionRefusedError:
            return False

    def stop(self):
        end(self.process)


class HAProxy(Proxy):
    program, options = "haproxy", ["-db", "-f"]

    def __init__(self, folder, server, options, mode="tcp"):
        super().__init__(folder, f"""
defaults
  mode {mode}
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen front
  bind 127.0.0.1:PORT
  server gateway {server[0]}:{server[1]} {options}
""")


class Nginx(Proxy):
    program, options = "nginx", ["-e", "stderr", "-c"]

    def __init__(self, folder, server):
        super().__init__(folder, f"""
daemon off;
pid FOLDER/pid;
events {{}}
{'user root;' if __import__('os').geteuid() == 0 else ''}
http {{
  access_log off;
  client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/proxy; fastcgi_temp_path FOLDER/fastcgi;
  uwsgi_temp_path FOLDER/uwsgi; scgi_temp_path FOLDER/scgi;
  server {{
    listen 127.0.0.1:PORT;
    {server}
  }}
}}
""")
