/** Preloaded into a process: on SIGUSR2 it prints the telemetry packages that are loaded. */
process.on("SIGUSR2", () => {
  const files = Object.keys(require.cache).filter((file) => /prom-client|@opentelemetry/.test(file));
  console.log(`loaded: ${JSON.stringify(files)}`);
});
