//! hived's block log files: single and split, artifacts, zstd with dictionaries; read, append, repair.
