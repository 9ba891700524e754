"""Ten calls with the standard library alone.

TIDINGS_BASE_URL=http://127.0.0.1:3000 TIDINGS_API_KEY=sk_live_… python3 main.py
"""

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone

BASE_URL = os.environ.get("TIDINGS_BASE_URL", "http://127.0.0.1:3000")
API_KEY = os.environ["TIDINGS_API_KEY"]


class ApiError(Exception):
    """An answer of the service that is an error; `code` says which, and `fix` what to do next."""

    def __init__(self, status, error):
        super().__init__(error["message"])
        self.status = status
        self.code = error["code"]
        self.fix = error.get("fix")


def send(method, path, data=None, headers=None):
    """Sends bytes, and returns the answer and its headers."""
    request = urllib.request.Request(
        BASE_URL + path, data, {"X-API-Key": API_KEY, **(headers or {})}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response), response.headers
    except urllib.error.HTTPError as error:
        raise ApiError(error.code, json.load(error)["error"]) from None


def get(path, **query):
    return send("GET", f"{path}?{urllib.parse.urlencode(query)}")[0]


def post(path, body, idempotency_key=None):
    headers = {"Content-Type": "application/json"}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    return send("POST", path, json.dumps(body).encode(), headers)


def upload(name, content_type, content):
    """Sends a file as a form, which urllib has no function for."""
    boundary = f"boundary{time.time_ns()}"
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {content_type}\r\n\r\n"
    )
    data = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    content_type = f"multipart/form-data; boundary={boundary}"
    return send("POST", "/v1/uploads", data, {"Content-Type": content_type})[0]


# Another number and other names in each run.
run = str(time.time_ns())
phone_number = f"+1415558{run[-7:-3]}"

contact = post("/v1/contacts", {"phone_number": phone_number, "name": "Ada Lovelace"})[0]["data"]
print(f"1. created the contact {contact['id']}")

message = {"to": contact["id"], "type": "text", "text": {"body": "Hello!"}}
sent = post("/v1/messages", message, idempotency_key=run)[0]["data"]
print(f"2. sent the message {sent['id']}, which is {sent['status']}")

conversations = get("/v1/conversations", status="open")["data"]
print(f"3. listed {len(conversations)} conversations")

listed, total, page = 0, 1, 1
while listed < total:
    contacts = get("/v1/contacts", page=page, per_page=1)
    listed += len(contacts["data"])
    total = contacts["meta"]["total"]
    page += 1
print(f"4. listed {listed} contacts, one a page")

try:
    post("/v1/contacts", {"phone_number": phone_number})
    raise SystemExit("The service created a second contact with the number.")
except ApiError as error:
    assert (error.status, error.code) == (409, "contact_exists"), error
    print(f"5. got the error {error.code}: {error.fix}")

repeated, headers = post("/v1/messages", message, idempotency_key=run)
assert repeated["data"]["id"] == sent["id"]
assert headers["Idempotency-Replayed"] == "true"
print("6. repeated the request, and no second message was sent")

template = post(
    "/v1/templates",
    {
        "name": f"order_update_{run}",
        "category": "utility",
        "language": "en",
        "template_data": {"body": "Hello, your order is on its way."},
    },
)[0]["data"]
post(f"/v1/templates/{template['id']}/submit", {})
# A real channel reviews it for hours, the simulated one for a second.
while not template["is_sendable"]:
    time.sleep(0.1)
    template = get(f"/v1/templates/{template['id']}")["data"]
print(f"7. created the template {template['name']}, which was approved")

query = {"attribute": "country", "operator": "eq", "value": "US"}
cohort = post("/v1/cohorts", {"name": f"Everybody {run}", "query": query})[0]["data"]
broadcast = post(
    "/v1/broadcasts",
    {"name": f"Update {run}", "cohort_id": cohort["id"], "template_id": template["id"]},
)[0]["data"]
print(f"8. created the broadcast {broadcast['id']}, a {broadcast['execution_status']}")

uploaded = upload("contacts.csv", "text/csv", b"phone_number,name\n+14155550199,Grace\n")["data"]
print(f"9. uploaded {uploaded['file_name']}, {uploaded['file_size']} bytes")

since = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
events = get("/v1/events", since=since, types="message.sent")["data"]
print(f"10. listed {len(events)} events")
