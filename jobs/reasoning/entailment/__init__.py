"""Is a statement entailed by texts: what the measures of citations and claims rest on."""
