"""Work beside the event loop: jobs in threads, and children that compile."""
