"""Stream tables as files: a folder of `.sql` files read, compared with the lake, and carried out."""
