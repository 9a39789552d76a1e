"""Every setting, with its default, its meaning and its source."""

from __future__ import annotations

from quern.schemas.settings.groups import (
    AnswerSettings,
    AuditSettings,
    ChunkSettings,
    CleanSettings,
    CrawlSettings,
    DeduplicateSettings,
    Doc2QuerySettings,
    EmbedSettings,
    EngineSettings,
    FilterSettings,
    GeneratorSettings,
    GraphSettings,
    Group,
    IngestSettings,
    LinkSettings,
    NormaliseSettings,
    Positive,
    QualitySettings,
    RetrieveSettings,
)
from quern.schemas.settings.tree import Settings, SettingsError, describe, load_settings, setting_names

__all__ = [
    "AnswerSettings",
    "AuditSettings",
    "ChunkSettings",
    "CleanSettings",
    "CrawlSettings",
    "DeduplicateSettings",
    "Doc2QuerySettings",
    "EmbedSettings",
    "EngineSettings",
    "FilterSettings",
    "GeneratorSettings",
    "GraphSettings",
    "Group",
    "IngestSettings",
    "LinkSettings",
    "NormaliseSettings",
    "Positive",
    "QualitySettings",
    "RetrieveSettings",
    "Settings",
    "SettingsError",
    "describe",
    "load_settings",
    "setting_names",
]
