/**
 * Runs waiting tests of a suite concurrently: all bodies start when the first test runs, and each test reports its
 * own result.
 */
export type TogetherIt = (title: string, body: () => Promise<void>) => void;

/** The `it` of one suite. */
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

/** Keeps a failure until its test reports it. */
function started(body: () => Promise<void>): Promise<void> {
  const running = body();
  running.catch(() => {});
  return running;
}
