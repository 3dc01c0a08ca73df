"""What the plain agent and the planted agents share."""
