"""The command line, as `python -m quern.pipelines.cli`."""

from quern.pipelines.cli.entry import main

if __name__ == "__main__":
    main()
