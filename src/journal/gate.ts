/** Lets one reader wait until there is room for more. The code that makes room, or ends the reading, calls `look`. */
export class Gate {
  #look = (): void => {};

  async until(isOpen: () => boolean): Promise<void> {
    while (!isOpen()) {
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  /** Lets the waiting reader check its condition again. */
  look(): void {
    this.#look();
  }
}
