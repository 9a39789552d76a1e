"""What answers depend on beside the tables; no build reads it."""

from __future__ import annotations

from quern.schemas.setting_group import Group
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


class SearchSettings(Group):
    """What answers depend on beside the tables; no build reads it."""

    question: QuestionSettings = QuestionSettings()
    graph: GraphSettings = GraphSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    rerank: RerankSettings = RerankSettings()
    ggatrieval: GGatrievalSettings = GGatrievalSettings()
    answer: AnswerSettings = AnswerSettings()
    align: AlignSettings = AlignSettings()
    sourcing: SourcingSettings = SourcingSettings()
    images: ImageSettings = ImageSettings()
    entailment: EntailmentSettings = EntailmentSettings()
