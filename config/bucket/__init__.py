"""A bucket of an S3-compatible server, which holds the files of imports for all machines."""
