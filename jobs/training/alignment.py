"""Training of a language model that answers from passages and from the triplets that it extracts itself (TAG).

It is taught to extract triplets first, from a teacher's. Then each question is answered without triplets and with each
of K samples; a fusion net weighs the two losses, and extraction is reinforced by how far its triplets lower the loss:
- `L_ans = ω·L_base + (1 − ω)·L_triplet`, with ω of the hidden states of both,
- `R_k = max(0, L_base − L_triplet,k − R̄) + γ(ℓ̄ − ℓ_k)`, R̄ and ℓ̄ being the means of gain and length in the group,
- `L = L_ans + α·(−R_k log π(t_k|x))`.

Losses and log-probabilities are means over tokens, so that weights do not depend on how long answers are; ω is one
number a token. Prompts are those of the Tasks `find_triplets` and `answer`; the examples before the latter's prompt
are left out, for they would be most of the tokens.

Source: GraTAG, section 3.3; Williams, REINFORCE, 1992.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence, Fact
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.tasks.conversation import judge
from quern.jobs.tasks.generators.contract import Reply
from quern.jobs.tasks.generators.decoding import Continuation
from quern.jobs.training.graphs import is_held_out
from quern.jobs.training.language_model import (
    Example,
    LanguageModel,
    Request,
    batch_at,
    completion_loss,
    log_step,
    read,
)
from quern.jobs.training.pairs import read_rows
from quern.jobs.training.run import Run, TrainingError, training_folder
from quern.jobs.triplets.find import ChunkTriplets, TripletInput, located, triplet_task
from quern.jobs.triplets.rule import Passage
from quern.schemas.digests import text_digest
from quern.schemas.settings import AnswerSettings

_LEAST: Final = 16  # Questions to learn from.


@dataclass(frozen=True)
class Case:
    """A question with its answer and the passages that it is answered from."""

    question: str
    answer: str
    passages: tuple[Passage, ...]
    triplets: tuple[ChunkTriplets, ...]  # A teacher's, one list a passage; empty to take those of the rule.


def read_cases(file: Path) -> list[Case]:
    """The cases of a JSON Lines file: `question`, `answer`, `passages` (`title`, `text`), and `triplets` if it has any.

    `triplets` holds a list for each passage, of objects as the Task `find_triplets` has them.

    Raises:
        DataError: The file cannot be read, or a row is no such case.
    """
    return list(read_rows(file, _case, "question with answer and passages"))


def _case(row: Mapping[str, Any]) -> Case:
    passages = tuple(Passage(p["text"], p.get("title") or "") for p in row["passages"])
    triplets = tuple(ChunkTriplets(triplets=some) for some in row.get("triplets", ()))
    if not (row["question"].strip() and row["answer"].strip() and passages and all(p.text.strip() for p in passages)):
        raise ValueError("question, answer or passages are empty")
    if triplets and len(triplets) != len(passages):
        raise ValueError(f"{len(triplets)} lists of triplets for {len(passages)} passages")
    return Case(row["question"], row["answer"], passages, triplets)


class Fusion(nn.Module):  # type: ignore[misc]
    """Three linear layers with ReLU between: how far a token is predicted without the triplet, ω in (0, 1)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, base: torch.Tensor, triplet: torch.Tensor) -> torch.Tensor:
        """ω of hidden states without and with a triplet, shape (..., d) to (...)."""
        # A weight of exactly 0 or 1, to which float32 rounds, would give one of the losses no gradient for ever.
        return torch.sigmoid(self.layers(torch.cat([base, triplet], -1))[..., 0]).clamp(1e-4, 1 - 1e-4)


def answer_loss(weight: torch.Tensor, base: torch.Tensor, triplet: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """ω·L_base + (1 − ω)·L_triplet: the mean over the tokens that `mask` has; all of shape (n, tokens)."""
    return ((weight * base + (1 - weight) * triplet) * mask).sum() / mask.sum().clamp(min=1)


def rewards(
    base: torch.Tensor, triplet: torch.Tensor, length: torch.Tensor, mask: torch.Tensor, gamma: float
) -> torch.Tensor:
    """max(0, L_base − L_triplet − R̄) + γ(ℓ̄ − ℓ): of each sample of shape (questions, K), 0 where `mask` leaves it out.

    Args:
        base: Loss without triplets, shape (questions, 1).
        triplet: Loss with each sample's.
        length: Tokens of each sample.
        mask: Which samples count, here and in the means.
        gamma: Worth of a token less than the mean.
    """
    count = mask.sum(1, keepdim=True).clamp(min=1)
    gain, length = base - triplet, length.float()
    above = gain - (gain * mask).sum(1, keepdim=True) / count
    shorter = (length * mask).sum(1, keepdim=True) / count - length
    return (above.clamp(min=0) + gamma * shorter) * mask


def policy_loss(reward: torch.Tensor, chance: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """−R log π(t|x), the mean over the samples that `mask` has; no gradient flows through the reward."""
    return -(reward.detach() * chance * mask).sum() / mask.sum().clamp(min=1)


@dataclass(frozen=True)
class AlignmentSettings:
    """Settings of the alignment."""

    samples: int = 4  # K samples of triplets for each question.
    triplets: int = 4  # Most triplets of a passage.
    tokens: int = 60  # Most for each triplet; the rule's have 31 of SmolLM2's on average, at most 77 (MuSiQue).
    cold: int = 100  # Steps of supervised extraction before.
    alpha: float = 0.1  # Weight of the reinforced loss: L_ans keeps the lead.
    gamma: float = 0.001  # 50 tokens less are worth as much as a loss lower by .05.
    temperature: float = 1.0


class Aligner(nn.Module):  # type: ignore[misc]
    """The language model and the fusion net, which are trained together."""

    def __init__(self, model: LanguageModel, seed: int) -> None:
        super().__init__()
        self.language_model = model.net
        torch.manual_seed(seed)
        self.fusion = Fusion(model.net.config.get_text_config().hidden_size)


@dataclass
class Alignment:
    """Batches and losses of both phases."""

    model: LanguageModel
    cases: Sequence[Case]
    settings: AlignmentSettings
    size: int
    seed: int

    def __post_init__(self) -> None:
        """See that there is enough to learn from.

        Raises:
            TrainingError: There is not.
        """
        most = self.settings.triplets
        self.extraction = triplet_task(most)
        answering = answer_task(AnswerSettings(triplets=most))
        self.answering = replace(answering, preface=answering.preface[:1])
        self.training = [c for c in self.cases if not is_held_out(c.question)]
        least = max(_LEAST, self.size)
        if len(self.training) < least:
            raise TrainingError(
                f"{len(self.training)} questions to learn from, of {len(self.cases)} of which a tenth is held out: "
                f"{least} are needed"
            )

    def taught(self, step: int) -> list[Example]:
        """The examples of a step of supervised extraction: each passage with its teacher's triplets, checked."""
        examples = []
        for n in batch_at(step, len(self.training), self.size, self.seed):
            case = self.training[n]
            for at, passage in enumerate(case.passages):
                given = TripletInput(passage)
                output = case.triplets[at] if case.triplets else self.extraction.rule(given)
                good = self.extraction.check(given, output).good or ChunkTriplets(triplets=[])
                examples.append(self.model.example(self.extraction, given, good.model_dump(), case.question))
        return examples

    def batch(self, step: int) -> tuple[int, list[Case]]:
        """Number and questions of a step of the alignment."""
        return step, [self.training[n] for n in batch_at(step, len(self.training), self.size, self.seed)]

    def loss(self, net: Aligner, batch: tuple[int, list[Case]]) -> torch.Tensor:
        """L_ans + α·(−R log π(t|x)) of a step."""
        step, cases = batch
        many, settings = self.settings.samples, self.settings
        rows = self.extracted(cases, many, settings.temperature, self.seed + (step << 20))
        facts = [self.facts(c, own) for c, own in zip((c for c in cases for _ in range(many)), rows, strict=True)]
        bare = [self.answer(case, ()) for case in cases]
        # One reading of all: a question's answer is the same tokens without triplets and with each sample's.
        told = [self.answer(c, f) for c, f in zip((c for c in cases for _ in range(many)), facts, strict=True)]
        reading = read(net.language_model, [*bare, *told])
        of = torch.arange(len(cases), device=reading.mask.device).repeat_interleave(many)
        base, triplet, mask = -reading.chances[of], -reading.chances[len(cases) :], reading.mask[len(cases) :]
        weight = net.fusion(reading.hidden[of], reading.hidden[len(cases) :])
        answers = answer_loss(weight, base, triplet, mask)
        whole = torch.tensor([all(r.ended for r in own) for own in rows], device=of.device)
        owner = torch.tensor([n for n, own in enumerate(rows) for _ in own], device=of.device)
        extraction = read(net.language_model, [self.model.written(r) for own in rows for r in own])
        tokens = torch.zeros(len(rows), device=of.device).index_add(0, owner, extraction.mask.sum(1).float())
        chance = torch.zeros(len(rows), device=of.device).index_add(0, owner, extraction.chances.sum(1)) / tokens
        losses = -reading.mean.detach()
        counted = whole.view(-1, many)
        reward = rewards(
            losses[: len(cases), None],
            losses[len(cases) :].view(-1, many),
            tokens.view(-1, many),
            counted,
            settings.gamma,
        )
        gain = (losses[of] - losses[len(cases) :])[whole]
        log_step(
            step,
            answer_loss=answers.item(),
            gain=gain.mean().item() if len(gain) else 0.0,
            reward=reward.sum().item() / max(1, int(whole.sum())),
            weight=(weight * mask).sum().item() / int(mask.sum()),
            tokens=tokens.mean().item(),
            triplets=sum(len(some) for own in facts for some in own) / len(facts),
            cut_off=int((~whole).sum()),
        )
        return answers + settings.alpha * policy_loss(reward.flatten(), chance, whole)

    def extracted(self, cases: Sequence[Case], many: int, temperature: float, seed: int) -> list[list[Continuation]]:
        """For each case `many` samples, each a completion for every passage."""
        prompts = [
            self.model.prompt(self.extraction, TripletInput(p)) for c in cases for _ in range(many) for p in c.passages
        ]
        most = self.settings.tokens * self.settings.triplets
        rows = iter(self.model.sample(prompts, self.extraction.schema(), most=most, temperature=temperature, seed=seed))
        return [[next(rows) for _ in c.passages] for c in cases for _ in range(many)]

    def facts(self, case: Case, rows: Sequence[Continuation]) -> list[list[Fact]]:
        """The triplets of each passage that pass the Task's check."""
        found: list[list[Fact]] = []
        for passage, row in zip(case.passages, rows, strict=True):
            reply = Reply(0, self.model.text(row), not row.ended, len(row.prompt), len(row.tokens))
            good = judge(self.extraction, TripletInput(passage), reply).good
            located_triplets = [(t, located(passage, t)) for t in (good.triplets if good else ())]
            found.append([Fact(t.subject, t.relation, t.object, p.start, p.end) for t, p in located_triplets if p])
        return found

    def answer(self, case: Case, facts: Sequence[Sequence[Fact]]) -> Example:
        """The prompt of a question with its passages and their triplets, and the gold answer."""
        evidence = [
            Evidence(p.text, p.title, [], [], facts=facts[n] if facts else ()) for n, p in enumerate(case.passages)
        ]
        given = AnswerInput(case.question, evidence)
        return self.model.example(self.answering, given, {"sentences": [{"text": case.answer}]}, case.question)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def held_out(self, net: Aligner, most: int) -> dict[str, float]:
        """Losses of held-out answers without triplets and with the likeliest ones, and how many these make likelier."""
        cases = [c for c in self.cases if is_held_out(c.question)][:most]
        losses = []
        for case in cases:
            (rows,) = self.extracted([case], 1, 0.0, 0)
            pair = read(net.language_model, [self.answer(case, ()), self.answer(case, self.facts(case, rows))])
            losses.append((-pair.mean).tolist())
        if not losses:
            return {}
        base, triplet = torch.tensor(losses).T
        return {
            "held-out questions": float(len(cases)),
            "held-out, loss without triplets": base.mean().item(),
            "held-out, loss with triplets": triplet.mean().item(),
            "held-out, likelier with triplets": (triplet < base).float().mean().item(),
        }


def train_aligner(
    cases: Sequence[Case], source: str, request: Request, alignment: AlignmentSettings
) -> dict[str, float]:
    """Teach extraction, then align, with the same settings but for the steps; the figures of the model card.

    Raises:
        TrainingError: There are too few questions, or the run cannot go on; the message says why.
    """
    settings = request.settings
    model = LanguageModel(request.base, request.rank, settings.seed)
    folder = training_folder(request.out)
    data = Alignment(model, cases, alignment, request.size, settings.seed)
    origin = {**request.origin(model, text_digest(*map(repr, cases))), **asdict(alignment)}
    cold = Run(
        net=model.net,
        batch=data.taught,
        loss=completion_loss,
        settings=replace(settings, steps=alignment.cold, warm=max(1, alignment.cold // 10)),
        folder=folder / "cold",
        origin=origin,
        describe=lambda batch: batch[0].name,
    )
    taught = cold.train()
    net = Aligner(model, settings.seed)
    before = data.held_out(net.eval(), request.measured)
    run: Run[Any] = Run(
        net=net,
        batch=data.batch,
        loss=data.loss,
        settings=settings,
        folder=folder,
        origin=origin,
        describe=lambda batch: batch[1][0].question,
    )
    outcome = run.train()
    figures = {
        "questions": float(len(data.training)),
        "extraction, loss": taught.loss,
        "loss": outcome.loss,
        "steps": float(outcome.steps),
        **{f"{name}, before alignment": value for name, value in before.items()},
        **data.held_out(net.eval(), request.measured),
    }
    request.write(
        model,
        run,
        figures,
        title="Answers aligned with triplets",
        task="Extracts triplets and answers from them and their passages: Quern's tasks `find_triplets` and `answer`.",
        data=[(source, "not stated", len(data.training))],
    )
    return figures
