"""Two towers: ratings guessed from the other reviews of a user and of an item."""
