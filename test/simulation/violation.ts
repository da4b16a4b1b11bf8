/** The error of a broken promise, with its name and the evidence. */
export class Violation extends Error {
  constructor(
    readonly promise: string,
    message: string,
  ) {
    super(`${promise}: ${message}`);
    this.name = 'Violation';
  }
}
