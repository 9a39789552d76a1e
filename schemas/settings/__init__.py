"""Every setting, with its default, its meaning and its source: one file a group, by phase."""

from __future__ import annotations

from quern.schemas.setting_group import Group, Positive
from quern.schemas.settings.build import BuildSettings
from quern.schemas.settings.build.chunk import ChunkSettings
from quern.schemas.settings.build.clean import CleanSettings
from quern.schemas.settings.build.deduplicate import DeduplicateSettings
from quern.schemas.settings.build.doc2query import Doc2QuerySettings
from quern.schemas.settings.build.embed import EmbedSettings
from quern.schemas.settings.build.events import EventSettings
from quern.schemas.settings.build.filter import FilterSettings
from quern.schemas.settings.build.generator import GeneratorSettings
from quern.schemas.settings.build.image_rules import ImageRuleSettings
from quern.schemas.settings.build.ingest import IngestSettings
from quern.schemas.settings.build.link import LinkSettings
from quern.schemas.settings.build.neighbours import NeighbourSettings
from quern.schemas.settings.build.normalise import NormaliseSettings
from quern.schemas.settings.build.quality import QualitySettings
from quern.schemas.settings.build.sources import SourceSettings
from quern.schemas.settings.build.timelines import TimelineSettings
from quern.schemas.settings.build.triplets import TripletSettings
from quern.schemas.settings.run import RunSettings
from quern.schemas.settings.run.audit import AuditSettings
from quern.schemas.settings.run.crawl import CrawlSettings
from quern.schemas.settings.run.engine import EngineSettings
from quern.schemas.settings.run.memo import MemoSettings
from quern.schemas.settings.search import SearchSettings
from quern.schemas.settings.search.align import AlignSettings
from quern.schemas.settings.search.answer import AnswerSettings
from quern.schemas.settings.search.entailment import EntailmentSettings
from quern.schemas.settings.search.ggatrieval import GGatrievalSettings
from quern.schemas.settings.search.graph import GraphSettings
from quern.schemas.settings.search.images import ImageSettings
from quern.schemas.settings.search.question import QuestionSettings
from quern.schemas.settings.search.rerank import RerankSettings
from quern.schemas.settings.search.retrieve import RetrieveSettings
from quern.schemas.settings.search.sourcing import SourcingSettings
from quern.schemas.settings.tree import (
    Settings,
    SettingsError,
    changes_results,
    choices,
    describe,
    group_doc,
    load_settings,
    results,
    setting_names,
)

__all__ = [
    "AlignSettings",
    "AnswerSettings",
    "AuditSettings",
    "BuildSettings",
    "ChunkSettings",
    "CleanSettings",
    "CrawlSettings",
    "DeduplicateSettings",
    "Doc2QuerySettings",
    "EmbedSettings",
    "EngineSettings",
    "EntailmentSettings",
    "EventSettings",
    "FilterSettings",
    "GGatrievalSettings",
    "GeneratorSettings",
    "GraphSettings",
    "Group",
    "ImageRuleSettings",
    "ImageSettings",
    "IngestSettings",
    "LinkSettings",
    "MemoSettings",
    "NeighbourSettings",
    "NormaliseSettings",
    "Positive",
    "QualitySettings",
    "QuestionSettings",
    "RerankSettings",
    "RetrieveSettings",
    "RunSettings",
    "SearchSettings",
    "Settings",
    "SettingsError",
    "SourceSettings",
    "SourcingSettings",
    "TimelineSettings",
    "TripletSettings",
    "changes_results",
    "choices",
    "describe",
    "group_doc",
    "load_settings",
    "results",
    "setting_names",
]
