"""The games of the package, one file of plain Python each."""
