"""The predicted matrix: what every baseline must come to in every cell, worked out on paper before the first sweep."""
