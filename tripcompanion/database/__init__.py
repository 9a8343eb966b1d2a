"""How the service uses its database: connections, snapshots, a replica, migrations."""
