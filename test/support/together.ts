/**
 * Tests that spend their time waiting: all of a suite's bodies start at once when the first of them runs, and each
 * test reports its own.
 */
export type TogetherIt = (title: string, body: () => Promise<void>) => void;

/** For one suite. */
export function startTogether(): TogetherIt {
  const bodies: (() => Promise<void>)[] = [];
  let running: readonly Promise<void>[] | undefined;
  return (title, body) => {
    const index = bodies.push(body) - 1;
    it(title, () => {
      running ??= bodies.map(started);
      return running[index];
    });
  };
}

/** A failure waits for its test. */
function started(body: () => Promise<void>): Promise<void> {
  const running = body();
  running.catch(() => {});
  return running;
}
