"""Causal language models as they are trained here: low-rank adapters, log-probabilities of completions, samples.

Prompts of a Task differ only at their end, so the tokens that all prompts of a batch share are read once and their keys
and values repeated; gradients flow through them, and the result is that of reading every prompt alone.

Source: Hu et al., LoRA, arXiv 2106.09685.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, AutoTokenizer

from quern.jobs.models.folders import forbid_network
from quern.jobs.tasks.generators.decoding import SHARED, Continuation, Decoder, Guide, Sampling, shared_length
from quern.jobs.tasks.generators.model_folder import model_folder, plain_template
from quern.jobs.tasks.task import Input, Task
from quern.jobs.training.run import Card, Run, Setting, Settings, TrainingError, weights_digest, write_result

log = logging.getLogger(__name__)

_CAUSE: Final = 200  # Characters of another library's error that are shown.


@dataclass(frozen=True)
class Example:
    """A prompt and the completion that a model is to write after it, as token ids."""

    prompt: Sequence[int]
    completion: Sequence[int]  # Ends with the token that ends a reply.
    name: str = ""  # Names it in errors.


@dataclass(frozen=True)
class Reading:
    """What a model makes of examples; completions are padded to the longest, of c tokens."""

    chances: torch.Tensor  # Log-probability of each token of each completion, (n, c); 0 where padded.
    mask: torch.Tensor  # Where a completion has a token, (n, c).
    hidden: torch.Tensor  # The last hidden states that predict these tokens, (n, c, d).

    @property
    def mean(self) -> torch.Tensor:
        """Mean log-probability of a token of each completion, shape (n,)."""
        return self.chances.sum(1) / self.mask.sum(1)


class LanguageModel:
    """A causal language model in a folder of Hugging Face, with adapters of which alone are trained."""

    def __init__(self, name: str, rank: int, seed: int) -> None:
        """Load the model that `name` names as `generator.model` does, with adapters of every layer but the head.

        Raises:
            GeneratorError: There is no such model on this machine.
            TrainingError: It is no causal language model of transformers.
        """
        forbid_network()
        self.folder = model_folder(name)
        try:
            model = AutoModelForCausalLM.from_pretrained(self.folder, dtype=torch.float32)
            self.tokenizer = AutoTokenizer.from_pretrained(self.folder)
        except (OSError, ValueError, KeyError, AttributeError) as error:
            cause = " ".join(str(error).split())[:_CAUSE]
            raise TrainingError(
                f"--base {self.folder} is no causal language model that can be trained: {cause}"
            ) from error
        named = getattr(model.generation_config, "eos_token_id", None)
        ends = {*(named if isinstance(named, list) else [named]), self.tokenizer.eos_token_id} - {None}
        if not ends:
            raise TrainingError(f"--base {self.folder} names no token that ends a reply")
        self.ends = frozenset(ends)
        self._end = self.tokenizer.eos_token_id if self.tokenizer.eos_token_id is not None else min(ends)
        self._template = plain_template(self.folder)
        torch.manual_seed(seed)
        self.net = get_peft_model(
            model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")
        )

    @cached_property
    def digest(self) -> str:
        """Digest of the base's weights."""
        return weights_digest(self.folder)

    @cached_property
    def guide(self) -> Guide:
        """Grammars over the model's tokens."""
        return Guide(self.tokenizer, self.net.config.get_text_config().vocab_size, self.ends)

    def prompt(self, task: Task[Input, Any], given: Input) -> list[int]:
        """The token ids of a task's prompt, as `generator.kind=local` writes it."""
        return self.chat([*map(dict, task.preface), {"role": "user", "content": task.render(given)}])

    def chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The token ids of messages, up to where the reply begins."""
        ids: list[int] = self.tokenizer.apply_chat_template(
            [*messages], chat_template=self._template, add_generation_prompt=True, return_dict=False
        )
        return ids

    def example(self, task: Task[Input, Any], given: Input, output: Mapping[str, object], name: str = "") -> Example:
        """A task's prompt, and an output of it as the JSON that decoding is held to."""
        text = json.dumps(output, ensure_ascii=False)
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        return Example(self.prompt(task, given), [*ids, self._end], name)

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        schema: Mapping[str, object],
        *,
        most: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[Continuation]:
        """What the model writes after each of the prompts, at most so many tokens held to the schema, in their order.

        Prompt n has the dice of `seed + n`, so equal prompts are continued differently; temperature 0 has none.
        """
        rows = [
            Continuation(n, p, most, matcher=self.guide.matcher(schema), dice=torch.Generator().manual_seed(seed + n))
            for n, p in enumerate(prompts)
        ]
        training = self.net.training
        self.net.eval()
        decoder = Decoder(self.net.get_base_model(), self._end, self.ends, Sampling(temperature), self.guide)
        for _ in decoder.decode(rows):
            pass  # Each row keeps what is written of it.
        self.net.train(training)
        return rows

    def written(self, row: Continuation) -> Example:
        """A sampled completion as an example; without the token that ends it where it was cut off."""
        return Example(row.prompt, [*row.tokens, self._end] if row.ended else row.tokens)

    def text(self, row: Continuation) -> str:
        """The text of a sampled completion."""
        text: str = self.tokenizer.decode(row.tokens, skip_special_tokens=True)
        return text

    def save(self, folder: Path) -> None:
        """Write the model with its adapters merged, in the precision of its base: what `generator.model` takes."""
        merged = self.net.merge_and_unload()
        merged.to(getattr(torch, json.loads((self.folder / "config.json").read_text("utf-8")).get("dtype", "float32")))
        merged.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def read(net: nn.Module, examples: Sequence[Example]) -> Reading:
    """The log-probabilities of the examples' completions."""
    causal = net.get_base_model() if isinstance(net, PeftModel) else net
    decoder, head = causal.get_decoder(), causal.get_output_embeddings()
    device = head.weight.device
    shared, cache = shared_length([e.prompt for e in examples]), None
    if shared >= SHARED and len(examples) > 1:
        prefix = torch.tensor([examples[0].prompt[:shared]], device=device)
        cache = decoder(input_ids=prefix, use_cache=True).past_key_values
        cache.batch_repeat_interleave(len(examples))
    else:
        shared = 0
    # No token sees a later one, so padding behind a text changes nothing before it; the last token predicts nothing.
    ids = [torch.tensor([*e.prompt[shared:], *e.completion[:-1]]) for e in examples]
    padded = pad_sequence(ids, batch_first=True).to(device)
    hidden = decoder(input_ids=padded, past_key_values=cache, use_cache=cache is not None).last_hidden_state
    targets = pad_sequence([torch.tensor(e.completion) for e in examples], batch_first=True).to(device)
    lengths = torch.tensor([len(e.completion) for e in examples], device=device)
    within = torch.arange(targets.shape[1], device=device)
    mask = within < lengths[:, None]
    begins = torch.tensor([len(e.prompt) - shared - 1 for e in examples], device=device)
    places = (begins[:, None] + within).clamp(max=padded.shape[1] - 1)
    hidden = hidden.gather(1, places[..., None].expand(-1, -1, hidden.shape[-1]))
    likely = head(hidden[mask]).float().log_softmax(-1).gather(1, targets[mask][:, None])[:, 0]
    chances = torch.zeros(mask.shape, device=device).masked_scatter(mask, likely)
    return Reading(chances, mask, hidden)


def completion_loss(net: nn.Module, examples: Sequence[Example]) -> torch.Tensor:
    """−E log π(y|x): mean surprise of a token of the completions (GraTAG, section 3.2)."""
    reading = read(net, examples)
    return -reading.chances.sum() / reading.mask.sum()


def log_step(step: int, **figures: float) -> None:
    """Log the figures of a step, counted from 0."""
    log.info("step=%d %s", step + 1, " ".join(f"{name}={value:.4g}" for name, value in figures.items()))


@dataclass(frozen=True)
class Request:
    """What a training of a language model is asked to do."""

    out: Path  # The folder of the result; checkpoints lie beside it until the run ends.
    base: str  # As `generator.model`.
    settings: Settings
    size: int  # Questions of a batch.
    rank: int  # Of the adapters.
    measured: int  # Held-out questions that are measured for the model card.
    command: str  # Makes the model again.

    def origin(self, model: LanguageModel, data: str) -> dict[str, Setting]:
        """What the weights depend on beside the run's own settings; `data` is a digest."""
        return {"data": data, "base": self.base, "base_digest": model.digest, "size": self.size, "rank": self.rank}

    def write(
        self,
        model: LanguageModel,
        run: Run[Any],
        figures: Mapping[str, float],
        *,
        title: str,
        task: str,
        data: Sequence[tuple[str, str, int]],
    ) -> None:
        """Write the model with its card, and delete the checkpoint; title, task and data are those of `Card`."""
        card = Card(
            title=title,
            task=task,
            base=f"{self.base}, under its own licence",
            data=data,
            figures=figures,
            settings=run.described,
            command=self.command,
            tags={"library_name": "transformers", "pipeline_tag": "text-generation"},
        )
        write_result(self.out, model.save, card)
        run.finish()


def batch_at(step: int, count: int, size: int, seed: int) -> list[int]:
    """Positions of the batch of a step, counted from 0: each example once an epoch, whole batches only."""
    epoch, at = divmod(step, count // size)
    order = np.random.default_rng([seed, epoch]).permutation(count)
    return [*order[at * size : (at + 1) * size].tolist()]
