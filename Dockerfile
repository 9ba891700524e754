# The service in a container: docker build -t tidings . && docker run -p 127.0.0.1:3000:3000 -v tidings:/data tidings
# /mcp answers to loopback names alone: give the others as -e TIDINGS_ALLOWED_HOSTS=tidings.example.com

FROM node:22-slim AS build
WORKDIR /app
COPY . .
# Its prepare script builds dist/, with the development packages that go afterwards.
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:22-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 TIDINGS_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# A volume takes its owner from the folder that it covers.
RUN mkdir /data && chown node:node /data && chmod 700 /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/tidings.js", "serve"]
