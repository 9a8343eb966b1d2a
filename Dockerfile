# Dependencies are installed aside, so that what pip leaves behind is not in the image.
FROM python:3.13-slim AS dependencies
RUN python -m venv /venv
COPY requirements.txt /
RUN /venv/bin/pip install --no-cache-dir --only-binary :all: --require-hashes -r /requirements.txt

FROM python:3.13-slim
ENV PATH=/venv/bin:$PATH \
    PORT=8000 \
    PYTHONUNBUFFERED=1
COPY --from=dependencies /venv /venv
WORKDIR /app
COPY . .
# The service cannot write here, so the byte code is made now. Static files need no such step:
# they are served from the installed packages.
RUN python -m compileall -q . && useradd --system --no-create-home --uid 10001 app
USER app
EXPOSE 8000

# The service answers only to its own names, so the probe has to use one of them.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
    CMD python -c "import os, urllib.request as http; \
host = os.environ.get('ALLOWED_HOSTS', 'localhost').split(',')[0].strip().lstrip('*.'); \
url = 'http://127.0.0.1:' + os.environ['PORT'] + '/api/health'; \
http.urlopen(http.Request(url, headers={'Host': host or 'localhost'}), timeout=4)"

CMD ["python", "-m", "tripcompanion"]
