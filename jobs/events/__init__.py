"""The table `events`: what chunks report to have happened, found row by row and merged across documents."""
