"""Log-in with passkeys (WebAuthn)."""
