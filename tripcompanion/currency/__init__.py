"""ISO 4217 currencies, amounts, and their serializer fields."""
