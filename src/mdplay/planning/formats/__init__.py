"""MDPs and policies in files and arrays.

files.py        recognises the form of a file, and writes models in another form: begin here with a new format
cs747.py        the text files of the course CS747: MDPs, states and policies of a game
reader.py       the grammar of these files, line by line
explicit.py     files of model checkers: DRN, explicit files, and the unified binary format (UMB)
tables.py       nested lists, dense arrays, sparse matrices and the tables of Gymnasium
"""
