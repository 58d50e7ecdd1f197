"""Other people's tools, one file a tool: each takes plain layers and answers an `Answer`.

A peer module has ``prepare(layers, lower, upper, gap, limit, **options) -> Call``. What a
user of that tool already holds before the call (a trained torch module, a network
definition) is made by `prepare`; building the model and solving it is the call.
"""
