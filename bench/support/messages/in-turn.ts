/** Measures several subjects under the same conditions. */

/**
 * The results of each subject, one a round. The subjects run in turn, and in each second round in reverse
 * order, so that other load on the machine affects all alike.
 */
export async function inTurn<Subject, Result>(
  subjects: readonly Subject[],
  rounds: number,
  measure: (subject: Subject) => Promise<Result>,
): Promise<Result[][]> {
  const results = new Map(subjects.map((subject): [Subject, Result[]] => [subject, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      results.get(subject)?.push(await measure(subject));
    }
  }
  return [...results.values()];
}
