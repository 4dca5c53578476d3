"""HTML, charts, plots and sanitized SVG."""
