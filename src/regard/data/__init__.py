"""From files to token ids: readers, words and sentences with their spans, vocabulary, word vectors, batches."""
