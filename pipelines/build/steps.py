"""The list of the steps of a build, in the order in which they are made; everything else reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from quern.jobs.core.step import Step
from quern.schemas.settings import ChunkSettings, EmbedSettings, NormaliseSettings

if TYPE_CHECKING:
    from quern.jobs.chunks.chunk import Chunk


def _chunk(chunk: ChunkSettings, embed: EmbedSettings, normalise: NormaliseSettings) -> Chunk:
    from quern.jobs.chunks.chunk import Chunk

    return Chunk(chunk, embed.model, normalise)


# A job is named by its module, so that a process which runs one step (`quern stage`) imports no other's.
# fmt: off
STEPS: Final = (
    Step("ingest", "pages.pages:ReadPages", needs=("ingest",), reads=(), makes=("pages",)),
    Step("clean", "documents.clean:Clean", needs=("clean",), reads=("pages",), makes=("drafts",)),
    Step("repeated_lines", "documents.boilerplate:RepeatedLines", needs=("normalise",),
         reads=("drafts",), makes=("repeated_lines",)),
    Step("normalise", "documents.normalise:Normalise", needs=("normalise", "quality"),
         reads=("drafts", "repeated_lines"), makes=("normalised",)),
    Step("deduplicate", "documents.deduplicate:Deduplicate", needs=("deduplicate",),
         reads=("normalised",), makes=("documents",)),
    Step("chunk", _chunk, needs=("chunk", "embed", "normalise"), reads=("documents",), makes=("bare_chunks",)),
    Step("doc2query", "queries.doc2query:Doc2Query", needs=("doc2query", "generator", "normalise"),
         reads=("bare_chunks",), makes=("pairs",)),
    Step("find_events", "events.find:find_events", needs=("events", "generator"),
         reads=("bare_chunks",), makes=("found_events",)),
    Step("triplets", "triplets.find:find_triplets", needs=("triplets", "generator"),
         reads=("bare_chunks",), makes=("triplets",)),
    Step("entities", "triplets.entities:FoldEntities", needs=(), reads=("triplets", "documents"), makes=("entities",)),
    Step("embed_chunks", "vectors.embed:embedded_chunks", needs=("embed", "normalise"),
         reads=("bare_chunks",), makes=("chunks",)),
    Step("embed_pairs", "vectors.embed:embedded_pairs", needs=("embed", "normalise"),
         reads=("pairs",), makes=("embedded_pairs",)),
    Step("embed_events", "events.merge:embedded_events", needs=("embed", "normalise"),
         reads=("found_events",), makes=("embedded_events",)),
    Step("filter", "graph.filter:Filter", needs=("filter",),
         reads=("embedded_pairs", "chunks"), makes=("queries", "nodes")),
    Step("link", "graph.link:Link", needs=("link", "neighbours"), reads=("nodes", "documents"), makes=("edges",)),
    Step("group_chunks", "communities.find:FindCommunities", needs=("communities",),
         reads=("chunks", "queries", "nodes", "edges"), makes=("bare_communities",)),
    Step("communities", "communities.find:summarise_communities", needs=("communities", "generator"),
         reads=("bare_communities",), makes=("communities",)),
    Step("merge_events", "events.merge:MergeEvents", needs=("events", "embed"),
         reads=("embedded_events",), makes=("events",)),
    Step("timelines", "timelines.build:BuildTimelines", needs=("timelines",),
         reads=("events", "documents", "communities"), makes=("timelines",)),
    Step("sources", "sources.build:BuildSources", needs=("sources",),
         reads=("pages", "documents", "nodes", "events"), makes=("sources",)),
    Step("images", "images.build:BuildImages", needs=("image_rules",), reads=("documents",), makes=("images",)),
)
# fmt: on
