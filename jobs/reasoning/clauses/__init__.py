"""English clauses taken apart without a parser: subjects, groups of verbs, and the phrases behind them."""
