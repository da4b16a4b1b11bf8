/** Requests that failed because of the server: their log events and the answers to their clients. */
import { describeError, isMillraceError } from '../../kernel/index.js';
import type { Clock, Log } from '../../ports/index.js';
import { isPassing, type Refusal } from '../error-map.js';
import { RefusedRequest } from './refused.js';

export class Incidents {
  #count = 0;

  /**
   * @param endpoint the first word of its log events: `kv`
   * @param mark distinguishes the incident ids of endpoints
   */
  constructor(
    private readonly endpoint: string,
    private readonly ports: { readonly clock: Clock; readonly log: Log },
    private readonly mark = '',
  ) {}

  /**
   * Converts any thrown value into the refusal for the client, and logs it.
   * @param wording of the endpoint
   */
  refused(failure: unknown, wording: (failure: unknown) => Refusal): RefusedRequest {
    if (failure instanceof RefusedRequest) return failure;
    return new RefusedRequest(this.told(wording(failure), failure), {}, undefined, isPassing(failure));
  }

  /** A defect gets an id that a client can quote and an operator can search for. @returns the refusal for the client */
  told(refusal: Refusal, failure: unknown): Refusal {
    const { log } = this.ports;
    if (refusal.status < 500) return refusal;
    if (isMillraceError(failure) && refusal.status === 503) {
      log.warn(`${this.endpoint}.request.refused`, { code: failure.code, reason: failure.message });
      return refusal;
    }
    const incident = this.#nextId();
    const stack = failure instanceof Error ? failure.stack : undefined;
    log.error(`${this.endpoint}.request.failed`, { incident, error: describeError(failure), stack });
    return { ...refusal, text: `${refusal.text}, incident=${incident}` };
  }

  #nextId(): string {
    this.#count += 1;
    return `${Math.trunc(this.ports.clock.nowMs()).toString(36)}-${this.mark}${this.#count}`;
  }
}
