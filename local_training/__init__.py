"""One night: from the day's traces to a tested adapter. Torch and peft live only in here.

Axis letters in names: B examples, T tokens, N selected tokens of a batch, V vocabulary, H hidden width, I inputs,
O outputs, r rank.
"""
