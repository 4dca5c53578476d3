"""The five systems reproduced: every table and plot made anew, collected in one page and one JSON document."""
