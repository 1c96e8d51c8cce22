"""One trajectory as data: messages, tools, images, and its form as ATIF."""
