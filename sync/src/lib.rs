//! Checkpoints, the writer loop, replay, the downloader and the writer's statistics.
