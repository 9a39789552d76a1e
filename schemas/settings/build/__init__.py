"""What the rows of tables depend on. A search reads `embed` and `generator` too: it must do as the build did."""

from __future__ import annotations

from quern.schemas.setting_group import Group
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


class BuildSettings(Group):
    """What the rows of tables depend on. A search reads `embed` and `generator` too: it must do as the build did."""

    ingest: IngestSettings = IngestSettings()
    clean: CleanSettings = CleanSettings()
    normalise: NormaliseSettings = NormaliseSettings()
    quality: QualitySettings = QualitySettings()
    deduplicate: DeduplicateSettings = DeduplicateSettings()
    chunk: ChunkSettings = ChunkSettings()
    embed: EmbedSettings = EmbedSettings()
    generator: GeneratorSettings = GeneratorSettings()
    doc2query: Doc2QuerySettings = Doc2QuerySettings()
    filter: FilterSettings = FilterSettings()
    link: LinkSettings = LinkSettings()
    neighbours: NeighbourSettings = NeighbourSettings()
    events: EventSettings = EventSettings()
    timelines: TimelineSettings = TimelineSettings()
    sources: SourceSettings = SourceSettings()
    image_rules: ImageRuleSettings = ImageRuleSettings()
    triplets: TripletSettings = TripletSettings()
