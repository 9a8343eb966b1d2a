"""Every guard of the service, taken away in turn: `make mutate` asks which test notices."""
