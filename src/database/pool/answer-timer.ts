/** The time limit of this process for the answers of a connection to its statements. */
import { answerMarginMs, NoAnswerError, timeLimits } from "../outage/index.ts";

/**
 * How late a timer may fire. If it fires later, the process was frozen or without processor time, and answers
 * that arrived meanwhile have not been read yet.
 */
const maxLatenessMs = 1_000;

/**
 * Fails all waiting statements if none of them was answered within the limit of the last one. The limit
 * counts only while the process runs: after it was frozen, the limit begins again.
 */
export function createAnswerTimer(onTimeout: (error: NoAnswerError) => void) {
  const waiting = new Set<(error: NoAnswerError) => void>();
  let timer: NodeJS.Timeout | undefined;
  const fail = () => {
    const error = new NoAnswerError("The database did not answer in time.");
    onTimeout(error);
    for (const reject of waiting) {
      reject(error);
    }
  };
  const start = (ms: number) => {
    const dueAt = performance.now() + ms;
    timer = setTimeout(() => {
      const isLate = performance.now() > dueAt + maxLatenessMs;
      if (isLate) {
        start(ms);
      } else {
        fail();
      }
    }, ms);
  };
  return {
    restart() {
      clearTimeout(timer);
      const { statementMs } = timeLimits();
      if (statementMs > 0) {
        start(statementMs + answerMarginMs);
      }
    },
    stop: () => clearTimeout(timer),
    within: <Result>(answer: Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        waiting.add(reject);
        answer.then(resolve, reject).finally(() => waiting.delete(reject));
      }),
  };
}
