# syntax=docker/dockerfile:1
# Two stages: the first installs the locked packages, the second carries them without pip, uv or caches.
ARG PYTHON=3.13.14-slim
# "@sha256:…" pins it (docs/operations.md, "Docker Compose")
ARG PYTHON_DIGEST=

FROM python:${PYTHON}${PYTHON_DIGEST} AS packages
ENV UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY requirements-uv.lock requirements-s3.lock ./
RUN python -m venv /uv \
    && /uv/bin/pip install --quiet --require-hashes --only-binary :all: -r requirements-uv.lock \
    && /uv/bin/uv venv /venv \
    && VIRTUAL_ENV=/venv /uv/bin/uv pip sync --no-cache --require-hashes requirements-s3.lock

FROM python:${PYTHON}${PYTHON_DIGEST}
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings.base \
    TRISTEP_DATA_DIR=/data \
    TRISTEP_STATIC_DIR=/static \
    PORT=8000
RUN groupadd --system --gid 10001 tristep \
    && useradd --system --uid 10001 --gid tristep --home-dir /data --no-create-home --shell /usr/sbin/nologin tristep \
    && install -d -o tristep -g tristep -m 0700 /data \
    && install -d -o tristep -g tristep /static
WORKDIR /app
COPY --from=packages /venv /venv
COPY . .
USER 10001:10001
# Collected with a key of the moment, in a folder of the moment: the image holds no secret and no data.
RUN TRISTEP_DATA_DIR=/tmp/build TRISTEP_SECRET_KEY=only-while-the-image-is-built \
    python manage.py collectstatic --noinput --verbosity 0 && rm -rf /tmp/build
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=6s --start-period=40s --retries=4 CMD ["python", "-m", "config.probe"]
STOPSIGNAL SIGTERM
CMD ["sh", "-c", "exec gunicorn --config python:config.gunicorn --bind 0.0.0.0:${PORT}"]
