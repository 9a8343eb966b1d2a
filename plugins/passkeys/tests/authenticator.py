"""An authenticator in software, which can also lie, with the browser in front of it."""

import json
import secrets
import struct
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode

#: Flags of authenticator data: somebody is there, and was verified; there is a new key.
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
ORIGIN = "http://localhost:4200"


class Authenticator:
    """Has one passkey. What its methods take besides the options replaces the truth."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = secrets.token_bytes(32)
        self.handle, self.count = b"", 0

    def create(self, options: dict[str, Any], **lies: Any) -> dict[str, Any]:
        """What `navigator.credentials.create` gives for `options`, as `toJSON` writes it."""
        self.handle = websafe_decode(options["user"]["id"])
        cose = lies.get("cose") or dict(ES256.from_cryptography_key(self.key.public_key()))
        new = bytes(16) + struct.pack(">H", len(self.id)) + self.id + cbor.encode(cose)
        data = self._data(options["rp"]["id"], PRESENT | VERIFIED | ATTESTED, new, lies)
        made = {"fmt": "none", "attStmt": {}, "authData": data} | lies.get("attestation", {})
        return self._credential(
            attestationObject=lies.get("object") or cbor.encode(made),
            clientDataJSON=_client_data("webauthn.create", options["challenge"], lies),
        )

    def get(self, options: dict[str, Any], **lies: Any) -> dict[str, Any]:
        """What `navigator.credentials.get` gives for `options`, as `toJSON` writes it."""
        self.count += 1
        data = lies.get("data") or self._data(options["rpId"], PRESENT | VERIFIED, b"", lies)
        known = _client_data("webauthn.get", options["challenge"], lies)
        signed = self.key.sign(data + sha256(known).digest(), ec.ECDSA(SHA256()))
        return self._credential(
            clientDataJSON=known,
            authenticatorData=data,
            signature=lies.get("signature", signed),
            userHandle=lies.get("handle", self.handle),
        )

    def _data(self, rp_id: str, flags: int, new: bytes, lies: dict[str, Any]) -> bytes:
        head = sha256(lies.get("rp_id", rp_id).encode()).digest()
        flags, count = lies.get("flags", flags), lies.get("count", self.count)
        return head + struct.pack(">BI", flags, count) + new

    def _credential(self, **response: bytes) -> dict[str, Any]:
        own = websafe_encode(self.id)
        texts = {name: websafe_encode(value) for name, value in response.items()}
        return {
            "id": own,
            "rawId": own,
            "type": "public-key",
            # Browsers add more, and will add other names.
            "response": texts | {"transports": ["internal"]},
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
        }


def _client_data(kind: str, challenge: str, lies: dict[str, Any]) -> bytes:
    data = {"type": kind, "challenge": challenge, "origin": ORIGIN, "crossOrigin": False}
    return lies.get("client_data_json", json.dumps(data | lies.get("client_data", {})).encode())
