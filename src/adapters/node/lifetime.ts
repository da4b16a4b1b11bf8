/** What ends the parts of a process, the last one first. */
export class Lifetime {
  readonly #ends: (() => unknown)[] = [];
  isEnding = false;

  /** What `start` begins; when that fails, whatever it had begun is ended again. */
  static async begin<T>(start: (life: Lifetime) => Promise<T>): Promise<T> {
    const life = new Lifetime();
    try {
      return await start(life);
    } catch (error) {
      await life.end();
      throw error;
    }
  }

  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Starts a part, which is stopped at the end. */
  async run(part: { start(): unknown; stop(): unknown }): Promise<void> {
    await part.start();
    this.atEnd(() => part.stop());
  }

  async end(): Promise<void> {
    this.isEnding = true;
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}
