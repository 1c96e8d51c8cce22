"""How texts, messages, figures and icons become what a page shows."""
