"""The web application: a page to type texts into, and a JSON API, on this machine only."""
