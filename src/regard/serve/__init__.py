"""The web application: a page to try models on texts, and a JSON API, on this machine only."""
