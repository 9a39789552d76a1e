"""Generators behind an OpenAI-compatible endpoint: a vLLM or llama.cpp server, or a hosted model."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from jobs.generators.contract import GeneratorError, Reply, Request
from schemas.groups import GeneratorSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger(__name__)

# Requests in a row that failed after all their tries: what answers nobody is down, whatever it says.
_FAILURES_IN_A_ROW: Final = 8
_PREPARE_SECONDS: Final = 15.0
_MODELS_TOLD: Final = 8
_ERROR_LENGTH: Final = 300


class EndpointBackend:
    """Asks an OpenAI-compatible endpoint, many requests at once.

    The client of the `openai` package tries again after 429, 5xx and lost connections, with pauses that grow or are
    as Retry-After says. The key is read from the environment alone, and is cut out of everything that is told.
    """

    def __init__(self, generator: GeneratorSettings) -> None:
        self._settings = generator
        self._key = os.environ.get(generator.key_variable, "")
        self._failures = 0
        self._answered = False

    def prepare(self) -> None:
        """Ask the endpoint for its models.

        Raises:
            GeneratorError: It does not answer, refuses the key, or has no model of this name.
        """
        import openai

        async def models() -> list[str]:
            async with self._client(tries=2, timeout=_PREPARE_SECONDS) as client:
                return [model.id async for model in client.models.list()]

        try:
            names = asyncio.run(models())
        except (openai.NotFoundError, openai.UnprocessableEntityError, openai.APIResponseValidationError):
            log.info("generator=openai url=%s does not list its models", self._settings.url)
            return
        except openai.APIError as error:
            raise self._unusable(error) from None
        model = self._settings.model
        if names and model not in names:
            told = ", ".join(names[:_MODELS_TOLD]) + (", ..." if len(names) > _MODELS_TOLD else "")
            raise GeneratorError(f"{self._settings.url} has no model {model}; set generator.model to one of: {told}")

    def replies(self, requests: Iterator[Request], schema: Mapping[str, object]) -> Iterator[Reply]:
        """As many requests at once as `generator.concurrency` says; replies as they come.

        Raises:
            GeneratorError: The endpoint cannot be reached any more, refuses the key or the model, or answers nobody.
        """
        options = self._options(schema)
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            client = self._client(self._settings.tries, self._settings.timeout)
            pending: set[asyncio.Task[Reply]] = set()
            try:
                while True:
                    # Requests are drawn only as fast as they are answered: there may be millions.
                    while len(pending) < self._settings.concurrency and (request := next(requests, None)):
                        pending.add(loop.create_task(self._ask(client, request, options)))
                    if not pending:
                        return
                    done, pending = runner.run(_first_of(pending))
                    # What was answered is handed over before it is said that nothing more will be.
                    for task in sorted(done, key=lambda task: task.exception() is not None):
                        yield task.result()
            finally:
                runner.run(_closed(client, pending))

    def close(self) -> None:
        """Nothing is held between calls."""

    def _client(self, tries: int, timeout: float) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        # Local servers ask for no key, but the client does.
        return AsyncOpenAI(
            api_key=self._key or "none", base_url=self._settings.url, max_retries=tries - 1, timeout=timeout
        )

    def _options(self, schema: Mapping[str, object]) -> dict[str, Any]:
        """The fields of the body that all requests share."""
        settings = self._settings
        options: dict[str, Any] = {settings.max_tokens_name: settings.max_tokens, "extra_body": dict(settings.extra)}
        for name in ("temperature", "top_p", "seed"):
            if getattr(settings, name) is not None:
                options[name] = getattr(settings, name)
        if settings.response_format == "json_schema":
            described = {"name": "output", "schema": portable(schema), "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": described}
        elif settings.response_format == "json_object":
            options["response_format"] = {"type": "json_object"}
        return options

    async def _ask(self, client: AsyncOpenAI, request: Request, options: Mapping[str, Any]) -> Reply:
        import openai

        messages: Any = list(request.messages)
        try:
            # The client's own limit is for each piece that arrives: an endpoint that trickles would never reach it.
            async with asyncio.timeout(self._settings.timeout * self._settings.tries * 2):
                told = await client.chat.completions.create(model=self._settings.model, messages=messages, **options)
            choice, usage = told.choices[0], told.usage
        except (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError) as error:
            raise self._unusable(error) from None
        except openai.APITimeoutError as error:
            return self._failed(request, error)
        except openai.APIConnectionError as error:
            raise self._unusable(error) from None
        except openai.BadRequestError as error:
            # Once it has answered anybody, a refusal is of this request, such as of a prompt too long.
            return self._refused(request, error) if self._answered else self._failed(request, error)
        except (openai.APIError, TimeoutError, IndexError, TypeError, AttributeError, ValueError) as error:
            return self._failed(request, error)
        self._failures, self._answered = 0, True
        return Reply(
            row=request.row,
            text=choice.message.content or "",
            cut_off=choice.finish_reason == "length",
            prompt_tokens=usage.prompt_tokens if usage else 0,
            output_tokens=usage.completion_tokens if usage else 0,
            error=self._told(choice.message.refusal) if getattr(choice.message, "refusal", None) else "",
        )

    def _failed(self, request: Request, error: Exception) -> Reply:
        """A request without a reply; too many in a row are the endpoint's fault, not theirs."""
        self._failures += 1
        if self._failures >= _FAILURES_IN_A_ROW:
            raise self._unusable(error, f"failed {self._failures} requests in a row, the last with")
        return self._refused(request, error)

    def _refused(self, request: Request, error: Exception) -> Reply:
        return Reply(request.row, "", False, 0, 0, self._told(error) or type(error).__name__)

    def _unusable(self, error: Exception, what: str = "cannot be used:") -> GeneratorError:
        import openai

        hint = ""
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            state = "is refused" if self._key else "is not set"
            hint = f"; the key in the environment variable {self._settings.key_variable} {state}"
        elif isinstance(error, openai.APIConnectionError):
            hint = "; is it running? generator.url says where it is sought"
        elif isinstance(error, openai.NotFoundError):
            hint = "; check generator.url, which ends with the version (/v1), and generator.model"
        return GeneratorError(f"the endpoint {self._settings.url} {what} {self._told(error)}{hint}")

    def _told(self, error: object) -> str:
        """What an endpoint said, on one line, without the key."""
        told = " ".join(str(error).split())
        cause = getattr(error, "__cause__", None)
        if cause is not None and str(cause):
            told += f" ({' '.join(str(cause).split())})"
        return (told.replace(self._key, "[key]") if self._key else told)[:_ERROR_LENGTH]


async def _first_of(
    pending: set[asyncio.Task[Reply]],
) -> tuple[set[asyncio.Task[Reply]], set[asyncio.Task[Reply]]]:
    return await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)


async def _closed(client: AsyncOpenAI, pending: set[asyncio.Task[Reply]]) -> None:
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    await client.close()


def portable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with what every endpoint takes: without titles, defaults and lengths, every property required.

    OpenAI's strict mode asks for the last; what is optional must be nullable. Lengths are checked when it has answered.
    """
    plain = {
        name: {key: portable(part) for key, part in value.items()}
        if name in ("properties", "$defs")
        else portable(value)
        if isinstance(value, Mapping)
        else [portable(part) if isinstance(part, Mapping) else part for part in value]
        if isinstance(value, list)
        else value
        for name, value in schema.items()
        if name not in ("title", "default", "minLength", "maxLength")
    }
    if "properties" in plain:
        plain |= {"required": list(plain["properties"]), "additionalProperties": False}
    return plain
