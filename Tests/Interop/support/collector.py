"""A collector of traces: OTLP over HTTP, protobuf or JSON, read by OpenTelemetry's own messages."""

import http.server
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """`status` is what it answers; of what it took, `spans` are all by themselves."""

    def __init__(self):
        self.status, self.fields = 200, []
        self.requests, self.heads = [], []
        self.changed = threading.Condition()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.take(self.path, dict(self.headers.items()), body)
                self.send_response(collector.status)
                for name, value in collector.fields:
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d/v1/traces" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, head, body):
        request = ExportTraceServiceRequest()
        head = {name.lower(): value for name, value in head.items()}
        if head["content-type"] == "application/json":
            # The ids of OTLP's JSON are hexadecimal, those of protobuf's base64.
            import base64
            import json

            value = json.loads(body)
            for group in value["resourceSpans"]:
                for scoped in group["scopeSpans"]:
                    for span in scoped["spans"]:
                        for name in ("traceId", "spanId", "parentSpanId"):
                            if name in span:
                                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
            json_format.ParseDict(value, request)
        else:
            request.ParseFromString(body)
        with self.changed:
            self.heads.append((path, head))
            if self.status == 200:
                self.requests.append(request)
            self.changed.notify_all()

    @property
    def spans(self):
        return [
            span for request in self.requests for group in request.resource_spans for scoped in group.scope_spans
            for span in scoped.spans]

    def wait_for(self, count, seconds=30):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.spans) >= count, seconds), self.spans
            return self.spans

    def wait_for_requests(self, count, seconds=30):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.heads) >= count, seconds), self.heads

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def attributes(of):
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in of.attributes}
