"""Public originals of corpora: what is known of them, and how each is turned into NAME/{train,dev,test}.jsonl.gz."""
