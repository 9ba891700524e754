/** Prints at the end of a run what ran on which engine, how long it took, and the slowest ten tests. */
import type { Reporter, TestCase, TestModule } from "vitest/node";

const slowestCount = 10;

export class SummaryReporter implements Reporter {
  readonly #startedAt = performance.now();

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = [
      "Slowest tests:",
      ...listSlowest(modules),
      "",
      ...listEngines(modules),
      `${formatMinutes(performance.now() - this.#startedAt)} in all.`,
      "",
    ];
    process.stdout.write(`\n${lines.join("\n")}\n`);
  }
}

function listSlowest(modules: readonly TestModule[]): string[] {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  return tests
    .map((test) => ({ test, ms: test.diagnostic()?.duration ?? 0 }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, slowestCount)
    .map(({ test, ms }) => `  ${formatSeconds(ms)}  ${describeTest(test)}`);
}

const describeTest = ({ project, module, fullName }: TestCase) =>
  `${project.name}  ${module.relativeModuleId}  ${fullName}`;

/** A line for each engine: its tests by result, and how long its workers were busy. */
function listEngines(modules: readonly TestModule[]): string[] {
  const engines = new Set(modules.map(({ project }) => project.name));
  return [...engines].map((engine) => {
    const ofEngine = modules.filter(({ project }) => project.name === engine);
    const count = (state: "passed" | "failed" | "skipped") =>
      ofEngine.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
    const busyMs = ofEngine.reduce((sum, module) => sum + busyTime(module), 0);
    return [
      `${engine}: ${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`,
      `in ${ofEngine.length} files, ${Math.round(busyMs / 1000)} worker-seconds.`,
    ].join(" ");
  });
}

/** The milliseconds in which a worker loaded the file and ran its hooks and tests. */
function busyTime(module: TestModule): number {
  const { collectDuration, setupDuration, prepareDuration, duration } = module.diagnostic();
  return collectDuration + setupDuration + prepareDuration + duration;
}

const formatSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`.padStart(7);

function formatMinutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
