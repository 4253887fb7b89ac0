"""Lessons: what a handful of corrections has in common, made into training examples and prompts to test with.

A *correction* is a question, the answer it got and the answer the user wants instead. A *trait* is a rule that a
program can check, which the user's answers follow and the model's did not. A *lesson* is a set of traits; one without
any is an *imitation* of the user's answers. A *practice prompt* is a question of ours like those that were corrected.
*Held out* is what is never trained on: the newest corrections and half of the practice prompts.

Everything in here is pure and light (no torch, no model): whoever calls lets the model answer and passes the answers.
"""
