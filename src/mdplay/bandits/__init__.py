"""The laboratory of multi-armed bandits: the selectors of tree search, compared on arms of known worth."""
