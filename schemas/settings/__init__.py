"""Every setting, with its default, its meaning and its source, in groups by phase."""

from __future__ import annotations

from quern.schemas.setting_group import Group, Positive
from quern.schemas.settings.build import (
    BuildSettings,
    CommunitySettings,
    Doc2QuerySettings,
    EmbedSettings,
    EventSettings,
    FilterSettings,
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
from quern.schemas.settings.generator import GeneratorSettings
from quern.schemas.settings.run import (
    AuditSettings,
    CrawlSettings,
    EngineSettings,
    LineageSettings,
    LogSettings,
    MemoSettings,
    MetricsSettings,
    RunSettings,
)
from quern.schemas.settings.search import (
    AlignSettings,
    AnswerSettings,
    Category,
    CiteSettings,
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
from quern.schemas.settings.tree import Settings, changes_results, results

__all__ = [
    "AlignSettings", "AnswerSettings", "AuditSettings", "BuildSettings", "Category", "ChunkSettings", "CiteSettings",
    "CleanSettings", "CommunitySettings", "CrawlSettings", "DeduplicateSettings", "Doc2QuerySettings", "EmbedSettings",
    "EngineSettings", "EntailmentSettings", "EventSettings", "FilterSettings", "GGatrievalSettings",
    "GeneratorSettings", "GraphSettings", "Group", "ImageRuleSettings", "ImageSettings", "IngestSettings",
    "LineageSettings", "LinkSettings", "LogSettings", "MemoSettings", "MetricsSettings", "NeighbourSettings",
    "NormaliseSettings", "OverviewSettings", "Positive", "QualitySettings", "QuestionSettings", "RerankSettings",
    "RetrieveSettings", "RunSettings", "SearchServerSettings", "SearchSettings", "Settings", "SourceSettings",
    "SourcingSettings", "TimelineSettings", "TripletSettings", "changes_results", "results",
]  # fmt: skip
