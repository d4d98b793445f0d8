"""Time widemargin against its peers, on the same data, with a referee that recomputes what everybody claims."""
