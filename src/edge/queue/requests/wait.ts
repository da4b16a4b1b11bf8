/** `POST /v2/wait/<event>`: a step of a run waits for an event. */
import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES, parseDurationSeconds } from '../../../domain/queue/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';
import { filled } from '../../http/request-class.js';

const DEFAULT_TIMEOUT = '7d';

export class WaitRequest {
  /** The URL that gets the step's result. */
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly url!: string;

  @IsString()
  readonly timeout!: string;

  /** The URL that gets it after the timeout; undefined: the same. */
  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly timeoutUrl: string | undefined;

  @IsOptional()
  @IsString()
  readonly timeoutBody: string | undefined;

  /** Each name has a text or a list of texts; undefined: the request's headers. */
  @IsOptional()
  @IsObject()
  readonly timeoutHeaders: object | undefined;

  @IsObject()
  readonly step!: object;

  /** @throws Refused 400 */
  static from(body: unknown): WaitRequest {
    const members = membersOf(body);
    const timeout = members.get('timeout') ?? DEFAULT_TIMEOUT;
    // A number means seconds, as everywhere.
    members.set('timeout', typeof timeout === 'number' ? `${timeout}s` : timeout);
    // An empty URL counts as missing.
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
