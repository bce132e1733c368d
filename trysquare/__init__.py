"""trysquare: tells people who build with coding agents whether a measured difference is established."""
