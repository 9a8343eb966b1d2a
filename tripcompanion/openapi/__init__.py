"""The OpenAPI document, generated from views and serializers."""
