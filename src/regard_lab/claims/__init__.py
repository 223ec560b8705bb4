"""The papers' claims, the rules that test them, and the page of evidence."""
