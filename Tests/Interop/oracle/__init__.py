"""Random schemas and messages, and what else is needed to compare the gateway's translation with Python's protobuf."""
