"""What people read: progress, closing table, timeline. Reporters see results and histories, never the runner."""
