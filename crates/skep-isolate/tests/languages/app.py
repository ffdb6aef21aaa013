"""The component of tests/isolate/languages.rs in Python: what is at the top of the module is what a module cache would keep."""

import uuid

from componentize_py_types import Ok
from wit_world import exports
from wit_world.imports.types import Fields, OutgoingBody, OutgoingResponse, ResponseOutparam

static_int = 0
user = "nobody"


def answer(path: str, query: str) -> str:
    global static_int, user
    if path == "/counts":
        local_int = 0
        static_int += 1
        local_int += 1
        return f"static {static_int} local {local_int}"
    if path == "/login":
        user = query
        return "welcome"
    if path == "/whoami":
        return user
    if path == "/random":
        return str(uuid.uuid4())
    if path == "/throw":
        raise ValueError("it was asked to")
    return "Hello, world!"


class IncomingHandler(exports.IncomingHandler):
    def handle(self, request, response_out):
        path, _, query = (request.path_with_query() or "/").partition("?")
        text = answer(path, query).encode()
        response = OutgoingResponse(Fields())
        body = response.body()
        ResponseOutparam.set(response_out, Ok(response))
        with body.write() as stream:
            stream.blocking_write_and_flush(text)
        OutgoingBody.finish(body, None)
