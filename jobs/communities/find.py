"""The table `communities`: communities of the graph, their most central sentences, and what these are about.

Central is, as in MEAD (Radev et al. 2004), what is near the mean of the community's chunks, by the vector of the node
whose answer it is, what stands early in its document, and no heading or cell. Of such sentences each is kept that is
least like those before it (maximal marginal relevance, Carbonell and Goldstein 1998). Keywords are the words by which
its chunks differ most from all (their part of the relative entropy).

Needs the whole graph. In memory are its keys and edges (`indexes.graph.structure`), some 60 bytes an edge while
communities are sought, for each level 8 bytes a node, for each community 8 bytes a component of its mean, and the words
of the chunks, some 8 bytes each; texts and vectors of central nodes alone, of some hundred communities at a time, or of
a sixteenth of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.graph.communities import hierarchy
from quern.indexes.graph.structure import Members, joined, projected, read_columns, read_edges, read_members
from quern.indexes.keys import positions_among, positions_in
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, Positions, similarities, vector_matrix
from quern.jobs.communities.quotes import NEW, marginal, quotes, weights
from quern.jobs.communities.tasks import Quote, QuotesInput, Summary, numbered, summary_task
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.queries.rules.units import STOP_WORDS
from quern.jobs.tasks.table import TaskJob
from quern.jobs.tasks.task import Task
from quern.schemas.digests import settings_digest, text_digest
from quern.schemas.settings import CommunitySettings, GeneratorSettings
from quern.schemas.tables import COMMUNITIES, Table

if TYPE_CHECKING:
    from scipy import sparse

_CANDIDATES: Final = 5  # Nodes for each sentence that is kept, those nearest to the mean of their community.
_KEYWORDS: Final = 8
_AT_ONCE: Final = 512  # Communities whose texts are in memory at a time, at least,
_PASSES: Final = 16  # and how often the tables are read for them, at most: a pass reads whole columns.
_WORD: Final = r"^\p{L}{3,}$"
_FIXED: Final = 1 << 24  # Vectors are added up as whole numbers: in whatever order, the sum is the same.

Doubles = npt.NDArray[np.float64]

BARE_COMMUNITIES: Final = Table(
    "bare_communities", COMMUNITIES.key, COMMUNITIES.without("title", "summary", "by").schema, served=False
)


@dataclass(frozen=True)
class _Group:
    """A community before its texts are read."""

    community_id: str
    level: int
    chunks: Positions  # Positions of its chunks.
    nodes: Positions  # Positions of its most central nodes, best first.
    rank: Floats  # How central each is.


@dataclass(frozen=True)
class FindCommunities(TableJob):
    """The communities of all levels with their central sentences."""

    settings: CommunitySettings  # How many levels and sentences.

    name: ClassVar[str] = "group_chunks"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[Table, ...]] = (BARE_COMMUNITIES,)

    def configuration(self) -> Mapping[str, object]:
        """The settings that communities depend on."""
        results = self.settings.results()
        return {name: results[name] for name in ("levels", "most", "sentences")}

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The communities of `nodes` and `edges`, with sentences of `chunks` that the answers of `queries` quote."""
        with run.scratch(BARE_COMMUNITIES) as writer:
            for row in self._rows(inputs) if inputs["nodes"].rows else ():
                writer.add(row)
        stage = writer.stage()
        return Made((stage,), Counts(inputs["chunks"].rows, stage.rows, 0, inputs["chunks"].rows, 0))

    def _rows(self, inputs: Mapping[str, Stage]) -> Iterator[dict[str, Any]]:
        members = read_members(_Tables(inputs))
        times = read_columns(inputs["chunks"], ["chunk_id", "published_at"]).sort_by("chunk_id")["published_at"]
        published = times.combine_chunks()
        every, keywords = [*self._groups(inputs, members)], _Keywords.read(inputs["chunks"], members.chunks)
        at_once = max(_AT_ONCE, -(-len(every) // _PASSES))
        for start in range(0, len(every), at_once):
            groups = every[start : start + at_once]
            sentences = _Sentences.read(inputs, members, groups)
            for group in groups:
                own = pa.array(group.chunks)
                known = [time for time in published.take(own).to_pylist() if time is not None]
                row = {
                    "community_id": group.community_id,
                    "level": group.level,
                    "chunk_count": len(group.chunks),
                    "document_count": len(np.unique(members.documents.of_chunk[group.chunks])),
                    "chunk_ids": members.chunks.take(own).to_pylist(),
                    "from_time": min(known, default=None),
                    "to_time": max(known, default=None),
                    "sentences": sentences.of(group, self.settings.sentences),
                }
                # What all chunks have changes with each of them, and is no reason to ask a model again.
                yield {**row, "digest": settings_digest(row), "keywords": keywords.of(group.chunks)}

    def _groups(self, inputs: Mapping[str, Stage], members: Members) -> Iterator[_Group]:
        """The communities, coarsest level first, the largest first; what is not divided is of its first level alone."""
        edges = joined([*read_edges(_Tables(inputs), members.nodes).values()])
        projection = projected(members.owner, len(members.chunks), edges)
        levels = hierarchy(projection, self.settings.most, self.settings.levels)
        ranks = _centralities(inputs, members, levels)
        whole = np.zeros(len(members.chunks), dtype=np.int64)  # Chunks of the community above; 0 for none.
        for level, (of, rank) in enumerate(zip(levels, ranks, strict=True)):
            of_node, sizes = of[members.owner], np.bincount(of)
            by_chunk, by_node = np.argsort(of, kind="stable"), np.lexsort((-rank, of_node))
            node_ends = np.cumsum(np.bincount(of_node, minlength=len(sizes)))
            chunks, nodes = np.split(by_chunk, np.cumsum(sizes)[:-1]), np.split(by_node, node_ends[:-1])
            for own, central in zip(chunks, nodes, strict=True):
                # A chunk without nodes is alone, and has nothing to say here.
                if len(central) and whole[own[0]] != len(own):
                    key = text_digest(str(level), *members.chunks.take(pa.array(own)).to_pylist())[:20]
                    best = central[: _CANDIDATES * self.settings.sentences]
                    yield _Group(key, level, own, best, rank[best])
            whole = sizes[of]


def _centralities(inputs: Mapping[str, Stage], members: Members, levels: Sequence[Positions]) -> list[Floats]:
    """For each level the cosine of each node with the mean vector of its community's chunks, shape (nodes,)."""
    width = inputs["chunks"].table.schema.field("vector").type.list_size
    sums = [np.zeros((int(of.max()) + 1, width), dtype=np.int64) for of in levels]
    for batch in inputs["chunks"].batches(["chunk_id", "vector"]):
        places = positions_in(members.chunks, batch.column("chunk_id"))
        numbers = np.rint(vector_matrix(batch.column("vector")).astype(np.float64) * _FIXED).astype(np.int64)
        for of, total in zip(levels, sums, strict=True):
            np.add.at(total, of[places], numbers)
    means = [(s / np.maximum(np.linalg.norm(s, axis=1, keepdims=True), 1)).astype(np.float32) for s in sums]
    ranks = [np.empty(len(members.nodes), dtype=np.float32) for _ in levels]
    for batch in inputs["nodes"].batches(["query_id", "vector"]):
        places = positions_in(members.nodes, batch.column("query_id"))
        vectors = vector_matrix(batch.column("vector"))
        for of, mean, rank in zip(levels, means, ranks, strict=True):
            rank[places] = similarities(vectors, mean[of[members.owner[places]]])
    return ranks


@dataclass(frozen=True)
class _Sentences:
    """What central nodes quote."""

    nodes: Positions  # Positions of the nodes, sorted.
    vectors: Floats  # Their vectors.
    rows: Sequence[Mapping[str, Any]]  # Of each the sentence, as the table has it.

    @classmethod
    def read(cls, inputs: Mapping[str, Stage], members: Members, groups: Sequence[_Group]) -> _Sentences:
        """Those of all `groups`."""
        nodes = np.unique(np.concatenate([group.nodes for group in groups]))
        keys = members.nodes.take(pa.array(nodes))
        owners = members.chunks.take(pa.array(members.owner[nodes])).to_pylist()
        rows = inputs["nodes"].lookup("query_id", keys, ["query_id", "vector"])
        vectors = vector_matrix(rows["vector"].combine_chunks())[
            positions_among(rows["query_id"].combine_chunks(), keys)
        ]
        return cls(nodes, vectors, quotes(keys.to_pylist(), owners, inputs["queries"].lookup, inputs["chunks"].lookup))

    def of(self, group: _Group, most: int) -> list[Mapping[str, Any]]:
        """The central sentences of a community."""
        at = np.searchsorted(self.nodes, group.nodes)
        worth = group.rank + weights([self.rows[n] for n in at.tolist()])
        distinct: dict[str, Mapping[str, Any]] = {}
        for n in at[marginal(worth, self.vectors[at], NEW)].tolist():
            distinct.setdefault(self.rows[n]["text"], self.rows[n])
        return [*distinct.values()][:most]


@dataclass(frozen=True)
class _Keywords:
    """Which words each chunk has."""

    words: pa.Array  # All words.
    of_chunk: sparse.csr_array  # 1 where a chunk, the row, has a word, the column.
    share: Doubles  # Of each word the share of all chunks that have it.

    @classmethod
    def read(cls, chunks: Stage, keys: pa.Array) -> _Keywords:
        """The words of all chunks, which are in the order of `keys`."""
        from scipy import sparse

        owners, parts, stop = [], [], pa.array(sorted(STOP_WORDS), pa.string())
        for batch in chunks.batches(["chunk_id", "terms"]):
            words = pc.split_pattern(batch.column("terms"), " ")
            owner = np.repeat(positions_in(keys, batch.column("chunk_id")), pc.list_value_length(words).to_numpy())
            is_keyword = pc.and_not(pc.match_substring_regex(words.flatten(), _WORD), pc.is_in(words.flatten(), stop))
            owners.append(owner[is_keyword.to_numpy(zero_copy_only=False)])
            parts.append(words.flatten().filter(is_keyword))
        # Never combined as strings: the words of two million chunks are more than one array of them can hold.
        encoded = pa.chunked_array(parts, pa.string()).dictionary_encode().unify_dictionaries().chunks
        words = encoded[0].dictionary if encoded else pa.array([], pa.string())
        # Numbered in the order of the alphabet, so that equal tables give equal words.
        order = pc.sort_indices(words).to_numpy()
        indices = [one.indices.to_numpy() for one in encoded]
        number = np.argsort(order)[np.concatenate([np.empty(0, np.int32), *indices])]
        shape = (len(keys), len(order))
        has = sparse.csr_array((np.ones(len(number)), (np.concatenate(owners), number)), shape=shape)
        has.data[:] = 1
        return cls(words.take(pa.array(order)), has, has.sum(axis=0) / max(1, len(keys)))

    def of(self, chunks: Positions) -> list[str]:
        """The keywords of some chunks together."""
        of_word, number = np.unique(self.of_chunk[chunks].indices, return_inverse=True)
        own = np.bincount(number) / len(chunks)
        worth = np.round(own * np.log(own / self.share[of_word]), 6)
        best = np.argsort(-worth, kind="stable")[:_KEYWORDS]
        words: list[str] = self.words.take(pa.array(of_word[best[worth[best] > 0]])).to_pylist()
        return words


@dataclass(frozen=True)
class _Tables:
    """Staged tables as a snapshot gives them."""

    stages: Mapping[str, Stage]

    def table(self, name: str) -> Stage:
        """The table `name`."""
        return self.stages[name]


@dataclass(frozen=True)
class SummariseCommunities(TaskJob[QuotesInput, Summary]):
    """Title and summary of each community."""

    settings: CommunitySettings = field(default_factory=CommunitySettings)  # How long summaries are.
    generator: GeneratorSettings = field(default_factory=GeneratorSettings)  # What writes them.

    name: ClassVar[str] = "communities"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = tuple(BARE_COMMUNITIES.schema.names)
    key: ClassVar[str] = "community_id"
    makes: ClassVar[Table] = COMMUNITIES
    known_by: ClassVar[tuple[str, ...]] = ("community_id", "digest")

    @property
    def identity(self) -> tuple[str, ...]:
        """By rule also the keywords, which titles are made of; a model has no use for them, and its rows have none."""
        return self.known_by if self.by_model else (*self.known_by, "keywords")

    @property
    def task(self) -> Task[QuotesInput, Summary]:
        """Summarising with these settings."""
        return summary_task(self.settings.summary)

    def configuration(self) -> Mapping[str, object]:
        """How long summaries are, and what writes them."""
        return {"summary": self.settings.summary, **super().configuration()}

    def inputs(self, rows: Sequence[Mapping[str, Any]]) -> list[QuotesInput]:
        """The central sentences of each community."""
        return [
            QuotesInput(
                tuple(Quote(s["text"], s["title"], s["published_at"]) for s in row["sentences"]),
                most=self.settings.summary,
                keywords=tuple(row["keywords"]),
            )
            for row in rows
        ]

    def made(self, row: Mapping[str, Any], output: Summary) -> list[dict[str, object]]:
        """The row with its title and summary."""
        by = self.generator.of(self.task.name).kind
        keywords = [] if self.by_model else row["keywords"]
        texts = {"title": output.title, "summary": numbered(output.sentences), "by": by}
        return [{**row, "keywords": keywords, **texts}]


def summarise_communities(settings: CommunitySettings, generator: GeneratorSettings) -> SummariseCommunities:
    """The job with these settings: by the rule, unless a model is wanted for communities too."""
    return SummariseCommunities(settings, generator if settings.by_model else GeneratorSettings())
