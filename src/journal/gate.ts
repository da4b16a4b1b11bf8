/** What a reader waits at until there is room for more. One waits; whoever makes room, or ends it, says so. */
export class Gate {
  #look = (): void => {};

  async until(isOpen: () => boolean): Promise<void> {
    while (!isOpen()) {
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  /** Something has changed: whoever waits looks again. */
  look(): void {
    this.#look();
  }
}
