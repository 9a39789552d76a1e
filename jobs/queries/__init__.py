"""The table `queries`: synthetic question-answer pairs (Doc2Query), by rule or by a model."""
