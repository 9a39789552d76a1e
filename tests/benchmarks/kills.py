"""The benchmark of kills: each command is killed at random moments and at the ends of its jobs, and run again."""

from __future__ import annotations

import itertools
import logging
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.kills.host import Host
from tests.kills.scenes import Scenes
from tests.kills.trial import Kill, Outcome, Reference, Runner

log = logging.getLogger(__name__)

_HOW: Final = ("group", "alone", "SIGTERM", "SIGINT")
# Of so many kills one meets a command that was started as a user does: the others save the seconds of its imports.
_COLD_ONE_IN: Final = 8
_COLD_SECONDS: Final = 4.0
_KILLS: Final = 5
# Of the time that a command takes: it goes on where it was, and is soon done.
_MOST: Final = 0.6


def random_kill(chance: random.Random, reference: Reference) -> Kill:
    """A kill at a random moment, or when a random job has just ended."""
    how = chance.choice(_HOW)
    cold = chance.randrange(_COLD_ONE_IN) == 0
    if cold:
        return Kill(how, seconds=chance.uniform(0, _COLD_SECONDS), cold=True)
    if reference.said and chance.random() < 0.5:
        return Kill(how, line=chance.randint(1, len(reference.said)))
    return Kill(how, seconds=chance.uniform(0, _MOST * reference.seconds))


def benchmark_kills(
    kills: int = 200, engine: str = "local", only: Sequence[str] = (), seed: int = 0
) -> dict[str, float]:
    """Kills of all commands, in turn, until there were `kills`.

    Returns:
        `commands`: runs that were killed, five times at most each, and then came to their end. `kills`: the kills.
        `kills_survived`: those after which readers found one whole snapshot, and the command came to its end.
        `digests_equal`: commands with the digests of one that was not killed. `orphans`: processes that outlived one
        that was killed. `files_left`: files in the folder for temporary files, and those in a warehouse that nobody
        needs. `problems`: what else was wrong.
    """
    root = Path("/tmp") / f"k{seed}"  # noqa: S108 - Ray's sockets have no room for longer names
    root.mkdir()
    outcomes: list[Outcome] = []
    references: dict[str, Reference] = {}
    chance, host = random.Random(seed), Host()
    scenes, runner = Scenes(root, host, engine), Runner(root, host)
    names = scenes.scenes(only)
    try:
        for name in itertools.cycle(names):
            scene = names[name]()
            if name not in references:
                references[name] = runner.reference(scene)
            planned = [random_kill(chance, references[name]) for _ in range(_KILLS)]
            outcomes.append(outcome := runner.trial(scene, references[name], planned))
            done = sum(outcome.killed for outcome in outcomes)
            log.info(
                "kills=%d %s: %s: %s", done, name, ", ".join(map(str, planned)), "good" if outcome.good else outcome
            )
            if done >= kills:
                break
    finally:
        scenes.close()
        host.close()
    if all(outcome.good for outcome in outcomes):
        shutil.rmtree(root)
    return {
        "commands": len(outcomes),
        "kills": sum(outcome.killed for outcome in outcomes),
        "kills_survived": sum(outcome.killed for outcome in outcomes if outcome.survived),
        "digests_equal": sum(outcome.equal for outcome in outcomes),
        "orphans": sum(len(outcome.orphans) for outcome in outcomes),
        "files_left": sum(len(outcome.left) for outcome in outcomes),
        "problems": sum(len(outcome.problems) for outcome in outcomes),
    }
