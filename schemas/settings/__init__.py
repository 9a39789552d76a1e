"""Every setting, with its default, its meaning and its source, in groups by phase.

Settings of a job enter its fingerprint, but for those that change no result: the groups of the run, and single ones
of the build (`setting_group.HOW`).
"""

from __future__ import annotations

from typing import Any

from quern.schemas.setting_group import Group, Positive
from quern.schemas.settings.build import (
    BuildSettings,
    CommunitySettings,
    Doc2QuerySettings,
    EmbedSettings,
    EventSettings,
    FilterSettings,
    GeneratorSettings,
    ImageRuleSettings,
    LinkSettings,
    NeighbourSettings,
    SourceSettings,
    TimelineSettings,
    TripletSettings,
)
from quern.schemas.settings.documents import (
    ChunkSettings,
    CleanSettings,
    DeduplicateSettings,
    IngestSettings,
    NormaliseSettings,
    QualitySettings,
)
from quern.schemas.settings.run import (
    AuditSettings,
    CrawlSettings,
    EngineSettings,
    LineageSettings,
    MemoSettings,
    RunSettings,
)
from quern.schemas.settings.search import (
    AlignSettings,
    AnswerSettings,
    Category,
    EntailmentSettings,
    GGatrievalSettings,
    GraphSettings,
    ImageSettings,
    OverviewSettings,
    QuestionSettings,
    RerankSettings,
    RetrieveSettings,
    SearchServerSettings,
    SearchSettings,
    SourcingSettings,
)

__all__ = [
    "AlignSettings", "AnswerSettings", "AuditSettings", "BuildSettings", "Category", "ChunkSettings",
    "CleanSettings", "CommunitySettings", "CrawlSettings", "DeduplicateSettings", "Doc2QuerySettings", "EmbedSettings",
    "EngineSettings", "EntailmentSettings", "EventSettings", "FilterSettings", "GGatrievalSettings",
    "GeneratorSettings", "GraphSettings", "Group", "ImageRuleSettings", "ImageSettings", "IngestSettings",
    "LineageSettings", "LinkSettings", "MemoSettings", "NeighbourSettings",
    "NormaliseSettings", "OverviewSettings", "Positive", "QualitySettings", "QuestionSettings", "RerankSettings",
    "RetrieveSettings", "RunSettings", "SearchServerSettings", "SearchSettings", "Settings", "SourceSettings",
    "SourcingSettings", "TimelineSettings", "TripletSettings", "changes_results", "results",
]  # fmt: skip


class Settings(RunSettings, SearchSettings, BuildSettings):
    """All settings, by phase: of the build, of the search, of the run (pydantic orders fields from the last base)."""


def changes_results(name: str) -> bool:
    """Whether what is built or answered depends on the setting `group.name`, if there is one."""
    group, _, leaf = name.partition(".")
    if group in RunSettings.model_fields:
        return False
    chosen = getattr(Settings(), group, None)
    return not (isinstance(chosen, Group) and leaf in type(chosen).model_fields and chosen.no_result_of(leaf))


def results(settings: Settings, *phases: type[Group]) -> dict[str, dict[str, Any]]:
    """The settings of some phases that results depend on, in groups."""
    return {group: getattr(settings, group).results() for phase in phases for group in phase.model_fields}
