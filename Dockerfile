# `regard serve` in a container: docs/deploy.md shows how to build and run it. Models are not part of the image; they are mounted.
FROM python:3.11-slim AS build
WORKDIR /source
# the base install: runs of the fast engine; for others, add the pinned versions of requirements/run.txt
COPY requirements/hashes/base.txt requirements/base.txt
RUN python -m venv /opt/regard \
 && /opt/regard/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/base.txt
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE ./
COPY src src
COPY experiments experiments
RUN /opt/regard/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
# a fixed number, so that files on the host can be made readable for it
RUN useradd --system --uid 10001 --create-home regard
COPY --from=build /opt/regard /opt/regard
ENV PATH=/opt/regard/bin:$PATH \
    PYTHONUNBUFFERED=1
USER regard
WORKDIR /home/regard
EXPOSE 8642
# the model may take a while to load; /health needs no token
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8642/health', timeout=4)"]
STOPSIGNAL SIGTERM
# the token comes from REGARD_TOKEN, or from a file that is named with --token-file
ENTRYPOINT ["regard", "serve", "--host", "0.0.0.0", "--port", "8642"]
