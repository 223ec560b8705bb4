"""Two towers: ratings predicted from the other reviews of a user and of an item."""
