"""What attention learns and why: Sun & Lu (ACL 2020) and its supplement, for any corpus and run."""
