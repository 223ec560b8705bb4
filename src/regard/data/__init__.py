"""From files to words: readers, named corpora, words and sentences with their spans, vocabulary, word vectors."""
