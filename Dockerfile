# syntax=docker/dockerfile:1
FROM python:3.13-slim AS build
WORKDIR /build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/adhere
COPY requirements.lock ./
RUN /opt/adhere/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY adhere adhere
COPY collector collector
COPY evaluators evaluators
COPY exporters exporters
RUN python -m pip wheel --no-deps --wheel-dir dist . \
 && /opt/adhere/bin/pip install --no-deps dist/*.whl

FROM python:3.13-slim
# The root file system may be mounted read-only: everything that is written goes to the volume.
ENV PATH=/opt/adhere/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1 XDG_STATE_HOME=/var/lib
RUN useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin adhere \
 && install -d -o 10001 -g 10001 -m 0700 /var/lib/adhere
COPY --from=build /opt/adhere /opt/adhere
USER 10001:10001
VOLUME /var/lib/adhere
EXPOSE 4317 4318 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9464/healthz', timeout=2)"]
ENTRYPOINT ["adhere"]
CMD ["run"]
