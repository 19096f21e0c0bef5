"""Write docs/reference/openapi.json: the paths of a broker's HTTP side, for tools.

    python tools/describe_http.py

What is posted is described by the classes that read it; the rest is said here.
WebSockets and the files of the console have no place in OpenAPI:
docs/reference/http.md has them.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from siena.broker.durable.http_reading import AnswerBody
from siena.broker.http.identities import Mapped
from siena.broker.inspect import SNAPSHOTS
from siena.broker.questions import over_http as questions
from siena.web.around import At, Beside, Posted

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "openapi.json"
JSON = "application/json"
REFERENCE = "#/components/schemas/{name}"
ANY_OBJECT = {"type": "object"}
NOTIFICATION = {"$ref": REFERENCE.format(name="Notification")}
QUESTIONS = {
    "interests": questions.Interests,
    "why": questions.Why,
    "relations": questions.Relations,
    "backtest": questions.BackTest,
    "latest": questions.Latest,
    "words": questions.Question,
    "prepare": questions.Question,
    "who": questions.WhoMay,
    "link": Beside,
    "clients": At,
    "way": Posted,
    "trace": Posted,
}

Form = dict[str, Any]


def main() -> None:
    """Write it."""
    TARGET.write_text(text(), encoding="utf-8")


def text() -> str:
    """The whole document, as it stands in the file."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def document() -> Form:
    """All paths, and what they take and answer."""
    described = [*QUESTIONS.values(), AnswerBody, Mapped]
    _, schemas = msgspec.json.schema_components(described, ref_template=REFERENCE)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Siena over HTTP",
            "version": version("siena-pubsub"),
            "description": "docs/reference/http.md says what each of these means.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:2680"}],
        "security": [{}, {"token": []}, {"user": []}],
        "paths": {**messages(), **durables(), **state(), **asked(), **identities()},
        "components": {
            "schemas": {**schemas, **values()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "user": {"type": "http", "scheme": "basic"},
            },
        },
    }


def messages() -> Form:
    """To publish and to subscribe."""
    several = {"oneOf": [NOTIFICATION, {"type": "array", "items": NOTIFICATION}]}
    event = {"type": "object", "description": "a CloudEvent 1.0"}
    bodies = {
        JSON: several,
        "application/x-ndjson": {"type": "string"},
        "application/cloudevents+json": event,
        "application/cloudevents-batch+json": {"type": "array", "items": event},
    }
    published = answer("All of them were routed, or are on the disk", ANY_OBJECT)
    publish = operation(
        "Publish one notification, or many",
        [
            query("ack", "1: answer when they are on the disk"),
            query("advertise", "what is advertised meanwhile", many=True),
            query("nested", "1: nested JSON, by path; windows: events of its log"),
            query("publisher", "who publishes, for requests that are made again"),
            query("sequence", "the number of the first notification"),
        ],
        {"200": published, "202": published},
    )
    publish["requestBody"] = {
        "required": True,
        "content": {kind: {"schema": schema} for kind, schema in bodies.items()},
    }
    durable = ("durable", "start", "credit", "ack_wait", "max_deliver", "key")
    subscribe = operation(
        "Subscribe, as server-sent events",
        [
            query("filter", "filters or patterns", many=True),
            query("dialect", "the language of the filters"),
            query("policy", "drop or disconnect, if the reader is slow"),
            *(query(name, "of a durable subscription") for name in durable),
        ],
        {"200": answer("Events", {"type": "string"}, "text/event-stream")},
    )
    return {"/publish": {"post": publish}, "/subscribe": {"get": subscribe}}


def durables() -> Form:
    """To answer for durable subscriptions."""
    answered = {"200": answer("How many were waited for", ANY_OBJECT)}
    found: Form = {
        f"/durables/{{name}}/{verb}": {
            "post": posting(said, AnswerBody, answered, [in_path("name")])
        }
        for verb, said in (("ack", "Acknowledge"), ("nak", "Have delivered again"))
    }
    gone = {"204": {"description": "It has ended"}}
    forget = operation("End a durable subscription", [in_path("name")], gone)
    return {**found, "/durables/{name}": {"delete": forget}}


def state() -> Form:
    """How the broker is."""
    found = {"200": answer("Yes", ANY_OBJECT), "503": answer("No", ANY_OBJECT)}
    shown = {"200": answer("What there is", ANY_OBJECT)}
    limit = query("limit", "how many of a table are shown, up to 1 000")
    metrics = {"200": answer("Counters", {"type": "string"}, "text/plain")}
    return {
        "/metrics": {"get": operation("Counters for Prometheus", [], metrics)},
        "/healthz": {"get": operation("Whether it serves", [], found)},
        "/readyz": {"get": operation("Whether it has its links", [], found)},
        **{
            f"/api/{what}": {"get": operation(f"A snapshot: {what}", [limit], shown)}
            for what in SNAPSHOTS
        },
        "/api/me": {"get": operation("Who asks, and what they may", [], shown)},
        "/api/access": {"get": operation("The roles", [], shown)},
        "/api/network": {"get": operation("All brokers found from here", [], shown)},
    }


def asked() -> Form:
    """The questions of the console."""
    told = {"200": answer("The answer; a mistake in a text is one, too", ANY_OBJECT)}
    return {
        f"/api/{name}": {"post": posting(first_line(kind), kind, told)}
        for name, kind in QUESTIONS.items()
    }


def identities() -> Form:
    """Handlers of identities."""
    name, done = in_path("identity"), {"200": answer("It is done", ANY_OBJECT)}
    listed = operation("Identities with a handler", [], done)
    forget = operation("Take the handler away", [name], done)
    covered = [name, query("filter", "end what these cover", many=True)]
    return {
        "/api/identities": {"get": listed},
        "/api/identities/{identity}": {
            "put": posting("Give it a handler", Mapped, done, [name]),
            "delete": forget,
        },
        "/api/identities/{identity}/subscriptions": {
            "delete": operation("End subscriptions of it", covered, done)
        },
    }


def values() -> Form:
    """Notifications and errors."""
    time = {"type": "string", "format": "date-time"}
    kinds: list[Form] = [{"type": name} for name in ("string", "number", "boolean")]
    kinds += [{"type": "null"}, {"type": "object", "properties": {"time": time}}]
    return {
        "Notification": {
            "type": "object",
            "description": "Attributes; 1 is an integer, 1.0 a float, null absent.",
            "additionalProperties": {"anyOf": kinds},
        },
        "Error": {
            "type": "object",
            "properties": {
                "siena": {"const": "ERR"},
                "error": {"type": "integer", "description": "its number"},
                "name": {"type": "string"},
                "text": {"type": "string"},
                "closes": {"type": "boolean"},
                "number": {"type": "integer", "description": "what it is about"},
                "column": {"type": "integer"},
                "pointer": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["siena", "error", "name", "text"],
        },
    }


# --- Parts of operations ----------------------------------------------------------


def operation(summary: str, parameters: list[Form], answers: Form) -> Form:
    """What can be asked for at a path."""
    error = answer("An error", {"$ref": REFERENCE.format(name="Error")})
    said: Form = {"summary": summary}
    if parameters:
        said["parameters"] = parameters
    return {**said, "responses": {**answers, "default": error}}


def posting(
    summary: str, kind: type, answers: Form, parameters: list[Form] | None = None
) -> Form:
    """The same, with a body that a class describes."""
    schema = {"$ref": REFERENCE.format(name=kind.__name__)}
    body = {"required": True, "content": {JSON: {"schema": schema}}}
    return {**operation(summary, parameters or [], answers), "requestBody": body}


def answer(description: str, schema: Form, kind: str = JSON) -> Form:
    """What comes back."""
    return {"description": description, "content": {kind: {"schema": schema}}}


def query(name: str, description: str, *, many: bool = False) -> Form:
    """A parameter of the query, maybe several times."""
    schema: Form = {"type": "string"}
    if many:
        schema = {"type": "array", "items": schema}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def in_path(name: str) -> Form:
    """A part of the path."""
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def first_line(kind: type) -> str:
    """What a class says of itself."""
    return (kind.__doc__ or "").partition("\n")[0].rstrip(".")


if __name__ == "__main__":
    main()
