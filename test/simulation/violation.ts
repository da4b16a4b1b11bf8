/** A promise that was broken: which one, and how it shows. */
export class Violation extends Error {
  constructor(
    readonly promise: string,
    message: string,
  ) {
    super(`${promise}: ${message}`);
    this.name = 'Violation';
  }
}
