"""What an answer loses as it nears its token limit. Light: no torch."""


def overlong_penalty(length_tokens: int, limit_tokens: int, buffer_tokens: int) -> float:
    """0 up to `limit_tokens - buffer_tokens`, then down in a straight line to -1 at the limit and beyond.

    Added to the reward. Without it a good answer that is cut off is told that it was wrong.
    Source: Yu et al. 2025, section 3.4, equation 13 (DAPO, arXiv:2503.14476).
    Raises: ValueError when the buffer is empty or longer than the limit.
    """
    if not 0 < buffer_tokens <= limit_tokens:
        raise ValueError(f"a buffer of {buffer_tokens} tokens does not lie within {limit_tokens}")
    over_tokens = length_tokens - (limit_tokens - buffer_tokens)
    return -min(max(over_tokens / buffer_tokens, 0.0), 1.0)
