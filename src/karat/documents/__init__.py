"""Documents that people read: their text, tokens and sentences, and spans in them."""
