"""Images beside answers: which of those of the evidence, beside which sentence, and fetching them where asked."""
