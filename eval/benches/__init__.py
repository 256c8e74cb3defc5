"""Speed, measured: of the parts, of the whole, and beside peers."""
