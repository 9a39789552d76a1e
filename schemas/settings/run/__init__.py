"""What is fetched, how jobs run and what may be published: on it no row depends, the pages being there."""

from __future__ import annotations

from quern.schemas.setting_group import Group
from quern.schemas.settings.run.audit import AuditSettings
from quern.schemas.settings.run.crawl import CrawlSettings
from quern.schemas.settings.run.engine import EngineSettings
from quern.schemas.settings.run.memo import MemoSettings


class RunSettings(Group):
    """What is fetched, how jobs run and what may be published: on it no row depends, the pages being there."""

    crawl: CrawlSettings = CrawlSettings()
    engine: EngineSettings = EngineSettings()
    audit: AuditSettings = AuditSettings()
    memo: MemoSettings = MemoSettings()
