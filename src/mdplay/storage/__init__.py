"""Files written atomically, arrays with checksums, folders."""
