"""MDPs and policies in files and arrays, as other programs keep them.

cs747.py        the course's text files; reader.py reads lines, scan.py large files
encoding.py     the course's files of a game            policies.py   policies of any game
explicit.py     files of model checkers                 tables.py     arrays and lists
umb.py          their common binary format
"""
