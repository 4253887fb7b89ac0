"""What the model runs under: texts, chat formats, and the one prompt builder of serving and training."""
