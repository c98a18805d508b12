"""Actions on images, volumes, sequences and their colours."""
