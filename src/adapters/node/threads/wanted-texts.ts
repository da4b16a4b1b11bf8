/** How many texts the other side has asked for and not been sent. */
export class WantedTexts {
  #count = 0;
  #wake: (() => void) | undefined;

  add(count: number): void {
    this.#count += count;
    this.#wake?.();
  }

  /** Resolves when one may be sent, and counts it. */
  async take(): Promise<void> {
    while (this.#count === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#count -= 1;
  }
}
