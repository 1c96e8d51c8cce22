"""What is said to a question: how it is read, what it is worth, and what a release says of its questions."""
