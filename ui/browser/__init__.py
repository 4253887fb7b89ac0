"""The page in the browser, on Gradio: a face like the others, over the same Client."""
