/**
 * The connections that one worker gets, one after the other: a worker that does not run holds up all that follow.
 *
 *  CLI1 a connection that the worker cannot have got goes to another one: when the worker ends, or is slow
 *  CLI2 the supervisor's copy of a socket is closed when the worker has its own, or has ended: a client whose connection
 *       was on its way to that worker learns of its end
 */
import type { Socket } from 'node:net';

export interface GivenConnection {
  /** The shared port that it came to. */
  readonly key: string;
  readonly socket: Socket;
  /** Bytes that were read from it. */
  readonly bytes: Buffer | undefined;
  /** Gives it to another worker. */
  elsewhere(): void;
  /** The supervisor's copy is not needed any more. */
  close(): void;
}

/** Called when it is written, or cannot be. */
type OnSent = (error: Error | null) => void;

/** A worker that has not received a socket for this long gets no others, as long as there are other workers. */
const SLOW_AFTER_MS = 1_000;

export class ConnectionLine {
  /** It does not receive at present. */
  isSlow = false;
  #hasEnded = false;
  #waiting: GivenConnection[] = [];
  #sending: GivenConnection | undefined;
  #slow: NodeJS.Timeout | undefined;
  /** By port: how many connections the worker was given, and how many of those it says have ended. */
  readonly #given = new Map<string, number>();
  #ended: Readonly<Record<string, number>> = {};

  constructor(private readonly send: (given: GivenConnection, onSent: OnSent) => void) {}

  /** Open connections of a port, including those that wait. */
  openOn(key: string): number {
    return (this.#given.get(key) ?? 0) - (this.#ended[key] ?? 0);
  }

  /** @param totals by port, since its start */
  haveEnded(totals: Readonly<Record<string, number>>): void {
    this.#ended = totals;
  }

  give(given: GivenConnection): void {
    this.#count(given, 1);
    this.#waiting.push(given);
    this.#sendNext();
  }

  /** The worker has got the connection that was sent last. */
  received(): void {
    this.#sending?.close();
    this.#goOn();
  }

  /** The worker has left the port: those that wait for it go to other workers. */
  leave(port: string): void {
    const left = this.#waiting.filter(({ key }) => key === port);
    this.#waiting = this.#waiting.filter(({ key }) => key !== port);
    this.#giveBack(left);
  }

  /** The worker has ended. */
  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#slow);
    // The worker may have begun to answer it.
    this.#sending?.close();
    this.#sending = undefined;
    this.#giveBack(this.#waiting.splice(0));
  }

  #goOn(): void {
    clearTimeout(this.#slow);
    this.isSlow = false;
    this.#sending = undefined;
    this.#sendNext();
  }

  #sendNext(): void {
    if (this.#sending !== undefined || this.#hasEnded) return;
    const given = this.#waiting.shift();
    if (given === undefined) return;
    this.#sending = given;
    this.#slow = setTimeout(() => this.#beSlow(), SLOW_AFTER_MS);
    this.send(given, (error) => {
      if (error === null || this.#sending !== given) return;
      this.#giveBack([given]);
      this.#goOn();
      // A worker without a channel is about to end.
      this.isSlow = true;
    });
  }

  #beSlow(): void {
    this.isSlow = true;
    this.#giveBack(this.#waiting.splice(0));
  }

  #giveBack(all: readonly GivenConnection[]): void {
    for (const given of all) {
      this.#count(given, -1);
      given.elsewhere();
    }
  }

  #count({ key }: GivenConnection, change: 1 | -1): void {
    this.#given.set(key, (this.#given.get(key) ?? 0) + change);
  }
}
