"""Generators behind an OpenAI-compatible endpoint: a vLLM or llama.cpp server, or a hosted model.

Not by the `openai` client (3.54 was read): its retries cannot tell a row that upsets the endpoint from an endpoint that
is dead, it follows redirects, reads replies of any size, and brings a second HTTP library.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import httpx

from quern.jobs.tasks.generators.contract import GeneratorError, Reply, Request
from quern.schemas.settings import GeneratorSettings

log = logging.getLogger(__name__)

_PREPARE_SECONDS: Final = 15.0
_MODELS_TOLD: Final = 8
_ERROR_LENGTH: Final = 300
_SHOWN: Final = 200
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_LONGEST_RETRY_AFTER: Final = 600.0
# Replies have some thousand tokens; whatever is larger is none.
_MOST_BYTES: Final = 4 << 20
_FOR_NOW: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_PROBE: Final = ({"role": "user", "content": "Return the smallest JSON that you may."},)


class _RefusedError(Exception):
    """A request without a usable reply.

    Attributes:
        status: HTTP status; 0 where there was no answer.
        again: Whether it may be answered if it is sent again, after `pause` seconds if the endpoint says so.
        since: When its last try began.
    """

    def __init__(self, message: str, status: int = 0, *, again: bool = False, pause: float | None = None) -> None:
        super().__init__(message)
        self.status, self.again, self.pause = status, again, pause
        self.since = float("inf")


# What endpoints answer where they do not tell log-probabilities.
_NO_SUCH_FIELD: Final = (400, 403, 404, 422, 501)


class EndpointBackend:
    """Asks an OpenAI-compatible endpoint, many requests at once.

    A request that fails is tried again after 429, 5xx, a time-out or a lost connection. If it still fails, and nobody
    was answered since its last try began, a small request of our own tells whose fault it is: answered, the request is
    refused alone; not answered, the endpoint is down or refuses us, and the job stops instead of rejecting all rows.

    The key is read from the environment alone, and is cut out of everything that is told.
    """

    def __init__(self, generator: GeneratorSettings) -> None:
        """Read the key.

        Raises:
            GeneratorError: It can be none; the message does not show it.
        """
        self._settings = generator
        # Files of secrets end with a line break.
        self._key = os.environ.get(generator.key_variable, "").strip()
        if not self._key.isascii() or not self._key.isprintable() or " " in self._key:
            raise GeneratorError(
                f"the environment variable {generator.key_variable} holds no key: it has spaces or unusual characters"
            )
        self._answered_at = float("-inf")
        self._probing = asyncio.Lock()
        self._tells_tokens = True

    def prepare(self) -> None:
        """Ask the endpoint for its models; where that does not tell, for a small reply."""
        asyncio.run(self._prepare())

    async def _prepare(self) -> None:
        async with self._client() as client:
            try:
                async with asyncio.timeout(_PREPARE_SECONDS):
                    status, _, body = await self._exchange(client.build_request("GET", "models"), client)
            except (httpx.HTTPError, TimeoutError) as error:
                raise self._unusable(_RefusedError(self._told(error))) from None
            names: list[str] = []
            if status == 200:
                try:
                    names = [str(model["id"]) for model in json.loads(body)["data"]]
                except (ValueError, KeyError, TypeError, RecursionError):
                    log.info("generator=openai url=%s does not list its models", self._settings.url)
            elif status in (401, 403):
                raise self._unusable(_RefusedError(self._told(told_by(body)), status))
            if self._settings.model in names:
                return
            try:
                # Some gateways serve models that they do not list, and some list none.
                await self._ask(client, _PROBE, self._options({}), tries=1, seconds=4 * _PREPARE_SECONDS)
            except _RefusedError as error:
                models = ", ".join(names[:_MODELS_TOLD]) + (", ..." if len(names) > _MODELS_TOLD else "")
                raise self._unusable(error, f"; its models: {models}" if names else "") from None

    def replies(
        self, requests: Iterator[Request], schema: Mapping[str, object], *, tokens: bool = False
    ) -> Iterator[Reply]:
        """As many requests at once as `generator.concurrency` says; replies as they come.

        `requests` may have further ones after it had none, as long as replies are awaited.
        """
        options = self._options(schema) | ({"logprobs": True} if tokens else {})
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            client = self._client()
            pending: set[asyncio.Task[Reply]] = set()
            try:
                while True:
                    # Requests are drawn only as fast as they are answered: there may be millions.
                    while len(pending) < self._settings.concurrency and (request := next(requests, None)):
                        pending.add(loop.create_task(self._reply(client, request, options)))
                    if not pending:
                        return
                    done, pending = runner.run(asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED))
                    # What was answered is handed over before it is said that nothing more will be.
                    for task in sorted(done, key=lambda task: task.exception() is not None):
                        yield task.result()
            finally:
                runner.run(_closed(client, pending))

    def close(self) -> None:
        """Nothing is held between calls."""

    def _client(self) -> httpx.AsyncClient:
        most = self._settings.concurrency
        return httpx.AsyncClient(
            base_url=self._settings.url + "/",
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx.Timeout(self._settings.timeout, connect=min(10.0, self._settings.timeout)),
            limits=httpx.Limits(max_connections=most + 1, max_keepalive_connections=most + 1),
            follow_redirects=False,
        )

    def _options(self, schema: Mapping[str, object]) -> dict[str, Any]:
        """The fields of the body that all requests share."""
        settings = self._settings
        options: dict[str, Any] = {"model": settings.model, settings.max_tokens_name: settings.max_tokens}
        for name in ("temperature", "top_p", "seed"):
            if getattr(settings, name) is not None:
                options[name] = getattr(settings, name)
        if schema and settings.response_format == "json_schema":
            form = {"name": "output", "schema": portable(schema), "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": form}
        elif schema and settings.response_format == "json_object":
            options["response_format"] = {"type": "json_object"}
        return {**options, **settings.extra}

    async def _reply(self, client: httpx.AsyncClient, request: Request, options: Mapping[str, Any]) -> Reply:
        """The reply to one request, or why it alone got none.

        Raises:
            GeneratorError: It is not the request's fault.
        """
        try:
            reply = await self._asked(client, request.messages, options)
        except _RefusedError as error:
            if error.status == 401:
                raise self._unusable(error) from None
            # Does the endpoint answer anybody?
            async with self._probing:
                if self._answered_at < error.since:
                    small = {name: options[name] for name in options if name != "logprobs"}
                    try:
                        await self._ask(client, _PROBE, small, tries=1, seconds=self._settings.timeout)
                    except _RefusedError:
                        raise self._unusable(error) from None
            return Reply(request.row, "", False, 0, 0, self._told(error))
        return replace(reply, row=request.row)

    async def _asked(
        self, client: httpx.AsyncClient, messages: tuple[Mapping[str, str], ...], options: Mapping[str, Any]
    ) -> Reply:
        """The reply to one conversation; without log-probabilities where the endpoint refuses to tell them."""
        how, plain = (self._settings.tries, self._settings.timeout), {**options}
        if plain.pop("logprobs", False) and self._tells_tokens:
            try:
                return await self._ask(client, messages, options, *how)
            except _RefusedError as error:
                if error.status not in _NO_SUCH_FIELD:
                    raise
            reply = await self._ask(client, messages, plain, *how)
            log.info("generator=openai url=%s does not tell log-probabilities", self._settings.url)
            self._tells_tokens = False
            return reply
        return await self._ask(client, messages, plain, *how)

    async def _ask(
        self,
        client: httpx.AsyncClient,
        messages: tuple[Mapping[str, str], ...],
        options: Mapping[str, Any],
        tries: int,
        seconds: float,
    ) -> Reply:
        """The reply to one conversation.

        Raises:
            _RefusedError: There is none after so many tries of so many seconds each.
        """
        body = json.dumps({**options, "messages": messages}).encode()
        for number in range(1, tries + 1):
            since = time.monotonic()
            try:
                async with asyncio.timeout(seconds):
                    reply = await self._post(client, body)
            except TimeoutError:
                failure = _RefusedError(f"no reply within {seconds:g} seconds", again=True, pause=0.0)
            except _RefusedError as error:
                failure = error
            else:
                self._answered_at = time.monotonic()
                return reply
            failure.since = since
            if number == tries or not failure.again:
                break
            # Pauses grow and differ, so that not all come back at once.
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (number - 1)) * (0.75 + random.random() / 4)
            await asyncio.sleep(pause if failure.pause is None else failure.pause)
        raise failure

    async def _post(self, client: httpx.AsyncClient, body: bytes) -> Reply:
        headers = {"Content-Type": "application/json"}
        try:
            request = client.build_request("POST", "chat/completions", content=body, headers=headers)
            status, fields, answer = await self._exchange(request, client)
        except httpx.HTTPError as error:
            # A connection that breaks, cannot be made, or carries what is no HTTP.
            raise _RefusedError(f"{type(error).__name__} {error}".strip(), again=True) from error
        if 300 <= status < 400:
            raise _RefusedError(f"it redirects to {fields.get('location', '')[:200]!r}, which is not followed", status)
        if status in _FOR_NOW:
            pause = None
            with suppress(ValueError):  # Seconds that the endpoint asks for, RFC 9110, 10.2.3.
                pause = min(_LONGEST_RETRY_AFTER, max(0.0, float(fields.get("retry-after", ""))))
            raise _RefusedError(f"HTTP {status}: {told_by(answer)}", status, again=True, pause=pause)
        if status != 200:
            raise _RefusedError(f"HTTP {status}: {told_by(answer)}", status)
        return reply_of(answer)

    async def _exchange(self, request: httpx.Request, client: httpx.AsyncClient) -> tuple[int, httpx.Headers, bytes]:
        """Status, headers and body of an answer, which may have so many bytes.

        Raises:
            httpx.HTTPError: There is none, or a larger one.
        """
        answer = await client.send(request, stream=True)
        try:
            parts, size = [], 0
            async for part in answer.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > _MOST_BYTES:
                    raise httpx.DecodingError(f"an answer of more than {_MOST_BYTES >> 20} MiB")
            return answer.status_code, answer.headers, b"".join(parts)
        finally:
            await answer.aclose()

    def _unusable(self, error: _RefusedError, more: str = "") -> GeneratorError:
        variable, url = self._settings.key_variable, self._settings.url
        hint = ""
        if error.status in (401, 403):
            hint = f"; the key in the environment variable {variable} is {'refused' if self._key else 'not set'}"
        elif not error.status:
            hint = "; is it running? generator.url says where it is sought"
        elif not url.rstrip("/").rsplit("/", 1)[-1].startswith("v"):
            hint = "; generator.url should end with the version of the interface, mostly /v1"
        elif error.status in (200, 404, 405, 501):
            hint = "; check generator.url and generator.model"
        return GeneratorError(f"the endpoint {url} cannot be used: {self._told(error)}{more}{hint}")

    def _told(self, error: object) -> str:
        """What an endpoint or a library said, on one line, without the key."""
        message = " ".join(str(error).split()) or type(error).__name__
        if self._key:
            message = message.replace(self._key, "[key]")
        return message.encode("utf-8", "replace").decode()[:_ERROR_LENGTH]


async def _closed(client: httpx.AsyncClient, pending: set[asyncio.Task[Reply]]) -> None:
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    await client.aclose()


def portable(schema: Any) -> Any:
    """A JSON schema with what every endpoint takes: no titles, defaults and lengths, every property required.

    OpenAI's strict mode asks for the last; what is optional must be nullable. Tasks check lengths themselves.
    """
    if isinstance(schema, list):
        return [portable(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain: dict[str, Any] = {}
    for name, value in schema.items():
        if name in ("properties", "$defs"):
            plain[name] = {key: portable(part) for key, part in value.items()}
        elif name not in ("title", "default", "minLength", "maxLength", "minItems", "maxItems"):
            plain[name] = portable(value)
    if "properties" in plain:
        plain |= {"required": list(plain["properties"]), "additionalProperties": False}
    return plain


def reply_of(body: bytes) -> Reply:
    """The first choice of a chat completion, for row -1; endpoints do not always send what their interface says.

    Raises:
        _RefusedError: The body is none.
    """
    try:
        tree = json.loads(body)
        choice = tree["choices"][0]
        cut_off = choice.get("finish_reason") == "length"
        refusal, content = choice["message"].get("refusal"), choice["message"].get("content")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise _RefusedError(f"no chat completion: {told_by(body)}", 200) from None
    usage = tree.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    if isinstance(content, list):  # A message may come in parts.
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    try:
        chances = [(str(one["token"]), float(one["logprob"])) for one in choice["logprobs"]["content"]]
    except (TypeError, KeyError, ValueError, OverflowError):
        chances = []  # The endpoint does not tell log-probabilities, or tells something else.
    if not all(math.isfinite(chance) for _, chance in chances):
        chances = []
    return Reply(
        row=-1,
        text=content.encode("utf-8", "replace").decode() if isinstance(content, str) else "",
        cut_off=cut_off,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        error=f"the model refused: {_shown(refusal.encode('utf-8', 'replace'))}" if isinstance(refusal, str) else "",
        tokens=tuple((token, min(0.0, chance)) for token, chance in chances),
    )


def told_by(body: bytes) -> str:
    """What an error's body says: its message, or how it begins."""
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(body)
    error = tree.get("error", tree) if isinstance(tree, dict) else tree
    message = error.get("message", error) if isinstance(error, dict) else error
    return _shown(str(message).encode("utf-8", "replace"))


def _count(tokens: Any) -> int:
    return max(0, tokens) if isinstance(tokens, int) else 0


def _shown(body: bytes) -> str:
    return " ".join(body[: 4 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN] or "an empty answer"
