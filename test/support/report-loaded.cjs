/** Preloaded into a process: at SIGUSR2 it says which telemetry packages it has loaded. */
process.on("SIGUSR2", () => {
  const files = Object.keys(require.cache).filter((file) => /prom-client|@opentelemetry/.test(file));
  console.log(`loaded: ${JSON.stringify(files)}`);
});
