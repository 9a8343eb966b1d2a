"""The public keys of tokens, for services that verify them."""
