"""Games on the page: which there are, a position as it is asked for, its values in words, who plays."""
