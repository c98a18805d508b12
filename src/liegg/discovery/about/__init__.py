"""Questions about named motions: which are asked, what is measured, and the answers."""
