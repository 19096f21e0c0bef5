"""What studies came to, for readers: drawings, sentences, pages, comparisons."""
