"""Training of a language model that takes questions apart: supervised, then by what its graphs are worth.

Supervised fine-tuning raises the likelihood of people's graphs, `L = −E log π(G*|q)`. Group relative policy
optimisation then samples K graphs of each question and raises those whose evidence makes the gold answer likelier:
`r_k = (1/C) Σ_c log M(y | a_k^c)` over C retrievals, as an advantage normalised in the group, a ratio that is clipped,
and a penalty for leaving the supervised model.

Source: GraTAG, section 3.2; Shao et al., DeepSeekMath, arXiv 2402.03300 (GRPO); Schulman, Approximating KL Divergence
(the estimator k3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import torch
from torch import nn

from quern.jobs.reasoning.questions.decompose import DECOMPOSE, plan_of
from quern.jobs.reasoning.questions.plan import Plan
from quern.jobs.tasks.conversation import judge
from quern.jobs.tasks.generators.contract import Reply
from quern.jobs.tasks.generators.decoding import Continuation
from quern.jobs.tasks.prompts import QuestionInput, quoted
from quern.jobs.training.graphs import Graph, edge_f1, measures, sources
from quern.jobs.training.language_model import (
    Example,
    LanguageModel,
    Request,
    batch_at,
    completion_loss,
    log_step,
    read,
)
from quern.jobs.training.run import Run, Setting, TrainingError, training_folder
from quern.schemas.digests import text_digest

MOST_TOKENS: Final = 200  # Of a graph: the longest of those people wrote in StrategyQA and Break has 190.
_LEAST: Final = 64  # Graphs to learn from: with fewer a model only repeats them.

Retrieve = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""The passages of each of some questions, best first."""


def batches(model: LanguageModel, graphs: Sequence[Graph], size: int, seed: int) -> Callable[[int], list[Example]]:
    """The examples of each step of supervised fine-tuning, counted from 0.

    Raises:
        TrainingError: There are too few graphs.
    """
    examples = [
        model.example(DECOMPOSE, QuestionInput(g.question), g.decomposition.model_dump(), g.question)
        for g in learnable(graphs)
    ]
    if len(examples) < (least := max(_LEAST, size)):
        raise TrainingError(
            f"{len(examples)} graphs to learn from, of {len(graphs)} questions of which a tenth is held out: {least} "
            "are needed"
        )
    return lambda step: [examples[n] for n in batch_at(step, len(examples), size, seed)]


def learnable(graphs: Sequence[Graph]) -> list[Graph]:
    """The graphs to train on."""
    return [g for g in graphs if not g.held_out and g.fault is None]


def train_supervised(graphs: Sequence[Graph], request: Request) -> dict[str, float]:
    """Fine-tune on people's graphs; the figures of the model card.

    Raises:
        TrainingError: There are too few graphs, or the run cannot go on; the message says why.
    """
    model = LanguageModel(request.base, request.rank, request.settings.seed)
    run = Run(
        net=model.net,
        batch=batches(model, graphs, request.size, request.settings.seed),
        loss=completion_loss,
        settings=request.settings,
        folder=training_folder(request.out),
        origin=_origin(request, model, graphs),
        describe=lambda batch: batch[0].name,
    )
    return _finish(graphs, request, model, run)


def train_by_reward(
    graphs: Sequence[Graph],
    request: Request,
    judge: str,
    retrieves: Sequence[Retrieve],
    embed: Callable[[Sequence[str]], Any],
    settings: GroupSettings,
    evidence: str,
) -> dict[str, float]:
    """Group relative policy optimisation of the decomposer `request.base`; the figures of the model card.

    `judge` is the model M, as `generator.model`; `retrieves` are C retrievals, which `evidence` names for the model
    card; `embed` gives unit vectors. The graphs of the questions are not looked at.

    Raises:
        TrainingError: There are too few questions with answers, or the run cannot go on; the message says why.
    """
    model = LanguageModel(request.base, request.rank, request.settings.seed)
    frozen = LanguageModel(judge, 1, 0)
    frozen.net.requires_grad_(False).eval().to(request.settings.device)
    data = ByReward(model, frozen, graphs, retrieves, embed, settings, request.settings.seed)
    every = -(-request.settings.every // settings.reuse) * settings.reuse
    run = Run(
        net=model.net,
        batch=data.batch,
        loss=data.loss,
        settings=replace(request.settings, every=every),
        folder=training_folder(request.out),
        origin={
            **_origin(request, model, graphs),
            **asdict(settings),
            "judge": judge,
            "judge_digest": frozen.digest,
            "evidence": evidence,
        },
        describe=lambda batch: batch[1][0].question,
    )
    return _finish(graphs, request, model, run)


def _origin(request: Request, model: LanguageModel, graphs: Sequence[Graph]) -> dict[str, Setting]:
    data = text_digest(*(f"{g.question}\n{g.decomposition.model_dump_json()}\n{g.answer}" for g in graphs))
    return {**request.origin(model, data), "task": DECOMPOSE.version}


def _finish(graphs: Sequence[Graph], request: Request, model: LanguageModel, run: Run[Any]) -> dict[str, float]:
    """Train, measure on held-out questions, and write the folder with its card; the figures."""
    outcome = run.train()
    learnt, held = learnable(graphs), [g for g in graphs if g.held_out][: request.measured]
    figures = {"graphs": float(len(learnt)), "loss": outcome.loss, "steps": float(outcome.steps)}
    if held:
        plans, reasons = decompose(model, [g.question for g in held])
        values = measures(held, plans)
        figures |= {
            "held-out, valid, before the rule steps in": 1 - sum(reasons.values()) / len(held),
            "held-out, right number": float(values["right number"].mean()),
            "held-out, within one": float(values["within one"].mean()),
            "held-out, edge F1": edge_f1(values["edges"]),
        }
    request.write(
        model,
        run,
        figures,
        title="Decomposer of questions",
        task="Takes a question apart into a graph of sub-questions: Quern's task `decompose`.",
        data=sources(learnt),
    )
    return figures


def decompose(model: LanguageModel, questions: Sequence[str], *, batch: int = 32) -> tuple[list[Plan], Counter[str]]:
    """The plans of questions by the model as the Task makes them: where its output fails the check, by the rule.

    Returns:
        The plans, and how many outputs failed, by reason.
    """
    plans: list[Plan] = []
    reasons: Counter[str] = Counter()
    schema = DECOMPOSE.schema()
    for at in range(0, len(questions), batch):
        some = questions[at : at + batch]
        prompts = [model.prompt(DECOMPOSE, QuestionInput(q)) for q in some]
        for question, row in zip(some, model.sample(prompts, schema, most=MOST_TOKENS), strict=True):
            plan, reason = checked_plan(model, question, row)
            reasons[reason] += 1
            plans.append(plan)
    del reasons[""]
    return plans, reasons


def checked_plan(model: LanguageModel, question: str, row: Continuation) -> tuple[Plan, str]:
    """The plan of a completion, and why it is the rule's, "" where it is the model's own."""
    given = QuestionInput(question)
    checked = judge(DECOMPOSE, given, Reply(0, model.text(row), not row.ended, len(row.prompt), len(row.tokens)))
    output = checked.good or DECOMPOSE.rule(given)
    return plan_of(question, output), "" if checked.good else checked.problems[0].reason


@dataclass(frozen=True)
class GroupSettings:
    """Settings of group relative policy optimisation."""

    group: int = 8  # Graphs sampled of each question (GraTAG: 8 are enough).
    questions: int = 4  # Questions of a step.
    reuse: int = 2  # Steps that use the same samples.
    temperature: float = 1.0
    clip: float = 0.2  # The ratio stays within 1 ± this (Schulman et al., PPO).
    beta: float = 0.04  # Weight of the divergence from the first model (DeepSeekMath).
    floor: float = -6.0  # Rewards are clipped to it: a token of the answer as unlikely as 1 in 400.
    passages: int = 5  # Passages of a graph that the answer is judged by.
    same: float = 0.95  # Cosine above which a sub-question takes the evidence of one before it (GraTAG).


def advantages(rewards: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """(r − mean) / standard deviation in each group, of shape (groups, K); 0 where `mask` leaves a graph out."""
    count = mask.sum(1, keepdim=True).clamp(min=1)
    mean = (rewards * mask).sum(1, keepdim=True) / count
    spread = (((rewards - mean) * mask) ** 2).sum(1, keepdim=True).div(count).sqrt()
    return torch.where(mask, (rewards - mean) / (spread + 1e-4), torch.zeros_like(rewards))


def group_loss(
    new: torch.Tensor,
    old: torch.Tensor,
    first: torch.Tensor,
    mask: torch.Tensor,
    advantage: torch.Tensor,
    *,
    clip: float,
    beta: float,
) -> torch.Tensor:
    """The loss of GRPO: −min(ρA, clip(ρ)A) + β·KL, the mean over the tokens of each graph and over graphs.

    Args:
        new: Log-probabilities of the sampled tokens under the net, shape (n, tokens).
        old: The same under the net that sampled them.
        first: The same under the model that training began from.
        mask: Which tokens count; none of a graph that was cut off.
        advantage: Of each graph, shape (n,).
        clip: How far the ratio ρ may leave 1.
        beta: Weight of the divergence, by the estimator exp(first − new) − (first − new) − 1, which is never negative.
    """
    ratio, gap = (new - old).exp(), first - new
    gain = torch.minimum(ratio * advantage[:, None], ratio.clamp(1 - clip, 1 + clip) * advantage[:, None])
    each = ((beta * (gap.exp() - gap - 1) - gain) * mask).sum(1) / mask.sum(1).clamp(min=1)
    return each.sum() / mask.any(1).sum().clamp(min=1)


@dataclass(frozen=True)
class Samples:
    """The graphs sampled for a step, and what they are worth."""

    examples: list[Example]
    old: torch.Tensor  # Log-probabilities under the net that wrote them, (n, tokens).
    first: torch.Tensor  # Under the model that training began from.
    mask: torch.Tensor  # Tokens that count.
    advantage: torch.Tensor  # Of each graph.


@dataclass
class ByReward:
    """Group relative policy optimisation of a decomposer on questions with answers."""

    model: LanguageModel
    judge: LanguageModel  # The frozen model M that says how likely an answer is.
    graphs: Sequence[Graph]
    retrieves: Sequence[Retrieve]  # C retrievals.
    embed: Callable[[Sequence[str]], Any]  # Unit vectors of texts, an array of shape (n, d).
    settings: GroupSettings
    seed: int

    def __post_init__(self) -> None:
        """See that there are questions with answers.

        Raises:
            TrainingError: There are not.
        """
        self.questions = [g for g in self.graphs if not g.held_out and g.answer]
        if len(self.questions) < self.settings.questions:
            raise TrainingError(
                f"{len(self.questions)} questions with an `answer` to learn from: {self.settings.questions} are needed"
            )
        self._held: tuple[int, Samples] | None = None

    def batch(self, step: int) -> tuple[int, list[Graph]]:
        """Number and questions of the samples that a step uses."""
        number = step // self.settings.reuse
        chosen = batch_at(number, len(self.questions), self.settings.questions, self.seed)
        return number, [self.questions[n] for n in chosen]

    def loss(self, net: nn.Module, batch: tuple[int, list[Graph]]) -> torch.Tensor:
        """The loss of a step; samples graphs in the first step that uses them.

        Checkpoints must lie where samples end (a multiple of `reuse`), or a resumed run would sample them anew.
        """
        number, graphs = batch
        if self._held is None or self._held[0] != number:
            self._held = number, self.sampled(number, graphs)
        samples = self._held[1]
        new = read(net, samples.examples).chances
        clip, beta = self.settings.clip, self.settings.beta
        return group_loss(new, samples.old, samples.first, samples.mask, samples.advantage, clip=clip, beta=beta)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def sampled(self, number: int, graphs: Sequence[Graph]) -> Samples:
        """K graphs of each question and their advantages."""
        many, model = self.settings.group, self.model
        prompts = [model.prompt(DECOMPOSE, QuestionInput(g.question)) for g in graphs for _ in range(many)]
        temperature, seed = self.settings.temperature, self.seed + (number << 20)
        rows = model.sample(prompts, DECOMPOSE.schema(), most=MOST_TOKENS, temperature=temperature, seed=seed)
        plans = [
            checked_plan(model, g.question, r)
            for g, r in zip((g for g in graphs for _ in range(many)), rows, strict=True)
        ]
        whole = torch.tensor([row.ended for row in rows])
        failed = torch.tensor([bool(reason) for _, reason in plans])
        worth = self.worth([g for g in graphs for _ in range(many)], [plan for plan, _ in plans])
        # A graph that fails the check never reaches the search; one that was cut off says nothing and is left out.
        worth[failed] = self.settings.floor
        log_step(
            number,
            reward=worth[whole].mean().item() if whole.any() else self.settings.floor,
            sampled=len(rows),
            cut_off=int((~whole).sum()),
            failed=int((failed & whole).sum()),
        )
        advantage = advantages(worth.view(-1, many), whole.view(-1, many)).flatten()
        examples = [model.written(row) for row in rows]
        old = read(model.net, examples)
        with model.net.disable_adapter():
            first = read(model.net, examples).chances
        device = first.device
        return Samples(examples, old.chances, first, old.mask & whole.to(device)[:, None], advantage.to(device))

    def worth(self, graphs: Sequence[Graph], plans: Sequence[Plan]) -> torch.Tensor:
        """The reward of each plan: mean over retrievals of the mean log-likelihood of a token of the gold answer."""
        texts = [[p.filled(n, {}) for n in range(1, len(p.sub_questions) + 1)] or [p.question] for p in plans]
        distinct = sorted({text for some in texts for text in some})
        total = torch.zeros(len(plans))
        for retrieve in self.retrieves:
            evidence = reused(distinct, self.embed(distinct), retrieve, self.settings.same)
            examples = [
                self._answering(g, merged([evidence[t] for t in some], self.settings.passages))
                for g, some in zip(graphs, texts, strict=True)
            ]
            for at in range(0, len(examples), 8):
                total[at : at + 8] += (
                    read(self.judge.net, examples[at : at + 8]).mean.clamp(self.settings.floor, 0.0).cpu()
                )
        return total / len(self.retrieves)

    def _answering(self, graph: Graph, passages: Sequence[str]) -> Example:
        """The question with passages as a prompt, and its gold answer as the completion."""
        content = "\n".join([*(quoted(p) for p in passages), "", f"Question: {quoted(graph.question)}"])
        return Example(
            self.judge.chat([{"role": "user", "content": content}]),
            self.judge.tokenizer.encode(graph.answer, add_special_tokens=False),
            graph.question,
        )


def reused(texts: Sequence[str], vectors: Any, retrieve: Retrieve, same: float) -> dict[str, Sequence[str]]:
    """The passages of each text: a text whose cosine with one before it is above `same` takes those of that one."""
    owner: dict[str, str] = {}
    kept: list[int] = []
    for n, text in enumerate(texts):
        near = vectors[kept] @ vectors[n]
        best = int(near.argmax()) if kept else -1
        if kept and near[best] > same:
            owner[text] = texts[kept[best]]
        else:
            owner[text] = text
            kept.append(n)
    asked = [texts[n] for n in kept]
    passages = dict(zip(asked, retrieve(asked), strict=True))
    return {text: passages[owner[text]] for text in texts}


def merged(ranked: Sequence[Sequence[str]], most: int) -> list[str]:
    """The best `most` passages of several ranked lists in turns, each once."""
    turns = [p[at] for at in range(max(map(len, ranked), default=0)) for p in ranked if at < len(p)]
    return list(dict.fromkeys(turns))[:most]
