"""The reports' algorithms as the reports tell them: short, plain Python, used only to compare the package with."""
