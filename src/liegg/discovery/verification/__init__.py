"""Do the symmetries found at infinitesimal size hold at finite size, on held-out samples?"""
