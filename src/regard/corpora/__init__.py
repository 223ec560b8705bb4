"""Public corpora: facts about them, their files on disk, and converters to NAME/{train,dev,test}.jsonl.gz."""
