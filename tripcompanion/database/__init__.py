"""How the service uses its database: connections, snapshots, migrations."""
