"""The report of judged episodes: its numbers, as Markdown and as a page."""
