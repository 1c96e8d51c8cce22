"""What several formats share: elements of a large object, archives, blocks of content, trees of spans."""
