"""A little HTTP server that speaks the chat-completions shape, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ChatServer:
    """Answers by ``reply(messages) -> text``; ``script`` holds misdeeds for the next calls, one each.

    Misdeeds: a status, "slow", "drip", "garbage", "shapeless", "huge", "hang up", "redirect"; None is none.
    """

    def __init__(self, reply) -> None:
        self.reply = reply
        self.script: list = []
        self.requests: list[dict] = []
        self.headers: list[dict] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1/chat/completions"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self.requests.append(body)
            self.headers.append(dict(handler.headers))
            misdeed = self.script.pop(0) if self.script else None
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self._answer(handler, body, misdeed)
        except OSError:
            pass  # the other side has had enough
        finally:
            with self._lock:
                self.at_once -= 1

    def _answer(self, handler, body, misdeed) -> None:
        text = json.dumps({"choices": [{"message": {"role": "assistant", "content": self.reply(body["messages"])}}]})
        if misdeed == "hang up":
            handler.connection.close()
            return
        if misdeed == "slow":
            time.sleep(1.5)
        if misdeed == "garbage":
            text = "<html>Bad gateway"
        if misdeed == "shapeless":
            text = json.dumps({"choices": [{"message": {"content": None}}]})
        if misdeed == "huge":
            text = " " * 3_000_000
        status = misdeed if isinstance(misdeed, int) else 302 if misdeed == "redirect" else 200
        handler.send_response(status)
        if status == 429:
            handler.send_header("retry-after", "7")
        if status == 302:
            handler.send_header("location", "http://127.0.0.1:9/elsewhere")
        handler.send_header("content-length", str(len(text.encode())))
        handler.end_headers()
        if misdeed == "drip":
            for letter in text.encode():
                handler.wfile.write(bytes([letter]))
                handler.wfile.flush()
                time.sleep(0.1)
            return
        handler.wfile.write(text.encode())


def item_of(messages) -> dict[str, str]:
    """Return the fields that a judge was shown."""
    inside = messages[-1]["content"].split("<item>\n")[1].split("\n</item>")[0]
    return dict(line.split(": ", 1) for line in inside.splitlines())
