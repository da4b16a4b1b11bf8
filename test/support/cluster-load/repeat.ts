/** Repeats a step, with a pause after each, until `isDone` returns true. */
export async function repeat(step: () => Promise<void>, paceMs: number, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await step();
    await new Promise((done) => setTimeout(done, paceMs));
  }
}
