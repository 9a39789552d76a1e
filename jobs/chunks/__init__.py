"""The table `chunks`, before it is embedded: documents cut at token boundaries."""
