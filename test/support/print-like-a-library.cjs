/** Preloaded into a process: on SIGUSR2 it prints, as a library of the program might. */
process.on("SIGUSR2", () => {
  console.log("hello from a library");
  console.info("hello again");
});
