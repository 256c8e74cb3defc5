"""Looking at tasks: galleries, maps, counts, and whether a library keeps its promises."""
