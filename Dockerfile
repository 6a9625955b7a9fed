# One image for every role; the command chooses: submit, worker, status, doctor …
# Written for Docker and reviewed, but not built in this repository's checks: they run without a Docker daemon.
FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --chown=node:node . .
# The first start gathers the program, which the user below could not write.
RUN npm ci --omit=dev && node apps/cli/bin/hallumaze.js --version && mkdir -p /data && chown node:node /data
ENV HALLUMAZE_HOME=/data
USER node
# No shell in between, so that SIGTERM reaches the program and a worker drains.
ENTRYPOINT ["node", "apps/cli/bin/hallumaze.js"]
CMD ["--help"]
