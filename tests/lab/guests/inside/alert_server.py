"""A web server in the guest that receives alerts: ``python alert_server.py PORT FILE``.

Each request that it accepts becomes a line of FILE, the body. While FILE.refuses is there, it refuses.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

FILE = Path(sys.argv[2])


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        refuses = FILE.with_name(f"{FILE.name}.refuses").exists()
        if not refuses:
            with FILE.open("a") as file:
                file.write(f"{body}\n")
        self.send_response(503 if refuses else 200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
