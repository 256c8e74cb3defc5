"""Tasks that a person wrote down, and the library that they become."""
