/**
 * Requests that wait for an answer, by a number. One timer serves all of them, and it stops when there are none (RI3).
 *
 * They are in the places of an array. A map would keep answered requests alive for long: V8 reallocates its table every
 * few dozen changes, and an abandoned table references its members until a full garbage collection.
 */
export interface WaitingRequest {
  /** On the monotonic clock. */
  readonly endMs: number;
}

/** A number is the place and, above it, how often the place was used: a late answer must not meet a later request. */
const PLACES = 2 ** 20;
const USES = 2 ** 12;

export class WaitingRequests<Request extends WaitingRequest> {
  readonly #requests: (Request | undefined)[] = [];
  readonly #numbers: number[] = [];
  readonly #free: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The time of the timer: at the latest the earliest deadline of a waiting request. */
  #timerMs = Number.POSITIVE_INFINITY;

  /** @param onOverdue  gets the requests that were not answered in time, which wait no longer */
  constructor(private readonly onOverdue: (overdue: readonly Request[]) => void) {}

  /** True when no number is left; the next answer or deadline frees one. */
  get isFull(): boolean {
    return this.#free.length === 0 && this.#requests.length === PLACES;
  }

  /** @returns its number, below 2^32, which no request had recently */
  add(request: Request): number {
    const place = this.#free.pop() ?? this.#requests.length;
    const number = place === this.#requests.length ? place : this.#nextNumber(place);
    this.#requests[place] = request;
    this.#numbers[place] = number;
    if (request.endMs < this.#timerMs) this.#wakeAt(request.endMs, request.endMs - performance.now());
    return number;
  }

  /** The request; undefined when none waits under this number. */
  get(number: number): Request | undefined {
    const place = number % PLACES;
    return this.#numbers[place] === number ? this.#requests[place] : undefined;
  }

  /** Removes the request. */
  take(number: number): Request | undefined {
    const request = this.get(number);
    if (request !== undefined) this.#remove(number % PLACES);
    return request;
  }

  /** Removes all requests, or those that fit. */
  takeAll(fits?: (request: Request) => boolean): readonly Request[] {
    return this.#requests.flatMap((request, place) => {
      if (request === undefined || fits?.(request) === false) return [];
      this.#remove(place);
      return [request];
    });
  }

  #remove(place: number): void {
    this.#requests[place] = undefined;
    this.#free.push(place);
  }

  #nextNumber(place: number): number {
    const uses = Math.floor((this.#numbers[place] as number) / PLACES);
    return ((uses + 1) % USES) * PLACES + place;
  }

  #wakeAt(atMs: number, inMs: number): void {
    clearTimeout(this.#timer);
    this.#timerMs = atMs;
    this.#timer = setTimeout(() => this.#endOverdue(), Math.max(1, inMs));
  }

  #endOverdue(): void {
    this.#timerMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    const overdue = this.takeAll(({ endMs }) => {
      if (endMs > nowMs) nextMs = Math.min(nextMs, endMs);
      return endMs <= nowMs;
    });
    if (nextMs < Number.POSITIVE_INFINITY) this.#wakeAt(nextMs, Math.ceil(nextMs - nowMs));
    if (overdue.length > 0) this.onOverdue(overdue);
  }
}
