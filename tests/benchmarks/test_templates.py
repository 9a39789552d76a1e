from __future__ import annotations

from tests.benchmarks.templates import benchmark_templates


def test_documents_of_a_template_are_kept_and_copies_are_found() -> None:
    figures = benchmark_templates(sets=25, articles=60)
    assert figures["templated kept"] >= 0.99, figures
    assert figures["copies found"] >= 0.98, figures
