/** A step, again and again with a rest between, until it is to end. */
export async function repeat(step: () => Promise<void>, paceMs: number, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await step();
    await new Promise((done) => setTimeout(done, paceMs));
  }
}
