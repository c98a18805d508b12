"""What people look at: the record as a dict, as text, as figures. Reads the record only."""
