"""Settings of the pages: they take the place of DRF's own."""

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": [
        "tripcompanion.api.rendering.ExactJSONRenderer",
        "plugins.pages.browsable.NamingRenderer",
    ]
}
