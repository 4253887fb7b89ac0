"""The texts themselves, by the face that shows them; `ui.strings` joins them."""
