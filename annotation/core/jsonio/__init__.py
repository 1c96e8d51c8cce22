"""JSON from outside and to outside: records read in bounded memory, and canonical bytes."""
