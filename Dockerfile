# To build on an exact image: --build-arg PYTHON_IMAGE=python@sha256:...
ARG PYTHON_IMAGE=python:3.13-slim

# Install dependencies in a separate stage, so that pip's leftovers are not in the image.
FROM ${PYTHON_IMAGE} AS dependencies
RUN python -m venv /venv
# With the packages of all extras (HEIC, S3, OAuth, traces): --build-arg REQUIREMENTS=requirements-extras.txt
ARG REQUIREMENTS=requirements.txt
COPY requirements.txt requirements-extras.txt /
RUN /venv/bin/pip install --no-cache-dir --only-binary :all: --require-hashes -r /${REQUIREMENTS}

FROM ${PYTHON_IMAGE} AS service
# In /data are SQLite and files, unless the settings name other places, and what `tripcompanion run` keeps.
ENV PATH=/venv/bin:$PATH \
    PORT=8000 \
    DATA_DIR=/data \
    XDG_STATE_HOME=/data \
    RUN_HOST=0.0.0.0 \
    PYTHONUNBUFFERED=1
COPY --from=dependencies /venv /venv
WORKDIR /app
COPY . .
# The service cannot write here, so compile the byte code now. Static files need no such step: they
# are served from the installed packages.
RUN python -m compileall -q . && groupadd --system --gid 10001 app \
    && useradd --system --no-create-home --uid 10001 --gid 10001 app \
    && install --directory --owner=app --group=app --mode=700 /attachments \
    # Whoever makes backups sees whether there is an .env, and no more.
    && install --directory --owner=app --group=app --mode=711 /data \
    && printf '#!/bin/sh\ncd /app && exec python -m tripcompanion "$@"\n' > /usr/local/bin/tripcompanion \
    && chmod 755 /usr/local/bin/tripcompanion
# A number, so that an orchestrator can see that it is not root.
USER 10001:10001
EXPOSE 8000

CMD ["python", "-m", "tripcompanion"]

# With pg_dump, for backups. It must not be older than the server: PostgreSQL 17 here.
FROM service AS backup
USER root
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/*
USER 10001:10001

# The image of the service, if no target is named.
FROM service
