/** `POST /v2/wait/<event>`: a step of a run waits for an event. */
import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES, parseDurationSeconds } from '../../../domain/queue/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';
import { filled } from '../../http/request-class.js';

const DEFAULT_TIMEOUT = '7d';

export class WaitRequest {
  /** Where the step's result is delivered. */
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly url!: string;

  @IsString()
  readonly timeout!: string;

  /** Where it is delivered when the time is over; undefined: there, too. */
  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly timeoutUrl: string | undefined;

  @IsOptional()
  @IsString()
  readonly timeoutBody: string | undefined;

  /** Name → a text or a list of texts; undefined: those of the request. */
  @IsOptional()
  @IsObject()
  readonly timeoutHeaders: object | undefined;

  @IsObject()
  readonly step!: object;

  /** @throws Refused 400 */
  static from(body: unknown): WaitRequest {
    const members = membersOf(body);
    const timeout = members.get('timeout') ?? DEFAULT_TIMEOUT;
    // A number is of seconds, as everywhere.
    members.set('timeout', typeof timeout === 'number' ? `${timeout}s` : timeout);
    // An empty URL was not given.
    members.set('timeoutUrl', members.get('timeoutUrl') || undefined);
    return checked(filled(WaitRequest, (name) => members.get(name)));
  }

  /** @throws Refused 400 */
  get timeoutSeconds(): number {
    const seconds = parseDurationSeconds(this.timeout);
    if (seconds === undefined) throw invalid('timeout must be a duration, such as 50s or 1d10h30m');
    return seconds;
  }
}
