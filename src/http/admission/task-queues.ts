/** Runs the tasks of each key one after the other. */

export function createTaskQueues() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, task: () => Promise<Result>): Promise<Result> => {
    const before = last.get(key) ?? Promise.resolve();
    const running = before.then(task);
    const ended = running.catch(() => undefined);
    last.set(key, ended);
    try {
      return await running;
    } finally {
      if (last.get(key) === ended) {
        last.delete(key);
      }
    }
  };
}
