"""Receives webhooks with the standard library alone, and answers each text message once.

WEBHOOK_SECRET=whsec_… TIDINGS_API_KEY=sk_live_… PORT=4000 python3 main.py

The secret is in the answer of POST /v1/webhook-subscriptions, and `tidings listen` prints one.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue


def read_setting(name):
    return os.environ.get(name) or sys.exit(f"Set {name}.")


BASE_URL = os.environ.get("TIDINGS_BASE_URL", "http://127.0.0.1:3000")
PORT = int(os.environ.get("PORT", "4000"))
SECRET = read_setting("WEBHOOK_SECRET")
API_KEY = read_setting("TIDINGS_API_KEY")

# An event with a message of the greatest length is much smaller.
BODY_LIMIT = 1024 * 1024
# Older requests may be recorded ones that someone sends again.
TOLERANCE_SECONDS = 300
PROCESSED_LIMIT = 10_000

# Ids of processed events, oldest first. Several processes need a table with a unique column instead.
processed = {}
processed_lock = threading.Lock()
events = SimpleQueue()


class Receiver(BaseHTTPRequestHandler):
    """Answers at once. Any status but 2xx makes the service send the event again."""

    protocol_version = "HTTP/1.1"
    # Seconds that a client may take to send its request.
    timeout = 30

    def do_POST(self):
        self.send_response(self.receive())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def receive(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_LIMIT:
            self.close_connection = True
            return 413
        body = self.rfile.read(int(length))
        if not is_signed(self.headers, body):
            return 401
        event = json.loads(body)
        # The answer to the service must not wait for other work. A program that must process every event, even
        # after a crash, stores it before it answers.
        if is_new(event["id"]):
            events.put(event)
        else:
            print(f"Ignored {event['id']}, which was processed before", flush=True)
        return 200

    def log_message(self, format, *args):
        """Writes no line for each request."""


def is_signed(headers, body):
    """Verifies the headers of Standard Webhooks. After a rotation of the secret there are two signatures."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(signature, expected) for signature in given)


def is_new(event_id):
    with processed_lock:
        if event_id in processed:
            return False
        processed[event_id] = True
        if len(processed) > PROCESSED_LIMIT:
            del processed[next(iter(processed))]
        return True


def handle_events():
    while True:
        event = events.get()
        try:
            handle(event)
        except Exception as error:
            print(f"Could not process {event['id']}: {error}", file=sys.stderr, flush=True)


def handle(event):
    data = event["data"]
    if event["type"] != "message.received" or data.get("type") != "text":
        print(f"Received {event['type']} {event['id']}", flush=True)
        return
    text = data["text"]["body"]
    print(f"Received from {data['from']}: {text}", flush=True)
    answer = f"Thanks, we got your message: {text}"[:4096]
    message = {"to": data["conversation_id"], "type": "text", "text": {"body": answer}}
    request = urllib.request.Request(
        f"{BASE_URL}/v1/messages",
        json.dumps(message).encode(),
        {
            "X-API-Key": API_KEY,
            "Content-Type": "application/json",
            # The service sends one message for a key, even if this program was restarted in between.
            "Idempotency-Key": event["id"],
        },
    )
    try:
        urllib.request.urlopen(request, timeout=30).close()
    except urllib.error.HTTPError as error:
        raise RuntimeError(error.read().decode()) from error
    print(f"Answered {data['from']}", flush=True)


threading.Thread(target=handle_events, daemon=True).start()
print(f"Listening on http://127.0.0.1:{PORT}", flush=True)
ThreadingHTTPServer(("127.0.0.1", PORT), Receiver).serve_forever()
