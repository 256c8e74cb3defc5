"""Tasks in worlds of other engines, made of scanned blocks or of things on a floor."""
