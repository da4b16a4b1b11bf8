/** Requests at a fixed rate; a late answer does not delay the next request. */

export interface Timed {
  readonly sentAtMs: number;
  readonly tookMs: number;
}

export interface Pace {
  readonly perSecond: number;
  readonly durationMs: number;
}

/** @returns the time of each request, in the order in which they were sent. @throws when one of them fails */
export async function paced(
  { perSecond, durationMs }: Pace,
  ask: (number: number) => Promise<unknown>,
): Promise<Timed[]> {
  const open: Promise<Timed>[] = [];
  const beganMs = performance.now();
  const count = Math.floor((perSecond * durationMs) / 1000);
  const timed = async (number: number): Promise<Timed> => {
    const sentAtMs = performance.now();
    await ask(number);
    return { sentAtMs, tookMs: performance.now() - sentAtMs };
  };
  while (open.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - beganMs) * perSecond) / 1000));
    while (open.length < due) open.push(timed(open.length));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return Promise.all(open);
}
